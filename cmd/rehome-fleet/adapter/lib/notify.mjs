// Hints that a run has new events. A driver passes on what it hears; a hint may be lost, and who
// waits for one reads the events in any case.

// hub hands hints to the subscriptions of their run. Each keeps the newest hint only.
export function hub(started = async () => {}, stopped = () => {}) {
  const waiting = new Map(); // by run: the subscriptions
  return {
    busy: () => waiting.size > 0,
    hear(hint) {
      for (const one of waiting.get(hint.runId) ?? []) one(hint);
    },
    subscribe({ runId, signal }) {
      let wake, latest, ended = false;
      const next = (hint) => {
        latest = hint;
        wake?.();
      };
      const end = () => {
        if (ended) return;
        ended = true;
        signal?.removeEventListener("abort", end);
        const own = waiting.get(runId);
        own?.delete(next);
        if (own?.size === 0) waiting.delete(runId);
        if (waiting.size === 0) stopped();
        wake?.();
      };
      if (!waiting.has(runId)) waiting.set(runId, new Set());
      waiting.get(runId).add(next);
      signal?.addEventListener("abort", end);
      // The waiting side polls as well: that nothing can be heard is no error.
      const ready = signal?.aborted ? Promise.resolve(end()) : started().then(() => {}, () => {});
      const iterator = {
        async next() {
          while (latest === undefined && !ended) await new Promise((resolve) => { wake = resolve; });
          const value = latest;
          latest = undefined;
          return value === undefined || ended ? { value: undefined, done: true } : { value, done: false };
        },
        async return() {
          end();
          return { value: undefined, done: true };
        },
      };
      return { ready, [Symbol.asyncIterator]: () => iterator };
    },
  };
}

export function localNotifier() {
  const { hear, subscribe } = hub();
  return { publishRunEventAppended: async ({ runId, offset }) => hear({ runId, offset }), subscribeRunEvents: subscribe };
}

// Text that is kept up to date while the real clients write. When they are done, it
// must be what a conversion of everything makes.
import fs from "node:fs";
import path from "node:path";
import { clients } from "./claude.mjs";
import { bytes, check, claude, client, fresh, folder, rehome, same, watch } from "./tools.mjs";

const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

// until waits for something, a minute at most.
function until(what, holds) {
  for (const end = performance.now() + 60_000; performance.now() < end; pause(50)) if (holds()) return;
  throw new Error(`after a minute ${what}`);
}

// watched runs some work of a client, one step after the other, next to rehome. Each
// step must reach the text before the next one begins.
async function watched(name, source, to, steps) {
  const target = fresh("watched"), running = watch(source, target, to);
  let found;
  try {
    for (const [n, step] of steps.entries()) {
      step();
      const full = fresh("full");
      rehome([source, full, "--to", to]);
      const want = bytes(full);
      const now = () => (fs.existsSync(target) ? bytes(target) : {});
      until(`the text lacks what step ${n + 1} wrote: ${running.said()}`, () => JSON.stringify(now()) === JSON.stringify(want));
    }
    found = await running.stop();
  } catch (error) {
    found = { error };
    await running.stop();
  }
  check(name, () => {
    if (found.error) throw found.error;
    const { status, events } = found;
    same(status, 0, "exit status after SIGTERM");
    const count = (kind) => events.filter(({ event }) => event === kind).length;
    // The source was not there at first, and a store in the making may not be one yet.
    const trouble = events.filter(({ event }, i) => event === "problem" && i > 0 && i > events.findLastIndex(({ event }) => event === "ready"));
    same(trouble, [], "problems");
    same(count("ready"), 1, "number of first updates");
    const turns = events.filter(({ event }) => event === "session");
    if (!turns.some(({ new_turns }) => new_turns > 0)) throw new Error(`no line about a new turn: ${JSON.stringify(events)}`);
    return `${steps.length} processes of the client, ${turns.length} changes of sessions reported, the text equals that of a full conversion after each`;
  });
}

export async function watching() {
  for (const kind of ["sqlite", "ndjson"]) {
    const home = folder("home"), cwd = folder("work"), at = kind === "ndjson" ? fresh("store") : undefined;
    const job = { version: "1.0.32", kind, at, cwd };
    await watched(`SDK 1.0.32, ${kind}, watched`, at ?? path.join(home, ".cursor", "projects"), "cursor-ndjson", [
      () => client({ ...job, do: "talk", prompts: [["Fix the login", "And the logout"], ["Write a test"]] }, home),
      () => client({ ...job, do: "resume", prompt: "And now" }, home),
      () => client({ ...job, do: "resume", prompt: "Once more" }, home),
    ]);
  }
  for (const version of clients) {
    const home = folder("home"), cwd = folder("work");
    const ids = [], talk = (...turns) => () => ids.push(...claude({ do: "talk", version, home, cwd, turns: turns.map(({ prompt, resume }) => ({ prompt, resume: resume === undefined ? undefined : ids[resume] })) }).map(({ session }) => session));
    await watched(`Claude Code ${version}, watched`, path.join(home, ".claude", "projects"), "canonical", [
      talk({ prompt: "play: tools" }, { prompt: "Fix the login" }),
      talk({ prompt: "And the logout", resume: 1 }),
      talk({ prompt: "And on", resume: 1 }),
    ]);
  }
}

// A driver that keeps everything in the memory of this process, for tests. Stores of one state see
// the same agents, and each of them is a process of its own as far as leases go.
import { createStore } from "./core.mjs";
import { localNotifier } from "./notify.mjs";

export const memoryState = () => ({ agents: new Map(), runs: new Map(), events: new Map(), blobs: new Map(), leases: new Map(), notifier: localNotifier() });
export const memoryAgentStore = (options) => createStore(memoryDriver(memoryState()), options);

const by = (...keys) => (a, b) => {
  for (const key of keys) if (key(a) !== key(b)) return key(a) < key(b) ? -1 : 1;
  return 0;
};
const any = (ids, id) => ids === null || ids.includes(id);

export function memoryDriver(state) {
  const { agents, runs, events, blobs, leases } = state;
  const foreign = (agentId, owner) => leases.has(agentId) && leases.get(agentId).owner !== owner && leases.get(agentId).until >= Date.now();
  // guarded says whether a process may write to an agent: with a fence it must still be the newest.
  const guarded = (agentId, { owner, fence }) => (fence === null ? !foreign(agentId, owner) : leases.get(agentId)?.owner === owner && leases.get(agentId).fence === fence);
  function acquire(agentId, { owner, fence, ms, active }) {
    const old = leases.get(agentId);
    if (!guarded(agentId, { owner, fence })) return null;
    const mine = old?.owner === owner, until = active ? Date.now() + ms : mine ? old.until : Date.now() - 1;
    leases.set(agentId, { owner, fence: mine ? old.fence : (old?.fence ?? 0) + 1, until });
    return leases.get(agentId).fence;
  }
  const dropEvents = (runId) => events.delete(runId);
  const blobsOf = ({ agentIds, blobIds }) => [...blobs].flatMap(([agentId, own]) => (any(agentIds, agentId) ? [...own].filter(([id]) => any(blobIds, id)).map(([blobId, data]) => ({ agentId, blobId, size: data.length })) : []));

  const driver = {
    notifier: state.notifier,
    async agent(agentId) {
      return agents.get(agentId) ?? null;
    },
    async createAgent(row) {
      if (agents.has(row.agentId)) return { text: agents.get(row.agentId).text };
      agents.set(row.agentId, { ...row, rev: 1 });
      return { text: null };
    },
    async updateAgent(row, { rev, guarded: strict, release, owner, fence }) {
      const { agentId } = row, old = agents.get(agentId);
      if (!old) return { missing: true };
      if ((strict || fence !== null) && !guarded(agentId, { owner, fence })) return { fenced: true };
      if (rev !== null && old.rev !== rev) return { conflict: true, rev: old.rev, text: old.text };
      agents.set(agentId, { ...row, rev: old.rev + 1 });
      if (release && leases.get(agentId)?.owner === owner) leases.get(agentId).until = Date.now() - 1;
      return { rev: old.rev + 1 };
    },
    async deleteAgents({ ids, cwd }, owner) {
      const deleted = [...agents.values()].filter((one) => any(ids, one.agentId) && (cwd === null || one.cwd === cwd)).map(({ agentId }) => agentId);
      const leased = deleted.find((agentId) => foreign(agentId, owner));
      if (leased !== undefined) return { leased };
      for (const agentId of deleted) {
        await driver.deleteRuns({ agentIds: [agentId], runIds: null }, owner);
        for (const map of [agents, blobs, leases]) map.delete(agentId);
      }
      return { deleted };
    },
    async agents({ cwd, after, limit }) {
      const all = [...agents.values()].filter((one) => cwd === null || one.cwd === cwd).sort(by((a) => a.updatedAt, (a) => a.agentId)).reverse();
      return all.filter((one) => !after || one.updatedAt < after.updatedAt || (one.updatedAt === after.updatedAt && one.agentId < after.agentId)).slice(0, limit);
    },

    async run(agentId, runId) {
      const found = runs.get(runId);
      return found?.agentId === agentId ? found.text : null;
    },
    async createRun(row, lease) {
      const { agentId, runId, turnNumber } = row, taken = runs.get(runId);
      if (!agents.has(agentId)) return { reason: "agent" };
      if (taken) return { reason: "run", text: taken.text };
      if ([...runs.values()].some((one) => one.agentId === agentId && one.turnNumber === turnNumber)) return { reason: "turn" };
      const fence = lease && acquire(agentId, { ...lease, active: true });
      if (lease && fence === null) return { reason: "leased" };
      runs.set(runId, row);
      return { fence };
    },
    async updateRun(row, lease) {
      if (runs.get(row.runId)?.agentId !== row.agentId) return { missing: true };
      const fence = acquire(row.agentId, lease);
      if (fence === null) return { leased: true };
      runs.set(row.runId, row);
      return { fence };
    },
    async deleteRuns({ agentIds, runIds }, owner) {
      const found = [...runs.values()].filter((one) => any(agentIds, one.agentId) && any(runIds, one.runId));
      const leased = found.find(({ agentId }) => foreign(agentId, owner));
      if (leased) return { leased: leased.agentId };
      for (const { runId } of found) {
        runs.delete(runId);
        dropEvents(runId);
      }
      return {};
    },
    async runs({ agentIds, runIds, after, limit }) {
      const all = [...runs.values()].filter((one) => any(agentIds, one.agentId) && any(runIds, one.runId)).sort(by((a) => a.turnNumber, (a) => a.runId));
      return all.filter((one) => !after || one.turnNumber > after.turnNumber || (one.turnNumber === after.turnNumber && one.runId > after.runId)).slice(0, limit);
    },

    async append({ runId, key, head, tail }, lease) {
      const own = events.get(runId) ?? [], agentId = runs.get(runId)?.agentId ?? lease.agentId, old = own.find((one) => one.key === key);
      if (agentId !== null && !guarded(agentId, lease)) return { fenced: true };
      if (agentId !== null && lease.renew) leases.get(agentId).until = Date.now() + lease.ms;
      if (old) return { text: old.text, made: false };
      const seq = (own.at(-1)?.seq ?? 0) + 1, text = `${head}"seq":${seq},"offset":"${seq}"${tail}`;
      events.set(runId, [...own, { seq, key, text }]);
      return { text, made: true };
    },
    async events(runId, after, limit) {
      return (events.get(runId) ?? []).filter(({ seq }) => seq > after).slice(0, limit).map(({ text }) => text);
    },
    async deleteEvents(runIds, owner) {
      const leased = [...runs.values()].find((one) => any(runIds, one.runId) && foreign(one.agentId, owner));
      if (leased) return { leased: leased.agentId };
      for (const runId of runIds ?? [...events.keys()]) dropEvents(runId);
      return {};
    },

    async blobs(agentId, ids) {
      const own = blobs.get(agentId);
      return new Map(ids.filter((id) => own?.has(id)).map((id) => [id, own.get(id)]));
    },
    async putBlob(agentId, blobId, bytes, lease) {
      if (!guarded(agentId, lease)) return { fenced: true };
      const own = blobs.get(agentId) ?? new Map(), old = own.get(blobId);
      if (old) return { same: old.equals(bytes) };
      blobs.set(agentId, own.set(blobId, Buffer.from(bytes)));
      return { same: true };
    },
    async blobIds({ agentIds, blobIds, after, limit }) {
      const all = new Map(blobsOf({ agentIds, blobIds }).map((one) => [one.blobId, one]));
      return [...all.values()].filter(({ blobId }) => after === null || blobId > after).sort(by((a) => a.blobId)).slice(0, limit);
    },
    async deleteBlobs(filter, owner) {
      const found = blobsOf(filter), leased = found.find(({ agentId }) => foreign(agentId, owner));
      if (leased) return { leased: leased.agentId };
      for (const { agentId, blobId } of found) blobs.get(agentId).delete(blobId);
      return {};
    },

    async leases(ended) {
      const going = new Set([...runs.values()].filter(({ status }) => !ended.includes(status)).map(({ agentId }) => agentId));
      return [...leases].map(([agentId, one]) => ({ agentId, ...one, expired: one.until < Date.now() })).filter(({ agentId, expired }) => !expired || going.has(agentId));
    },
    async renew(list, { owner, ms }) {
      const kept = list.filter(([agentId, fence]) => guarded(agentId, { owner, fence }));
      for (const [agentId] of kept) leases.get(agentId).until = Date.now() + ms;
      return new Set(kept.map(([agentId]) => agentId));
    },
    async release(list, owner) {
      for (const [agentId, fence] of list) if (guarded(agentId, { owner, fence })) leases.get(agentId).until = Date.now() - 1;
    },
    async close() {},
  };
  return driver;
}

// The rules of the store, the same for every driver: documents, order, cursors, leases, cached blobs.
// A driver runs one statement or transaction for each of its methods, and decides nothing else.
import { createHash, randomUUID } from "node:crypto";
import os from "node:os";
import { BlobCache } from "./blobs.mjs";
import { agentCursor, limited, readAgentCursor, readRunCursor, runCursor, wanted } from "./cursors.mjs";

const ended = new Set(["finished", "error", "cancelled", "expired"]);
const busy = (agentId) => new Error(`Agent ${agentId} already has active run`);
const gone = (runId) => new Error(`run ${runId}: events that were acknowledged are gone from the server; did it fail over to a replica that was behind?`);
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const maxRemembered = 10_000;

// What only the process that runs an agent may change.
const started = ({ activeRunId, latestCheckpoint }) => JSON.stringify([activeRunId ?? null, latestCheckpoint ?? null]);

// The text of an event, but for its number, which the driver puts between head and tail.
function eventText({ runId, eventType, payload, payloadRef, idempotencyKey }) {
  const rest = { eventType, payload: payload ?? null, payloadRef: payloadRef ?? null, idempotencyKey: idempotencyKey || null, createdAt: new Date().toISOString() };
  return { head: `{"runId":${JSON.stringify(runId)},`, tail: `,${JSON.stringify(rest).slice(1)}` };
}

// parsed is a document, which anybody may have written who can write to the server.
export function parsed(text, what) {
  try {
    const doc = JSON.parse(text);
    if (typeof doc === "object" && doc !== null) return doc;
  } catch {}
  throw new Error(`${what}: the stored document is not a JSON object`);
}

const readEvent = (runId, text) => {
  const event = parsed(text, `an event of run ${runId}`);
  return { ...event, createdAt: typeof event.createdAt === "string" ? Date.parse(event.createdAt) : event.createdAt };
};

// createStore makes a LocalAgentStore of a driver.
export function createStore(driver, { leaseMs = 30_000, cacheBytes = 64 << 20 } = {}) {
  if (!(leaseMs >= 100 && leaseMs <= 86_400_000)) throw new Error(`leaseMs: ${leaseMs} is not between 100 and 86400000`);
  const owner = `${os.hostname()}:${process.pid}:${randomUUID()}`;
  const revisions = new Map(); // by agent: the revision and document that this process saw last
  const fences = new Map(); // by run: the agent and the fence under which this process changed it last
  const current = new Map(); // by agent: the fence of this process, until it releases its lease
  const held = new Map(); // by agent: the same, of leases that the timer renews
  const working = new Set(); // the agents of which this process has begun a run
  const newest = new Map(); // by agent of held: its run; an older one that ends late does not end the lease
  const cache = new BlobCache(cacheBytes, (agentId, ids) => driver.blobs(agentId, ids));
  const tails = new Map(); // by run: the last append, which the next one waits for
  const acknowledged = new Map(); // by run: the highest number of an event that this process appended; Infinity once one is gone
  let closed = false;

  const open = () => {
    if (closed) throw new Error("the store is closed");
  };
  const remember = (map, key, value) => {
    map.delete(key);
    map.set(key, value);
    if (map.size > maxRemembered) map.delete(map.keys().next().value);
  };
  const saw = (agentId, rev, doc) => {
    remember(revisions, agentId, { rev, started: started(doc) });
    return doc;
  };
  const hold = ({ agentId, runId, status }, fence) => {
    remember(fences, runId, { agentId, fence });
    current.set(agentId, fence);
    if (!ended.has(status)) {
      held.set(agentId, fence);
      newest.set(agentId, runId);
    } else if ((newest.get(agentId) ?? runId) === runId) rest(agentId);
    if (status === "running") working.add(agentId);
  };
  // The numbers of runs whose events were deleted begin again. A run whose agent this process does not
  // know, such as one that was made when it had ended, may be any agent's.
  const restart = (agentIds, runIds) => {
    const among = (list, one) => one === undefined || !list || list.includes(one);
    for (const runId of acknowledged.keys()) if (among(runIds, runId) && among(agentIds, fences.get(runId)?.agentId)) acknowledged.delete(runId);
  };
  const rest = (agentId) => {
    for (const one of [held, working, newest]) one.delete(agentId);
  };
  const release = (agentId) => {
    current.delete(agentId);
    rest(agentId);
  };
  const lost = (agentId, runId) => {
    if (held.get(agentId) === fences.get(runId)?.fence) rest(agentId);
    return new Error(`Agent ${agentId} already has active run: the lease of run ${runId} was taken by another process`);
  };
  const lease = (agentId, fence = current.get(agentId) ?? null) => ({ owner, fence, ms: leaseMs, renew: held.has(agentId) });

  const timer = setInterval(async () => {
    const renewed = new Map(held);
    if (closed || renewed.size === 0) return;
    const kept = await driver.renew([...renewed], lease()).catch(() => null); // tried again next time
    if (kept) for (const [agentId, fence] of renewed) if (!kept.has(agentId) && held.get(agentId) === fence) rest(agentId);
  }, leaseMs / 3);
  timer.unref?.();

  const checkAgent = (agent) => {
    if (typeof agent?.agentId !== "string" || typeof agent.cwd !== "string" || !Number.isFinite(agent.updatedAt)) throw new TypeError("agent: agentId, cwd or updatedAt is missing");
    return { agentId: agent.agentId, cwd: agent.cwd, updatedAt: agent.updatedAt, text: JSON.stringify(agent) };
  };
  const checkRun = (run) => {
    if (typeof run?.agentId !== "string" || typeof run.runId !== "string" || !Number.isFinite(run.turnNumber)) throw new TypeError("run: agentId, runId or turnNumber is missing");
    return { agentId: run.agentId, runId: run.runId, turnNumber: run.turnNumber, status: `${run.status}`, text: JSON.stringify(run) };
  };

  const agents = {
    async get({ agentId }) {
      open();
      const found = await driver.agent(agentId);
      return found && saw(agentId, found.rev, parsed(found.text, `agent ${agentId}`));
    },
    async create({ agent }) {
      open();
      const row = checkAgent(agent), { agentId } = row;
      const { retried, text } = await driver.createAgent(row);
      if (text !== null && !(retried && text === row.text)) throw new Error(`Agent ${agentId} already exists`);
      cache.drop(agentId);
      return saw(agentId, 1, JSON.parse(row.text));
    },
    async update({ agent }) {
      open();
      const row = checkAgent(agent), { agentId } = row, seen = revisions.get(agentId);
      const idle = (agent.activeRunId ?? null) === null;
      // A process that does not run the agent may rename or archive it while another one does.
      const found = await driver.updateAgent(row, { rev: seen?.rev ?? null, guarded: started(agent) !== seen?.started, release: idle, ...lease(agentId) });
      if (found.missing) throw new Error(`Agent ${agentId} not found`);
      if (found.fenced) throw new Error(`Agent ${agentId} already has active run in another process`);
      if (found.conflict && !(found.retried && found.text === row.text)) {
        if (!working.has(agentId)) held.delete(agentId); // the SDK gives up a run that it could not begin
        throw new Error(`Agent ${agentId} was changed by another process; read it again`);
      }
      if (idle) release(agentId);
      return saw(agentId, found.rev, JSON.parse(row.text));
    },
    async delete({ filter }) {
      open();
      const { deleted, leased, retried } = await driver.deleteAgents({ ids: wanted(filter?.agentIds), cwd: filter?.cwd ?? null }, owner);
      if (leased !== undefined) throw busy(leased);
      if (deleted.length === 0 && !retried) throw new Error(`no agent matches ${JSON.stringify(filter ?? {})}`);
      for (const agentId of deleted) {
        revisions.delete(agentId);
        release(agentId);
        cache.drop(agentId);
        restart([agentId], null);
        for (const [runId, one] of fences) if (one.agentId === agentId) fences.delete(runId);
      }
    },
    async list({ filter = {} } = {}) {
      open();
      const limit = limited(filter.limit, 50);
      const rows = await driver.agents({ cwd: filter.cwd ?? null, after: readAgentCursor(filter.cursor), limit: limit + 1 });
      const items = rows.slice(0, limit).map(({ agentId, rev, text }) => saw(agentId, rev, parsed(text, `agent ${agentId}`)));
      return { items, ...(rows.length > limit && limit > 0 ? { nextCursor: agentCursor(items.at(-1)) } : {}) };
    },
  };

  const runs = {
    async get({ agentId, runId }) {
      open();
      const text = await driver.run(agentId, runId);
      return text === null ? null : parsed(text, `run ${runId}`);
    },
    // The first run is made with its agent, and waits for whoever sends first: it needs no lease.
    async create({ run }) {
      open();
      const row = checkRun(run), { agentId, runId } = row, active = !ended.has(run.status) && run.turnNumber > 1;
      const found = await driver.createRun(row, active ? lease(agentId, null) : null);
      if (found.reason === "agent") throw new Error(`Agent ${agentId} not found`);
      if (found.reason === "run" && !(found.retried && found.text === row.text)) throw new Error(`Run ${runId} already exists`);
      if (found.reason === "turn" || found.reason === "leased") throw busy(agentId);
      if (active) hold(row, found.fence);
      return JSON.parse(row.text);
    },
    async update({ run }) {
      open();
      const row = checkRun(run), { agentId, runId } = row, active = !ended.has(run.status), known = fences.get(runId);
      const found = await driver.updateRun(row, { ...lease(agentId, known?.fence ?? null), active });
      if (found.missing) throw new Error(`Run ${runId} not found for agent ${agentId}`);
      if (found.leased) throw known ? lost(agentId, runId) : busy(agentId);
      hold(row, found.fence);
      return JSON.parse(row.text);
    },
    async delete({ filter }) {
      open();
      const agentIds = wanted(filter?.agentIds), runIds = wanted(filter?.runIds);
      const { leased } = await driver.deleteRuns({ agentIds, runIds }, owner);
      if (leased !== undefined) throw busy(leased);
      restart(agentIds, runIds);
    },
    async list({ filter = {} } = {}) {
      open();
      const limit = limited(filter.limit, 50);
      const rows = await driver.runs({ agentIds: wanted(filter.agentIds), runIds: wanted(filter.runIds), after: readRunCursor(filter.cursor), limit: limit + 1 });
      const items = rows.slice(0, limit).map(({ runId, text }) => parsed(text, `run ${runId}`));
      return { items, ...(rows.length > limit && limit > 0 ? { nextCursor: runCursor(items.at(-1)) } : {}) };
    },
  };

  const checkpoints = {
    async get({ agentId, blobId }) {
      open();
      return cache.get(agentId, blobId);
    },
    async create({ agentId, blobId, data }) {
      open();
      const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength), addressed = /^[0-9a-f]{64}$/.test(blobId);
      if (addressed && sha256(bytes) !== blobId) throw new Error(`blob ${blobId}: the bytes do not have this SHA-256`);
      const { fenced, same } = await driver.putBlob(agentId, blobId, bytes, lease(agentId));
      if (fenced) throw new Error(`Agent ${agentId} already has active run in another process; blob ${blobId} was not written`);
      if (same === false) throw new Error(`blob ${blobId} of agent ${agentId} exists with other bytes`);
      if (addressed) cache.put(agentId, blobId, bytes);
    },
    update: (input) => checkpoints.create(input),
    async delete({ filter }) {
      open();
      const agentIds = wanted(filter?.agentIds), blobIds = wanted(filter?.blobIds);
      cache.drop(agentIds);
      const { leased } = await driver.deleteBlobs({ agentIds, blobIds }, owner);
      cache.drop(agentIds);
      if (leased !== undefined) throw busy(leased);
    },
    // Pages are large, as the SDK reads all of an agent's before each turn.
    async list({ filter = {} } = {}) {
      open();
      const limit = limited(filter.limit, 10_000), agentIds = wanted(filter.agentIds);
      const rows = await driver.blobIds({ agentIds, blobIds: wanted(filter.blobIds), after: filter.cursor ?? null, limit: limit + 1 });
      const page = rows.slice(0, limit);
      if (agentIds?.length === 1) cache.expect(agentIds[0], page);
      return { items: page.map(({ blobId }) => blobId), ...(rows.length > limit && limit > 0 ? { nextCursor: page.at(-1).blobId } : {}) };
    },
  };

  const runEvents = {
    // Appends of a run go one after the other: the SDK calls several times without waiting.
    append(input) {
      const { runId } = input, before = tails.get(runId);
      const next = (before ?? Promise.resolve()).then(async () => {
        open();
        if (typeof runId !== "string" || typeof input.eventType !== "string") throw new TypeError("event: runId or eventType is missing");
        const known = fences.get(runId), last = acknowledged.get(runId) ?? 0;
        if (last === Infinity) throw gone(runId);
        const key = input.idempotencyKey || `rehome:${randomUUID()}`; // so that an append that is tried again is not there twice
        const found = await driver.append({ runId, key, ...eventText(input) }, { agentId: known?.agentId ?? null, ...lease(known?.agentId, known?.fence ?? null) });
        if (found.fenced) throw known ? lost(known.agentId, runId) : new Error(`run ${runId} belongs to another process`);
        const event = readEvent(runId, found.text);
        // A new event has the highest number, unless the events that had higher ones are gone.
        const highest = found.made && event.seq <= last ? Infinity : Math.max(last, event.seq);
        remember(acknowledged, runId, highest);
        if (highest === Infinity) throw gone(runId);
        return event;
      });
      const tail = next.catch(() => {}).then(() => {
        if (tails.get(runId) === tail) tails.delete(runId);
      });
      tails.set(runId, tail);
      return next;
    },
    async list({ runId, afterOffset, limit }) {
      open();
      if (afterOffset !== undefined && afterOffset !== null && !/^\d{1,15}$/.test(afterOffset)) throw new Error(`invalid event offset ${JSON.stringify(afterOffset)}`);
      const n = limited(limit, 100), texts = await driver.events(runId, Number(afterOffset ?? 0), n + 1);
      const items = texts.slice(0, n).map((text) => readEvent(runId, text));
      return { items, ...(texts.length > n && n > 0 ? { nextOffset: items.at(-1).offset } : {}) };
    },
    async delete({ filter }) {
      open();
      const runIds = wanted(filter?.runIds);
      const { leased } = await driver.deleteEvents(runIds, owner);
      if (leased !== undefined) throw busy(leased);
      restart(null, runIds);
    },
  };

  const store = {
    agents, runs, checkpoints, runEvents, owner,
    notifier: driver.notifier,
    createSchema: () => driver.createSchema?.() ?? Promise.resolve(),
    async leases() {
      open();
      return (await driver.leases([...ended])).map((one) => ({ ...one, mine: one.owner === owner }));
    },
    // expire ends the runs of processes whose lease has run out, and returns their agents.
    async expire() {
      const freed = [];
      for (const { agentId, expired } of await store.leases()) {
        if (!expired || held.has(agentId)) continue; // one that this process runs is renewed late, not dead
        const agent = await agents.get({ agentId }), runId = agent?.activeRunId;
        if (!runId) continue;
        try {
          const run = await runs.get({ agentId, runId }), now = Date.now();
          if (run && !ended.has(run.status)) {
            await runs.update({ run: { ...run, status: "expired", error: run.error ?? "lease expired", updatedAt: now, endedAt: now } });
            const message = { type: "status", agent_id: agentId, run_id: runId, status: "EXPIRED" };
            await runEvents.append({ runId, eventType: "run_stream_event", payload: { schemaVersion: 1, type: "sdk_message", agentId, runId, message } });
          }
          const latest = await agents.get({ agentId });
          if (latest?.activeRunId === runId) {
            await agents.update({ agent: { ...latest, activeRunId: null, status: latest.status === "archived" ? "archived" : "idle", updatedAt: now } });
            freed.push(agentId);
          }
        } catch (error) {
          if (!/already has active run|changed by another process/.test(error.message)) throw error; // somebody else was faster
        }
      }
      return freed;
    },
    async close() {
      if (closed) return;
      await Promise.all(tails.values());
      closed = true;
      clearInterval(timer);
      await driver.release([...held], owner).catch(() => {}); // else they run out by themselves
      held.clear();
      cache.clear();
      await driver.close();
    },
  };
  return Object.assign(store, { [Symbol.asyncDispose ?? Symbol("asyncDispose")]: store.close });
}

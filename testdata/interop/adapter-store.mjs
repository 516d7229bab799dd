// What is asked of a store directly, through its own calls.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { open } from "./sdk.mjs";
import { sha256 } from "./wire.mjs";

export const blobs = (count, label) => Array.from({ length: count }, (_, i) => {
  const data = new Uint8Array(Buffer.from(`${label} ${i}`.padEnd(100)));
  return { blobId: sha256(data).toString("hex"), data };
});

// cold puts many blobs beside those of an agent.
export async function cold(store, { agentId, count }) {
  for (let i = 0, all = blobs(count, "cold"); i < count; i += 50) await Promise.all(all.slice(i, i + 50).map((blob) => store.checkpoints.create({ agentId, ...blob })));
  return { count };
}

// The SQLite stores are many and short-lived: in memory, if the system has a folder for that.
const memory = fs.existsSync("/dev/shm") ? "/dev/shm" : os.tmpdir();

function chance(seed) {
  let state = seed >>> 0;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

// What both stores hold alike: the SDK's SQLite store makes null of absent, and has a column for the
// end of three statuses only.
function plain(value, ended = false) {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map((one) => plain(one));
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (typeof value !== "object") return value;
  const kept = Object.entries(value).filter(([name, one]) => one !== null && one !== undefined && name !== "createdAt" && !(name === "endedAt" && !["finished", "cancelled", "expired"].includes(value.status)));
  return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, plain(one)]));
}

// sequence is a list of calls, such as the SDK makes, and such as it does not.
function sequence(seed) {
  const below = chance(seed), of = (list) => list[below(list.length)], calls = [], ids = ["a", "b é", "agent/%2F"];
  const run = (agentId, turn, status) => ({ runId: `${agentId} run ${turn}`, agentId, turnNumber: turn, status, createdAt: 1000, updatedAt: 1000 + below(50), startedAt: status === "queued" ? null : 5, endedAt: ["finished", "error"].includes(status) ? 9 : null, result: status === "finished" ? "ok" : null });
  const agent = (agentId) => ({ agentId, cwd: of(["/w", "/v"]), status: of(["idle", "archived", "error"]), activeRunId: null, name: of(["n", "ü", null]), createdAt: 1000, updatedAt: 1000 + below(5), sdkMetadata: { n: below(9) } });
  const kinds = {
    createAgent: () => ["agents", "create", { agent: agent(of(ids)) }],
    updateAgent: () => ["agents", "update", { agent: agent(of(ids)) }],
    getAgent: () => ["agents", "get", { agentId: of(ids) }],
    listAgents: () => ["agents", "list", { filter: { limit: 1 + below(3), ...(below(2) ? { cwd: "/w" } : {}) } }],
    deleteAgent: () => ["agents", "delete", { filter: { agentIds: [of(ids)] } }],
    createRun: () => ["runs", "create", { run: run(of(ids), 1 + below(4), of(["queued", "finished", "error"])) }],
    updateRun: () => ["runs", "update", { run: run(of(ids), 1 + below(4), of(["running", "finished", "cancelled", "error"])) }],
    getRun: () => ["runs", "get", { agentId: of(ids), runId: `${of(ids)} run ${1 + below(4)}` }],
    listRuns: () => ["runs", "list", { filter: { agentIds: [of(ids)], limit: 1 + below(3) } }],
    deleteRuns: () => ["runs", "delete", { filter: { agentIds: [of(ids)], runIds: [`${of(ids)} run ${1 + below(4)}`] } }],
    append: () => ["runEvents", "append", { runId: `${of(ids)} run ${1 + below(2)}`, eventType: "run_stream_event", payload: of([null, { a: [1, "\u0000", "é"] }, "text"]), ...(below(2) ? { idempotencyKey: `key ${below(4)}` } : {}) }],
    events: () => ["runEvents", "list", { runId: `${of(ids)} run ${1 + below(2)}`, limit: 1 + below(4), ...(below(2) ? { afterOffset: `${below(4)}` } : {}) }],
    deleteEvents: () => ["runEvents", "delete", { filter: { runIds: [`${of(ids)} run ${1 + below(2)}`] } }],
    put: () => ["checkpoints", "put", { agentId: of(ids), ...of(blobs(6, "random")) }],
    get: () => ["checkpoints", "get", { agentId: of(ids), blobId: of(blobs(6, "random")).blobId }],
    blobs: () => ["checkpoints", "list", { filter: { agentIds: [of(ids)], limit: 1 + below(5) } }],
    deleteBlobs: () => ["checkpoints", "delete", { filter: { agentIds: [of(ids)], blobIds: [of(blobs(6, "random")).blobId] } }],
  };
  // Calls that make something come more often, and an agent is there from the start.
  const often = ["createAgent", "createAgent", "createRun", "createRun", "createRun", "append", "append", "append", "put", "put"];
  calls.push(["agents", "create", { agent: agent("a") }]);
  for (let i = 0; i < 40; i++) calls.push(kinds[of([...Object.keys(kinds), ...often])]());
  return calls;
}

// answer is what a call gives: its value, or that it failed. Pages are followed by their cursors.
async function answer(store, [part, name, input]) {
  const call = (more) => store[part][name](structuredClone({ ...input, ...more }));
  try {
    // As the SDK does it: the way in which a blob is written depends on whether it is there.
    if (name === "put") return plain(await store[part][(await store[part].get(input)) ? "update" : "create"](structuredClone(input)));
    if (name !== "list") return plain(await call());
    const items = [], next = part === "runEvents" ? (page) => page.nextOffset && { afterOffset: page.nextOffset } : (page) => page.nextCursor && { filter: { ...input.filter, cursor: page.nextCursor } };
    for (let page = await call(); ; page = await call(next(page))) {
      items.push([...page.items]);
      if (!next(page)) return plain(items);
    }
  } catch {
    return "failed";
  }
}

// differential plays random sequences to the SDK's SQLite store and to this one.
export async function differential(sdk, store, { from, count }) {
  let calls = 0, failed = 0;
  for (let seed = from; seed < from + count; seed++) {
    const at = fs.mkdtempSync(path.join(memory, "rehome-interop-sqlite-")), sqlite = await open(sdk, "sqlite", at, "/w");
    const done = [];
    for (const call of sequence(seed)) {
      const [want, got] = [await answer(sqlite, call), await answer(store, call)];
      done.push(call);
      try {
        assert.deepEqual(got, want);
      } catch {
        throw new Error(`sequence ${seed}, call ${done.length}: ${JSON.stringify(call)}: got ${JSON.stringify(got)}, SQLite ${JSON.stringify(want)}`);
      }
      calls++;
      if (want === "failed") failed++;
    }
    await sqlite.dispose();
    fs.rmSync(at, { recursive: true, force: true });
    for (const { agentId } of (await store.agents.list()).items) await store.agents.delete({ filter: { agentIds: [agentId] } });
    await store.runEvents.delete({ filter: {} });
    await store.checkpoints.delete({ filter: {} });
  }
  return { sequences: count, calls, failed };
}

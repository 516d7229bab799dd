// What every store must do, whatever it keeps its documents in. make() opens another process's view
// of one store; the first one creates it.
// wait lets time pass.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

export const agentOf = (agentId, more = {}) => ({ agentId, cwd: "/w", status: "idle", activeRunId: null, name: agentId, createdAt: 1, updatedAt: 1, sdkMetadata: { key: "k" }, ...more });
export const runOf = (agentId, turnNumber, more = {}) => ({ runId: `${agentId}-${turnNumber}`, agentId, turnNumber, status: "queued", createdAt: 1, updatedAt: 1, ...more });
export const blobOf = (text) => {
  const data = new TextEncoder().encode(text);
  return { blobId: createHash("sha256").update(data).digest("hex"), data };
};
const shortMs = 1000; // a lease that is waited for
export const sleep = (ms) => new Promise((done) => { setTimeout(done, ms); });
const append = (store, runId, payload, idempotencyKey) => store.runEvents.append({ runId, eventType: "run_stream_event", payload, idempotencyKey });

// begun is an agent whose first turn has ended, and whose second one runs in this process.
async function begun(store, agentId) {
  await store.agents.create({ agent: agentOf(agentId) });
  await store.runs.create({ run: runOf(agentId, 1, { status: "finished" }) });
  await store.runs.create({ run: runOf(agentId, 2) });
  await store.agents.get({ agentId });
  await store.agents.update({ agent: agentOf(agentId, { activeRunId: `${agentId}-2` }) });
  await store.runs.update({ run: runOf(agentId, 2, { status: "running" }) });
  return { agentId, runId: `${agentId}-2` };
}

export function rules(name, make, wait = sleep) {
  const check = (what, body, options) => test(`${name}: ${what}`, async () => {
    const stores = [], at = {};
    const another = async (more) => {
      stores.push(await make(at, { ...options, ...more }));
      return stores.at(-1);
    };
    try {
      const store = await another();
      await store.createSchema();
      await body(store, another);
    } finally {
      await Promise.all(stores.map((one) => one.close()));
    }
  });

  check("documents come back as they are", async (store) => {
    const hard = { "": [null, 1e21, -0.5, "\u0000", "\ud800", "é\u2028"], "__proto__x": { deep: [[]] } };
    const agent = agentOf("\"; drop table agents; --", { sdkMetadata: hard, unknown: 1, name: undefined, updatedAt: 1.5 });
    const same = JSON.parse(JSON.stringify(agent));
    assert.deepEqual(await store.agents.create({ agent }), same);
    assert.deepEqual(await store.agents.get({ agentId: agent.agentId }), same);
    assert.equal(await store.agents.get({ agentId: "agents" }), null);
    const run = runOf(agent.agentId, 1, { runId: "'%\\ é", result: "\u0000" });
    assert.deepEqual(await store.runs.create({ run }), run);
    assert.deepEqual(await store.runs.get({ agentId: agent.agentId, runId: run.runId }), run);
    const event = await append(store, run.runId, hard);
    assert.deepEqual([event.payload, event.seq, event.offset, event.payloadRef, event.idempotencyKey, typeof event.createdAt], [hard, 1, "1", null, null, "number"]);
    assert.deepEqual((await store.runEvents.list({ runId: run.runId })).items, [event]);
  });

  check("what exists is not created, what does not is not updated or deleted", async (store) => {
    const agent = agentOf("a");
    await store.agents.create({ agent });
    await assert.rejects(store.agents.create({ agent: { ...agent, name: "b" } }), /Agent a already exists/);
    await assert.rejects(store.agents.update({ agent: agentOf("b") }), /Agent b not found/);
    await assert.rejects(store.agents.delete({ filter: { agentIds: ["b"] } }), /no agent matches/);
    await assert.rejects(store.runs.create({ run: runOf("b", 1) }), /Agent b not found/);
    await assert.rejects(store.runs.update({ run: runOf("a", 1) }), /Run a-1 not found for agent a/);
    await store.runs.create({ run: runOf("a", 1) });
    await assert.rejects(store.runs.create({ run: runOf("a", 1, { status: "error" }) }), /Run a-1 already exists/);
    await assert.rejects(store.runs.create({ run: runOf("a", 1, { runId: "other" }) }), { message: "Agent a already has active run" });
    await store.agents.create({ agent: agentOf("c") });
    await assert.rejects(store.runs.create({ run: runOf("c", 1, { runId: "a-1" }) }), /Run a-1 already exists/);
    await assert.rejects(store.agents.create({ agent: { agentId: "x" } }), TypeError);
  });

  check("lists have an order, pages and cursors", async (store) => {
    for (const [i, agentId] of ["b", "a", "d", "c"].entries()) await store.agents.create({ agent: agentOf(agentId, { updatedAt: i < 2 ? 5 : 7, cwd: i === 3 ? "/v" : "/w" }) });
    const first = await store.agents.list({ filter: { limit: 3 } });
    assert.deepEqual(first.items.map(({ agentId }) => agentId), ["d", "c", "b"]);
    assert.deepEqual(JSON.parse(Buffer.from(first.nextCursor, "base64url")), { updatedAt: 5, agentId: "b" });
    assert.deepEqual(await store.agents.list({ filter: { cursor: first.nextCursor } }), { items: [agentOf("a", { updatedAt: 5 })] });
    assert.deepEqual((await store.agents.list({ filter: { cwd: "/v" } })).items.map(({ agentId }) => agentId), ["c"]);
    await assert.rejects(store.agents.list({ filter: { cursor: "??" } }), /invalid cursor/);
    for (const agentId of ["b", "a"]) for (const turn of [2, 1]) await store.runs.create({ run: runOf(agentId, turn, { status: "finished" }) });
    const runs = await store.runs.list({ filter: { limit: 3 } });
    assert.deepEqual(runs.items.map(({ runId }) => runId), ["a-1", "b-1", "a-2"]);
    assert.deepEqual((await store.runs.list({ filter: { cursor: runs.nextCursor } })).items.map(({ runId }) => runId), ["b-2"]);
    assert.deepEqual((await store.runs.list({ filter: { agentIds: ["a"], runIds: ["a-2", "b-2"] } })).items.map(({ runId }) => runId), ["a-2"]);
    for (let i = 0; i < 5; i++) await append(store, "a-1", i);
    const events = await store.runEvents.list({ runId: "a-1", afterOffset: "1", limit: 2 });
    assert.deepEqual([events.items.map(({ payload }) => payload), events.nextOffset], [[1, 2], "3"]);
    assert.deepEqual((await store.runEvents.list({ runId: "a-1", afterOffset: "3" })).nextOffset, undefined);
    await assert.rejects(store.runEvents.list({ runId: "a-1", afterOffset: "x" }), /invalid event offset/);
  });

  check("events keep the order of the calls, and a key is there once", async (store, another) => {
    await store.agents.create({ agent: agentOf("a") });
    await store.runs.create({ run: runOf("a", 1) });
    const events = await Promise.all(Array.from({ length: 30 }, (_, i) => append(store, "a-1", i, i % 3 ? undefined : "once")));
    assert.deepEqual(new Set(events.filter((_, i) => i % 3 === 0).map(({ seq }) => seq)), new Set([1]));
    const { items } = await store.runEvents.list({ runId: "a-1" });
    assert.deepEqual(items.map(({ seq }) => seq), Array.from({ length: 21 }, (_, i) => i + 1));
    assert.deepEqual(items.map(({ payload }) => payload), [0, ...Array.from({ length: 30 }, (_, i) => i).filter((i) => i % 3)]);
    const beside = await another();
    await Promise.all([store, beside].flatMap((one) => Array.from({ length: 20 }, (_, i) => append(one, "shared", i, `key ${i}`))));
    const shared = (await store.runEvents.list({ runId: "shared" })).items;
    assert.deepEqual(shared.map(({ seq }) => seq), Array.from({ length: 20 }, (_, i) => i + 1));
    await store.runEvents.delete({ filter: { runIds: ["shared"] } });
    assert.equal((await append(store, "shared", 1, "key 1")).seq, 1);
  });

  check("blobs are what their id says", async (store, another) => {
    const { blobId, data } = blobOf("one"), agentId = "a";
    await store.checkpoints.create({ agentId, blobId, data });
    await store.checkpoints.update({ agentId, blobId, data });
    assert.deepEqual(await store.checkpoints.get({ agentId, blobId }), data);
    const got = await store.checkpoints.get({ agentId, blobId });
    got[0] = 0; // nobody else sees what a caller does with its bytes
    assert.deepEqual(await store.checkpoints.get({ agentId, blobId }), data);
    assert.deepEqual(await (await another()).checkpoints.get({ agentId, blobId }), data);
    await assert.rejects(store.checkpoints.create({ agentId, blobId, data: new Uint8Array(3) }), /do not have this SHA-256/);
    await store.checkpoints.create({ agentId, blobId: "named", data });
    await store.checkpoints.update({ agentId, blobId: "named", data });
    await assert.rejects(store.checkpoints.update({ agentId, blobId: "named", data: new Uint8Array(3) }), /exists with other bytes/);
    const empty = blobOf("");
    await store.checkpoints.create({ agentId, ...empty });
    assert.deepEqual(await (await another()).checkpoints.get({ agentId, blobId: empty.blobId }), empty.data);
    const all = [blobId, "named", empty.blobId].sort();
    const page = await store.checkpoints.list({ filter: { agentIds: [agentId], limit: 2 } });
    assert.deepEqual([page.items, page.nextCursor], [all.slice(0, 2), all[1]]);
    assert.deepEqual(await store.checkpoints.list({ filter: { agentIds: [agentId], cursor: page.nextCursor } }), { items: all.slice(2) });
    await store.checkpoints.delete({ filter: { agentIds: [agentId], blobIds: [blobId] } });
    assert.equal(await store.checkpoints.get({ agentId, blobId }), null);
    await store.checkpoints.delete({ filter: { agentIds: [agentId], blobIds: [blobId] } });
  });

  check("an agent goes with its runs, events and blobs", async (store) => {
    for (const agentId of ["a", "b"]) {
      await store.agents.create({ agent: agentOf(agentId) });
      await store.runs.create({ run: runOf(agentId, 1, { status: "finished" }) });
      await append(store, `${agentId}-1`, 1);
      await store.checkpoints.create({ agentId, ...blobOf(agentId) });
    }
    await store.agents.delete({ filter: { agentIds: ["a"] } });
    assert.deepEqual((await store.runs.list()).items.map(({ agentId }) => agentId), ["b"]);
    assert.deepEqual((await store.runEvents.list({ runId: "a-1" })).items, []);
    assert.deepEqual((await store.checkpoints.list()).items, [blobOf("b").blobId]);
    assert.equal(await store.checkpoints.get({ agentId: "a", blobId: blobOf("a").blobId }), null);
    await store.runs.delete({ filter: { agentIds: ["b"] } });
    await store.runs.delete({ filter: { agentIds: ["b"] } });
    assert.deepEqual((await store.runEvents.list({ runId: "b-1" })).items, []);
  });

  check("one of two senders wins", async (store, another) => {
    await store.agents.create({ agent: agentOf("a") });
    const both = [store, await another()];
    const sent = await Promise.allSettled(both.map((one, i) => one.runs.create({ run: runOf("a", 2, { runId: `run ${i}` }) })));
    assert.deepEqual(sent.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assert.equal(sent.find(({ reason }) => reason).reason.message, "Agent a already has active run");
    // The next turn number does not help, either: the agent runs elsewhere.
    const loser = both[sent.findIndex(({ reason }) => reason)];
    await assert.rejects(loser.runs.create({ run: runOf("a", 3) }), { message: "Agent a already has active run" });
  });

  check("a lease keeps others out while it lives", async (store, another) => {
    const { agentId, runId } = await begun(store, "a"), other = await another();
    await store.checkpoints.create({ agentId, ...blobOf("kept") });
    assert.deepEqual((await other.leases()).map(({ agentId: id, owner, mine, expired }) => ({ id, owner, mine, expired })), [{ id: "a", owner: store.owner, mine: false, expired: false }]);
    await assert.rejects(other.runs.update({ run: runOf(agentId, 2, { status: "expired" }) }), { message: "Agent a already has active run" });
    await assert.rejects(append(other, runId, 1), /another process/);
    await assert.rejects(other.checkpoints.create({ agentId, ...blobOf("x") }), /already has active run/);
    for (const one of [other.runs, other.agents, other.checkpoints]) await assert.rejects(one.delete({ filter: { agentIds: ["a"] } }), /already has active run/);
    for (const filter of [{ runIds: [runId] }, {}]) await assert.rejects(other.runEvents.delete({ filter }), /already has active run/);
    assert.deepEqual(await other.expire(), []);
    // A new name is no turn: it is welcome from everywhere, and who writes with the old one reads again.
    const seen = await other.agents.get({ agentId });
    for (const more of [{ activeRunId: null }, { latestCheckpoint: { schemaVersion: 1, rootBlobId: "" } }]) {
      await assert.rejects(other.agents.update({ agent: { ...seen, ...more } }), { message: "Agent a already has active run in another process" });
    }
    await other.agents.update({ agent: { ...seen, name: "renamed" } });
    await assert.rejects(store.agents.update({ agent: { ...seen, updatedAt: 9 } }), /changed by another process/);
    const again = await store.agents.get({ agentId });
    await store.agents.update({ agent: { ...again, activeRunId: null, updatedAt: 9 } });
    assert.equal((await store.agents.get({ agentId })).name, "renamed");
    // The turn has ended: the lease is free at once, and nobody has to be freed.
    await store.runs.update({ run: runOf(agentId, 2, { status: "finished" }) });
    assert.deepEqual(await other.leases(), []);
    await other.runs.create({ run: runOf(agentId, 3) });
  });

  check("a dead owner's agent is freed, and the owner is fenced", async (store, another) => {
    const { agentId, runId } = await begun(store, "a"), other = await another({ leaseMs: 60_000 });
    await append(store, runId, "before");
    await store.silence(); // as a process that has stopped, and not said so
    await wait(shortMs * 1.2);
    assert.deepEqual(await other.expire(), ["a"]);
    assert.deepEqual(await other.expire(), []);
    const run = await other.runs.get({ agentId, runId });
    assert.deepEqual([run.status, run.error, (await other.agents.get({ agentId })).activeRunId], ["expired", "lease expired", null]);
    for (const late of [
      () => append(store, runId, "after"),
      () => store.checkpoints.create({ agentId, ...blobOf("late") }),
      () => store.runs.update({ run: runOf(agentId, 2, { status: "finished" }) }),
      async () => store.agents.update({ agent: { ...(await store.agents.get({ agentId })), name: "late" } }),
    ]) await assert.rejects(late(), /already has active run/);
    const { items } = await other.runEvents.list({ runId });
    assert.deepEqual(items.map(({ payload }) => payload.message?.status ?? payload), ["before", "EXPIRED"]);
    assert.deepEqual((await other.checkpoints.list({ filter: { agentIds: [agentId] } })).items, []);
    // It may begin again, as anybody may; its old run stays lost.
    await store.runs.create({ run: runOf(agentId, 3) });
    await append(store, `${agentId}-3`, "new");
    await assert.rejects(append(store, runId, "old"), /already has active run/);
    await store.runs.delete({ filter: { runIds: [runId] } });
    await assert.rejects(append(store, runId, "old"), /already has active run/);
  }, { leaseMs: shortMs });

  check("an older run that ends late does not end the lease, and nobody expires its own", async (store, another) => {
    const { agentId, runId } = await begun(store, "a"), other = await another();
    await store.runs.create({ run: runOf(agentId, 3) });
    await store.runs.update({ run: runOf(agentId, 2, { status: "cancelled" }) });
    await wait(shortMs * 2.5);
    await assert.rejects(other.runs.create({ run: runOf(agentId, 4) }), /already has active run/);
    await store.silence(); // as a process that hangs
    await wait(shortMs * 1.2);
    assert.deepEqual([(await store.leases())[0].expired, await store.expire()], [true, []]);
    assert.deepEqual(await other.expire(), ["a"]);
  }, { leaseMs: shortMs });

  check("a lease is renewed while its owner works, and given back at the end", async (store, another) => {
    const { agentId } = await begun(store, "a"), other = await another();
    await wait(shortMs * 2.5);
    await assert.rejects(other.runs.create({ run: runOf(agentId, 3) }), /already has active run/);
    await store.close();
    await other.runs.create({ run: runOf(agentId, 3) });
    await assert.rejects(store.agents.get({ agentId }), /closed/);
  }, { leaseMs: shortMs });

  check("who waits for a run hears of its events", async (store, another) => {
    const stop = new AbortController(), other = await another();
    const heard = other.notifier.subscribeRunEvents({ runId: "r", signal: stop.signal });
    await heard.ready;
    const iterator = heard[Symbol.asyncIterator](), next = iterator.next();
    await store.notifier.publishRunEventAppended({ runId: "another", offset: "9" });
    await store.notifier.publishRunEventAppended({ runId: "r", offset: "1" });
    assert.deepEqual(await next, { value: { runId: "r", offset: "1" }, done: false });
    const last = iterator.next();
    stop.abort();
    assert.deepEqual(await last, { value: undefined, done: true });
  });
}

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { createStore } from "../lib/core.mjs";
import { memoryDriver, memoryState } from "../lib/memory.mjs";
import { rules } from "./rules.mjs";
import { silenced } from "./silenced.mjs";

mock.timers.enable({ apis: ["setInterval", "Date"], now: 1e12 });

rules("memory", async (at, options) => {
  at.state ??= memoryState();
  return silenced(memoryDriver(at.state), (driver) => createStore(driver, options));
}, async (ms) => {
  for (let left = ms; left > 0; left -= 50) {
    mock.timers.tick(50);
    await new Promise(setImmediate); // what the timers began
  }
});

test("events that a failover lost are noticed by their writer", async () => {
  const state = memoryState(), store = createStore(memoryDriver(state));
  const put = (key, runId = "r") => store.runEvents.append({ runId, eventType: "x", idempotencyKey: key });
  for (let i = 1; i <= 4; i++) await Promise.all([put(`k${i}`), put(`k${i}`, "other")]);
  state.events.set("r", state.events.get("r").slice(0, 2)); // what a replica has that was behind
  assert.equal((await put("k2")).seq, 2); // what is there is still found
  for (const key of [undefined, undefined, "k4", undefined]) await assert.rejects(put(key), /run r: events that were acknowledged are gone/);
  assert.equal((await put(undefined, "other")).seq, 5);
  await store.runEvents.delete({ filter: { runIds: ["r"] } });
  assert.equal((await put()).seq, 1);
  // So with the events of a run that was made when it had ended, when its agent is deleted.
  const [agentId, runId] = ["a", "over"], times = { createdAt: 1000, updatedAt: 1000 };
  await store.agents.create({ agent: { agentId, cwd: "/w", status: "idle", activeRunId: null, name: null, ...times, sdkMetadata: {} } });
  await store.runs.create({ run: { runId, agentId, turnNumber: 2, status: "error", ...times, startedAt: 5, endedAt: 9, result: null } });
  for (let i = 1; i <= 2; i++) assert.equal((await put(undefined, runId)).seq, i);
  await store.agents.delete({ filter: { agentIds: [agentId] } });
  assert.equal((await put(undefined, runId)).seq, 1);
  await store.close();
});

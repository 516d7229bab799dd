// Carries a state root to a folder of lines with the SDK's own classes:
// sdk_copy.mjs MODULES STATE-ROOT FOLDER. What the SDK opens it changes, so it
// is given a copy.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [modules, root, target] = process.argv.slice(2);
const from = createRequire(path.join(modules, "package.json"));
const { JsonlLocalAgentStore } = from("@cursor/sdk");
const { SqliteLocalAgentStore } = from("@cursor/sdk/sqlite");

// The SDK takes the time of an event from the clock, and the lines shall hold
// the times that the rows hold.
const Real = Date;
let now = Real.now();
globalThis.Date = class extends Real {
  constructor(...given) { super(...(given.length ? given : [now])); }
  static now() { return now; }
};

async function every(list) {
  const items = [];
  let cursor;
  do {
    const page = await list({ cursor, limit: 1000 });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor);
  return items;
}

const copy = `${target}.copy`;
fs.cpSync(root, copy, { recursive: true });
const source = await SqliteLocalAgentStore.open({ workspaceRef: "/nowhere", stateRoot: copy });
const lines = new JsonlLocalAgentStore(target);
const agents = await every((filter) => source.agents.list({ filter }));
const runs = await every((filter) => source.runs.list({ filter }));
for (const agent of agents) await lines.agents.create({ agent });
for (const run of runs) await lines.runs.create({ run });
for (const { runId } of runs) {
  const { items } = await source.runEvents.list({ runId, limit: 1e6 });
  for (const { eventType, payload, createdAt } of items) {
    now = new Real(createdAt).getTime();
    await lines.runEvents.append({ runId, eventType, payload });
  }
}
for (const { agentId } of agents) {
  const ids = await every((page) => source.checkpoints.list({ filter: { agentIds: [agentId], ...page } }));
  for (const blobId of ids) await lines.checkpoints.create({ agentId, blobId, data: await source.checkpoints.get({ agentId, blobId }) });
}
await source.dispose();
fs.rmSync(copy, { recursive: true });

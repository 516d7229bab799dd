// What a store holds, read through the client's own classes and put into one
// fixed order, so that two stores of any kind can be compared as text.
import { createHash } from "node:crypto";
import { every } from "./sdk.mjs";

const absent = (value) => value === null || value === undefined;
const present = (doc) => Object.fromEntries(Object.entries(doc).filter(([, value]) => !absent(value)));

// sorted gives the same JSON whatever order the members came in.
export function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

// What the client's SQLite store has no place for: it makes null of absent,
// and it keeps the end of a run only where the status has a column for it.
// The SQLite store of 1.0.17 lacks two columns more.
function plain(run, lacks) {
  const doc = present(run);
  if (!["finished", "cancelled", "expired"].includes(doc.status)) delete doc.endedAt;
  for (const member of lacks) delete doc[member];
  return doc;
}

async function eventsOf(store, runId) {
  const items = [];
  for (let after; ; ) {
    const page = await store.runEvents.list({ runId, afterOffset: after, limit: 7 });
    items.push(...page.items.map(present));
    if (page.nextOffset === undefined) return items;
    after = page.nextOffset;
  }
}

async function blobsOf(store, agentId) {
  const ids = await every((page) => store.checkpoints.list({ filter: { agentIds: [agentId], ...page } }));
  const found = [];
  for (const blobId of ids) {
    const data = await store.checkpoints.get({ agentId, blobId });
    found.push({ blobId, bytes: data?.length ?? null, sha256: data ? createHash("sha256").update(data).digest("hex") : null });
  }
  return found;
}

export async function read(store, lacks) {
  const agents = await every((page) => store.agents.list({ filter: page }));
  const runs = await every((page) => store.runs.list({ filter: page }));
  const by = (key) => (a, b) => (key(a) < key(b) ? -1 : 1);
  const events = {}, checkpoints = {};
  for (const run of runs) events[run.runId] = await eventsOf(store, run.runId);
  for (const agent of agents) checkpoints[agent.agentId] = await blobsOf(store, agent.agentId);
  return sorted({
    listed: agents.map((agent) => agent.agentId),
    agents: agents.map((agent) => present({ sdkMetadata: {}, ...present(agent) })).sort(by((agent) => agent.agentId)),
    runs: runs.map((run) => plain(run, lacks)).sort(by((run) => `${run.agentId} ${String(run.turnNumber).padStart(6, "0")}`)),
    events,
    checkpoints,
  });
}

// The client gives messages of its own classes; what they are as JSON is its public form.
const messagesOf = async (sdk, store, { agentId, cwd }) => JSON.parse(JSON.stringify(await sdk.Agent.messages.list(agentId, { runtime: "local", cwd, store })));

// restored gives what the client restores from each agent's checkpoint: what a
// resumed model is told again, and in it the user's own words in order.
export async function restored(sdk, store) {
  const found = {};
  for (const agent of await every((page) => store.agents.list({ filter: page }))) {
    const messages = await messagesOf(sdk, store, agent);
    const texts = messages.map(({ message }) => message.agentConversationTurn?.userMessage?.text).filter((text) => text !== undefined);
    found[agent.agentId] = { texts, messages: sorted(messages) };
  }
  return found;
}

// told gives all that the client says of each agent: the turns of its list of
// messages, and the runs with what their events tell.
export async function told(sdk, store) {
  const found = {};
  const runs = await every((page) => store.runs.list({ filter: page }));
  for (const agent of await every((page) => store.agents.list({ filter: page }))) {
    const own = runs.filter(({ agentId }) => agentId === agent.agentId).sort((a, b) => a.turnNumber - b.turnNumber), list = [];
    for (const { runId, status } of own) list.push({ status, events: (await eventsOf(store, runId)).map(({ payload }) => payload.message) });
    found[agent.agentId] = { name: agent.name, turns: (await messagesOf(sdk, store, agent)).map(({ message }) => message), runs: list };
  }
  return found;
}

// What rehome makes of a store, against what the client itself says of it: its
// list of messages, its runs and their events. Nothing here knows how rehome
// reads a store; the lines are only parsed as JSON.
import fs from "node:fs";
import { canonical, check, client, folder, fresh, once, read, same } from "./tools.mjs";

const image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
const prompts = [
  [{ text: "play: parallel" }, { text: "play: failing" }, { text: "plain – wörds\n你好" }, { text: "play: stall", ends: "cancelled" }, { text: "and on" }, { text: "play: break", ends: "error" }],
  [{ text: "play: long" }, { text: "play: look", image }],
];

// played gives a store with everything in it, as a process leaves it; then a
// second process resumes both agents.
export function played(version, kind) {
  return once(() => {
    const home = folder("home"), cwd = folder("work é");
    const at = kind === "ndjson" ? fresh("played") : undefined;
    const { root } = client({ do: "play", version, kind, at, cwd, prompts }, home);
    const store = at ?? root;
    client({ do: "resume", version, kind, at, cwd, prompt: "Resumed" }, home);
    return { at: store, holds: read(version, kind, store) };
  });
}

// sessions reads the lines: a head, then its messages.
function sessions(file) {
  const found = [];
  for (const line of fs.readFileSync(file, "utf8").trimEnd().split("\n")) {
    const item = JSON.parse(line);
    if (item.type === "session") found.push({ ...item, turns: [] });
    else if (item.type === "message") {
      if (item.turn) found.at(-1).turns.push({ ...item.turn, messages: [] });
      found.at(-1).turns.at(-1)?.messages.push(item);
    }
  }
  return found;
}

const parts = (turn, role, type) => turn.messages.filter((m) => m.role === role).flatMap((m) => m.parts ?? []).filter((part) => !type || part.type === type);
const joined = (list) => list.map(({ text }) => text ?? "").join("");

// within holds what was stored against what the client's own JSON of it says:
// that has all members, absent ones with nothing in them.
function within(ours, theirs, what, at = "") {
  if (theirs !== null && typeof theirs === "object" && ours !== null && typeof ours === "object" && !Array.isArray(theirs)) {
    for (const key of Object.keys(ours)) within(ours[key], theirs[key], what, `${at}/${key}`);
    for (const key of Object.keys(theirs)) {
      const empty = ["", 0, false, "0"].includes(theirs[key]) || (Array.isArray(theirs[key]) && !theirs[key].length) || /_UNSPECIFIED$/.test(theirs[key]);
      if (!(key in ours) && !empty) throw new Error(`${what}: ${at}/${key} is missing`);
    }
    return;
  }
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    same(ours.length, theirs.length, `${what}: elements`, at);
    for (const [i, one] of theirs.entries()) within(ours[i], one, what, `${at}/${i}`);
    return;
  }
  same(ours, theirs, what, at);
}

// The client's steps, as the parts of ours that they must be.
function steps(turn) {
  return turn.steps.map((step) => {
    if (step.assistantMessage) return { type: "text", text: step.assistantMessage.text };
    if (step.thinkingMessage) return { type: "thinking", text: step.thinkingMessage.text, millis: step.thinkingMessage.durationMs };
    const key = Object.keys(step.toolCall).find((name) => name.endsWith("ToolCall"));
    return { type: "tool_call", id: step.toolCall.toolCallId, kind: key.slice(0, -"ToolCall".length), args: step.toolCall[key].args, result: step.toolCall[key].result };
  });
}

function spoken(ours, theirs, counts, what) {
  same(joined(parts(ours, "user", "text")), theirs.userMessage.text, `${what}: the prompt`);
  const images = theirs.userMessage.selectedContext?.selectedImages ?? [];
  same(parts(ours, "user", "media").map(({ base64 }) => base64), images.map(({ data }) => data), `${what}: the images`);
  const said = parts(ours, "assistant"), want = steps(theirs), results = parts(ours, "tool", "tool_result");
  same(said.map(({ type }) => type), want.map(({ type }) => type), `${what}: the order of the answer`);
  for (const [i, { result, args, ...step }] of want.entries()) {
    for (const [key, value] of Object.entries(step)) same(said[i][key], value, `${what}: part ${i}`, `/${key}`);
    if (step.type !== "tool_call") continue;
    within(said[i].args, args, `${what}: the arguments of ${step.kind}`);
    const [came] = results.filter(({ call }) => call === step.id);
    if (!came) throw new Error(`${what}: the result of ${step.kind} is not there`);
    same(came.status, Object.keys(result)[0], `${what}: how ${step.kind} ended`);
    same(came.error ?? false, !("success" in result), `${what}: whether ${step.kind} failed`);
    within(came.value, result, `${what}: the result of ${step.kind}`);
    if (!came.content?.length) throw new Error(`${what}: what the model saw of ${step.kind} is not there`);
    counts.calls++;
  }
  same(results.length, want.filter(({ type }) => type === "tool_call").length, `${what}: results`);
}

// streamed holds a turn against the events of its run.
function streamed(ours, run, events, what) {
  const said = events.map(({ payload }) => payload.message), of = (type) => said.filter((m) => m.type === type);
  const told = (type) => of(type).flatMap(({ message }) => message.content).map(({ text }) => text).join("");
  same(joined(parts(ours, "user", "text")), of("user")[0].message.content[0].text, `${what}: the prompt`);
  same(joined(parts(ours, "assistant", "text")), told("assistant"), `${what}: the joined text`);
  same(joined(parts(ours, "assistant", "thinking")), of("thinking").map(({ text }) => text).join(""), `${what}: the joined thinking`);
  const calls = parts(ours, "assistant", "tool_call"), results = parts(ours, "tool", "tool_result");
  for (const id of new Set(of("tool_call").map((m) => m.call_id))) {
    const last = of("tool_call").findLast((m) => m.call_id === id), call = calls.filter((c) => c.id === id);
    same(call.length, 1, `${what}: calls named ${id}`);
    same(call[0].kind ?? call[0].name, last.name, `${what}: the name of ${id}`);
    const came = results.filter((r) => r.call === id);
    same(came.length, last.result ? 1 : 0, `${what}: results of ${last.name}`);
  }
  same(ours.status, run.status, `${what}: status`);
  same(ours.requestId, run.requestId, `${what}: request`);
  same(ours.error, run.error, `${what}: error`);
  same(ours.model, run.model?.id, `${what}: model`);
  same(Date.parse(ours.start), run.startedAt, `${what}: start`);
  if (run.endedAt) same(Date.parse(ours.end), run.endedAt, `${what}: end`);
  if (run.usage) same(ours.usage.total, run.usage.totalTokens, `${what}: usage`);
}

export function meant(version, kind, source) {
  check(`SDK ${version}, ${kind} to canonical`, () => {
    const { at, holds } = source();
    const counts = { turns: 0, calls: 0, runs: 0 };
    const found = sessions(canonical(at));
    same(found.map(({ id }) => id).sort(), holds.agents.map(({ agentId }) => agentId).sort(), "the sessions");
    for (const agent of holds.agents) {
      const ours = found.find(({ id }) => id === agent.agentId), runs = holds.runs.filter(({ agentId }) => agentId === ours.id);
      same({ title: ours.title, workspace: ours.workspace, status: ours.status, created: Date.parse(ours.created) }, { title: agent.name, workspace: agent.cwd, status: agent.status, created: agent.createdAt }, "the head");
      // What the client keeps in its state, and sends again, are the turns that came to an end. The
      // other runs are beside the conversation.
      const beside = ({ messages }) => messages.every(({ branch }) => branch), kept = ours.turns.filter((turn) => !beside(turn));
      for (const [turns, ended] of [[kept, true], [ours.turns.filter(beside), false]]) {
        same(turns.map(({ id }) => id), runs.filter(({ status }) => (status === "finished") === ended).map(({ runId }) => runId), "the order of the turns");
      }
      const told = holds.told[ours.id].messages.map(({ message }) => message.agentConversationTurn);
      same(kept.length, told.length, "turns in the client's own list");
      for (const [i, turn] of kept.entries()) spoken(turn, told[i], counts, `turn ${turn.number}`);
      for (const [i, run] of runs.entries()) streamed(ours.turns.find(({ id }) => id === run.runId), run, holds.events[run.runId], `run ${i + 1}`);
      counts.turns += told.length;
      counts.runs += runs.length;
    }
    return `${found.length} sessions: ${counts.turns} turns as its list of messages has them, with ${counts.calls} calls and their results; ${counts.runs} runs as their events tell them`;
  });
}

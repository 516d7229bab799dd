// What the sessions of Copilot CLI, OpenCode and Gemini CLI hold, as claude-sources.mjs tells it: from
// the facts about their files, and not from what rehome makes of them.
import fs from "node:fs";
import path from "node:path";
import { came, deed, given, picture, say, thought } from "./claude-items.mjs";

// collect gives functions that take what comes, and find the calls of results.
function collect() {
  const items = [], calls = new Map();
  return {
    items,
    add: (list) => { items.push(...list); },
    call(id, name, args) {
      calls.set(id, deed({ id, asked: given(name, args) }));
      items.push(calls.get(id));
    },
    result: (id, texts, error) => { if (calls.has(id)) calls.get(id).result = came(texts.filter((text) => text.trim()), error); },
  };
}

// after is a history of which only a summary and what follows it is sent.
// What their subagents did is not told here.
const after = (items, at, summary) => ({ subagents: null, now: [{ items: [{ role: "user", kind: "text", has: [summary] }, ...items.slice(at)], all: true }], full: [{ items, all: true }] });
const all = (items) => ({ subagents: null, now: [{ items, all: true }] });

// events is a session of Copilot CLI: what its subagents say stands among its events.
export function events(lines) {
  const { items, add, call, result } = collect(), assets = new Map(), list = lines.filter(({ agentId, data }) => !agentId && !data?.parentToolCallId);
  let begun = 0, summary;
  for (const { type, data } of list) {
    if (type === "session.binary_asset") assets.set(data.assetId, data.data);
    if (type === "session.compaction_start") begun = items.length;
    if (type === "session.compaction_complete" && data.success !== false) summary = { at: begun, text: data.summaryContent };
    if (type === "user.message" && !data.source) add([...say("user", data.content), ...(data.attachments ?? []).flatMap(({ assetId, data: bytes }) => picture(assets.get(assetId) ?? bytes ?? ""))]);
    if (type === "assistant.message") {
      add([...thought(data.reasoningText ?? ""), ...say("assistant", data.content)]);
      for (const { toolCallId, name, arguments: args } of data.toolRequests ?? []) call(toolCallId, name, args);
    }
    if (type === "tool.execution_complete") result(data.toolCallId, [data.result?.content ?? data.error?.message ?? ""], !data.success);
  }
  return { [list[0].data.sessionId]: summary ? after(items, summary.at, summary.text) : all(items) };
}

// rows is a session of OpenCode: its row, and messages with their parts.
function rows({ info, messages }) {
  const { items, add, call, result } = collect(), back = messages.findIndex(({ info: { id } }) => id === info.revert?.messageID);
  let summary;
  for (const { info: { role, summary: sums }, parts } of back < 0 ? messages : messages.slice(0, back)) {
    if (role === "assistant" && sums) {
      summary = { at: items.length, text: parts.flatMap(({ type, text }) => (type === "text" ? [text] : [])).join("\n") };
      continue;
    }
    for (const { type, text, synthetic, url = "", callID, tool, state } of parts) {
      if (type === "text" && !synthetic) add(say(role, text));
      if (type === "reasoning") add(thought(text));
      if (type === "file") add(picture(url.split("base64,")[1] ?? ""));
      if (type !== "tool") continue;
      call(callID, tool, state.input);
      if (state.status === "completed" || state.status === "error") result(callID, [state.output ?? state.error], state.status === "error");
    }
  }
  return { [info.id]: { title: info.title.startsWith("New session - ") ? undefined : info.title, ...(summary ? after(items, summary.at, summary.text) : all(items)) } };
}

// database is what OpenCode keeps its sessions in; without those of subagents, and those that
// are put away: the SDK does not go on with them.
export function database(query, file) {
  const [sessions, messages, parts] = query(file, "SELECT * FROM session", "SELECT * FROM message ORDER BY time_created, id", "SELECT * FROM part ORDER BY id");
  return Object.assign({}, ...sessions.filter(({ parent_id, time_archived }) => !parent_id && !time_archived).map((row) => rows({
    info: { ...row, revert: row.revert ? JSON.parse(row.revert) : undefined },
    messages: messages.filter(({ session_id }) => session_id === row.id).map(({ id, data }) => ({ info: { id, ...JSON.parse(data) }, parts: parts.filter(({ message_id }) => message_id === id).map(({ data: part }) => JSON.parse(part)) })),
  })));
}

// log is a session of Gemini CLI: lines that change those before them.
export function log(lines) {
  let messages = [];
  for (const one of lines) {
    if (one.$set?.messages) messages = [...one.$set.messages];
    if (one.$rewindTo) messages = messages.slice(0, Math.max(0, messages.findIndex(({ id }) => id === one.$rewindTo)));
    if (!one.id || !one.type) continue;
    const at = messages.findIndex(({ id }) => id === one.id);
    at < 0 ? messages.push(one) : messages.splice(at, 1, one);
  }
  const { items, add, call, result } = collect(), known = new Set();
  // A call can stand in the content and beside it.
  const calling = (id, name, args) => {
    if (!known.has(id)) call(id, name, args);
    known.add(id);
  };
  const answered = (parts) => { for (const { functionResponse: { id, response } = {} } of parts) if (response) result(id, [response.output ?? response.error], "error" in response); };
  for (const { type, content, thoughts = [], toolCalls = [] } of messages) {
    const parts = typeof content === "string" ? [{ text: content }] : content;
    if (type === "user") {
      answered(parts);
      for (const { text = "", inlineData } of parts) {
        // What a file has that the prompt names stands behind a line of the client's.
        if (inlineData && !parts.some((part) => part.functionResponse)) add(picture(inlineData.data));
        else if (text.startsWith("<state_snapshot>")) items.push({ role: "user", kind: "text", has: [text] });
        else if (!/^(<session_context>|\n--- )/.test(text)) add(say("user", text));
      }
    }
    if (type !== "gemini") continue;
    for (const { subject, description } of thoughts) items.push({ role: "assistant", kind: "text", has: [subject, description].filter(Boolean), thinking: true });
    for (const { text = "", thought: silent, functionCall: { id, name, args } = {} } of parts) {
      if (!silent) add(say("assistant", text));
      if (id) calling(id, name, args);
    }
    for (const { id, name, args, result: came_ } of toolCalls) {
      calling(id, name, args);
      answered(came_ ?? []);
    }
  }
  return { [lines[0].sessionId]: all(items) };
}

// below lists the files of a folder with this end.
const below = (at, end) => fs.readdirSync(at, { recursive: true }).filter((name) => name.endsWith(end)).sort().map((name) => path.join(at, name));

// theirs are the samples that these clients wrote themselves, and Pi.
export function theirs(root) {
  const under = (...names) => path.join(root, "testdata", ...names);
  return [
    ...below(under("pi", "home"), ".jsonl").map((at) => ({ kind: "pi", at })),
    ...below(under("copilot", "home"), "events.jsonl").map((at) => ({ kind: "copilot", at })),
    { kind: "opencode", at: under("opencode", "home", "opencode.db") },
    ...below(under("gemini", "home"), ".jsonl").map((at) => ({ kind: "gemini", at })),
  ];
}

// What sessions hold, drawn from their stores by means that are not ours: the
// SDK's own reader, node's own SQLite, JSON, and fields of protobuf by their
// numbers. Each reader gives, by session id,
//
//	{title, now: [history, …], full: [history, …], subagents: {id: items}}
//
// where a history is {items, all}, as claude-history.mjs knows it: all says that
// nothing else was said. now is what a client would go on with, full what there
// is behind a summary, too, if there is one.
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { came, deed, given, picture, say, thought } from "./claude-items.mjs";
import { session } from "./claude-lines.mjs";
import { conversation, parts, text, typed } from "./claude-state.mjs";
import { told } from "./claude-told.mjs";
import { database, events, log } from "./other-sources.mjs";
import { client, fresh } from "./tools.mjs";
import { fields } from "./wire.mjs";

// query reads from a copy, with its -wal: opening a database changes it.
function query(file, ...questions) {
  const copy = fresh("read.db");
  for (const end of ["", "-wal"]) if (fs.existsSync(file + end)) fs.copyFileSync(file + end, copy + end);
  const db = new DatabaseSync(copy);
  try {
    return questions.map((sql) => db.prepare(sql).all().map((row) => ({ ...row })));
  } finally {
    db.close();
    for (const end of ["", "-wal", "-shm"]) fs.rmSync(copy + end, { force: true });
  }
}

// A line that is no JSON nobody can read.
const parsed = (line) => { try { return [JSON.parse(line)]; } catch { return []; } };
const lines = (file) => (fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n").flatMap(parsed) : []);

const blobsOf = (rows) => new Map(rows.map(({ id, data }) => [id, Buffer.from(data)]));

// chat is a store.db of the command line client.
function chat(file) {
  const [meta, blobs] = query(file, "SELECT value FROM meta WHERE key = '0'", "SELECT id, data FROM blobs");
  const { agentId, latestRootBlobId, name } = JSON.parse(Buffer.from(text(meta[0].value), "hex")), all = blobsOf(blobs);
  return { [agentId]: { title: name, ...conversation(fields(all.get(latestRootBlobId)), all) } };
}

// spoken is what the SDK itself tells of an agent, and beside it what its store says of what the
// model was shown, which the SDK does not tell.
function spoken(one, root, blobs) {
  const held = root ? conversation(fields(blobs.get(root)), blobs) : { now: [], subagents: {}, results: new Map() };
  const history = told(one, held.results);
  const sent = held.now.map((list) => ({ ...list, all: false }));
  if (held.full) return { title: one.name, now: sent, full: [history, ...held.full], subagents: held.subagents };
  return { title: one.name, now: [history, ...sent], subagents: held.subagents };
}

// sdk is an SDK's SQLite store: an index, and a database for each agent.
function sdk(folder, says) {
  const [agents] = query(path.join(folder, "index.db"), "SELECT agent_id AS id, latest_checkpoint_ref_json AS ref FROM agents"), blobs = new Map();
  for (const name of fs.readdirSync(path.join(folder, "agents"))) {
    const [rows] = query(path.join(folder, "agents", name, "store.db"), "SELECT id, data FROM blobs");
    for (const { id, data } of rows) blobs.set(id, Buffer.from(data));
  }
  const root = (ref) => ref && (JSON.parse(ref).rootBlobId ?? JSON.parse(ref).blobId);
  return Object.fromEntries(agents.map(({ id, ref }) => [id, spoken(says[id], root(ref), blobs)]));
}

// ndjson is an SDK's store of lines.
function ndjson(folder, says) {
  const blobs = new Map(lines(path.join(folder, "checkpoints.ndjson")).map(({ blobId, dataBase64 }) => [blobId, Buffer.from(dataBase64, "base64")]));
  return Object.fromEntries(lines(path.join(folder, "agents.ndjson")).map(({ agentId: id, latestCheckpoint: ref }) => [id, spoken(says[id], ref?.rootBlobId, blobs)]));
}

// marks are the words that tell one generated text from all others.
const marks = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? "")).match(/tk\d+x|\bT\d{4,}\b/g)?.slice(0, 50) ?? [];

function rich(value) {
  const found = [];
  const walk = (node) => {
    if (typeof node?.text === "string") found.push(node.text);
    for (const child of node?.children ?? []) walk(child);
  };
  walk(JSON.parse(value).root);
  return found.join("");
}

// pathOf is the file that a call names: as the model wrote it, if that is whole, or as the client
// understood it, if nothing else is there.
const pathOf = ({ name, rawArgs, params }) => {
  const [args] = [rawArgs ?? params].flatMap((value) => (typeof value === "string" ? parsed(value) : []));
  return ["read_file", "delete_file", "edit_file"].includes(name) && typeof args?.path === "string" ? [args.path] : [];
};

// bubble is one of the IDE's: a prompt, an answer, or a call with its result.
function bubble(one) {
  if (one.type === "user" || one.type === "ai") return say(one.type === "user" ? "user" : "assistant", one.text ?? one.rawText ?? "");
  const said = one.text || (one.richText ? rich(one.richText) : "");
  if (one.type === 1) {
    const images = (one.images ?? []).flatMap(({ data }) => picture(data));
    return [...say("user", said), ...images].map((item) => ({ ...item, meta: one.isSimulatedMsg }));
  }
  const reasons = typeof one.thinking === "string" ? one.thinking : (one.thinking?.text ?? one.allThinkingBlocks?.map((block) => block.text).join("") ?? "");
  const items = [...thought(reasons), ...say("assistant", said)], call = one.toolFormerData;
  if (!call) return items;
  const item = deed({ id: call.toolCallId, has: pathOf(call) });
  if (call.status === "error") item.result = { has: marks(text(call.error)), error: true };
  else if (call.userDecision === "rejected") item.result = { has: [], error: true };
  else if (call.result) item.result = { has: marks(JSON.parse(call.result).contents) };
  return [...items, item];
}

// ide is a user folder of the IDE, whatever its generation.
function ide(folder) {
  const found = {}, titles = new Map();
  const told = (list) => ({ items: list.flatMap(bubble), all: true });
  const enter = (id, list) => { if (id && list.length) found[id] = { now: [told(list)] }; };
  const named = ({ composerId, name }) => name && titles.set(composerId, name);
  const spaces = path.join(folder, "workspaceStorage");
  for (const name of fs.existsSync(spaces) ? fs.readdirSync(spaces) : []) {
    const [rows] = query(path.join(spaces, name, "state.vscdb"), "SELECT key, value FROM ItemTable");
    const item = (key) => JSON.parse(text(rows.find((row) => row.key === key)?.value ?? "{}"));
    for (const tab of item("workbench.panel.aichat.view.aichat.chatdata").tabs ?? []) {
      titles.set(tab.tabId, tab.chatTitle);
      enter(tab.tabId, tab.bubbles);
    }
    for (const head of item("composer.composerData").allComposers ?? []) {
      named(head);
      if (head.conversation) enter(head.composerId, head.conversation);
    }
  }
  const global = path.join(folder, "globalStorage", "state.vscdb"), tables = fs.existsSync(global) ? query(global, "SELECT name FROM sqlite_master")[0].map(({ name }) => name) : [];
  const all = (table, sql) => (tables.includes(table) ? query(global, sql)[0] : []);
  for (const { value } of all("composerHeaders", "SELECT value FROM composerHeaders")) named(JSON.parse(text(value)));
  const rows = all("cursorDiskKV", "SELECT key, value FROM cursorDiskKV WHERE value IS NOT NULL");
  const disk = new Map(rows.map(({ key, value }) => [key, value]));
  for (const [key, value] of disk) {
    if (!key.startsWith("composerData:")) continue;
    const { composerId: id, name, fullConversationHeadersOnly: heads = [], conversationMap = {}, latestConversationSummary: late } = JSON.parse(text(value));
    const list = heads.map(({ bubbleId }) => (disk.has(`bubbleId:${id}:${bubbleId}`) ? JSON.parse(text(disk.get(`bubbleId:${id}:${bubbleId}`))) : conversationMap[bubbleId]));
    enter(id, list.filter(Boolean));
    named({ composerId: id, name });
    const last = late && heads.findIndex(({ bubbleId }) => bubbleId === late.truncationLastBubbleIdInclusive);
    if (late) found[id] = { full: found[id].now, now: [{ items: [{ role: "user", kind: "text", has: [late.summary.summary] }] }, told(list.slice(last + 1).filter(Boolean))] };
  }
  for (const [id, one] of Object.entries(found)) one.title = titles.get(id);
  return found;
}

// stream is a capture of the command line client's own output. Pieces of a text
// can stand in front of it.
function stream(file) {
  const found = {}, calls = new Map(), thoughts = new Map();
  for (const { type, subtype, session_id: id, message, call_id: call, tool_call: tool, text: piece = "" } of lines(file)) {
    const items = (found[id] ??= []);
    if (type === "user" || type === "assistant") items.push(...say(type, message.content.map((part) => part.text ?? "").join("")).map(({ whole: _, ...item }) => item));
    if (type === "thinking" && subtype === "delta") thoughts.set(id, (thoughts.get(id) ?? "") + piece);
    if (type === "thinking" && subtype === "completed") {
      items.push(...thought(thoughts.get(id) ?? ""));
      thoughts.delete(id);
    }
    if (type !== "tool_call" || !call) continue;
    if (subtype === "started") {
      calls.set(call, deed({ id: call }));
      items.push(calls.get(call));
    } else if (calls.has(call)) calls.get(call).result = { has: marks(Object.values(tool)[0]?.result), error: undefined };
  }
  return Object.fromEntries(Object.entries(found).map(([id, items]) => [id, { now: [{ items, all: false }] }]));
}

// aloud is an answer without the marks at its end, which stand for reasoning that a provider withheld.
const aloud = (text) => text.replace(/(?:(?:^|\n\n)\[REDACTED\])+$/, "");

// transcript is a file of lines that a client keeps for people; results of calls
// are not among them.
function transcript(file) {
  const items = [];
  for (const { role, message } of lines(file)) {
    if (!["user", "assistant"].includes(role)) continue;
    for (const part of parts(message.content)) {
      if (part.type === "text") items.push(...say(role, role === "user" ? typed(part.text) : aloud(part.text)));
      if (part.type === "tool_use") items.push(deed({ has: marks(part.input?.path) }));
    }
  }
  return { [path.basename(file, ".jsonl")]: { now: [{ items, all: true }] } };
}

// oldTranscript is the text that clients kept in 2025: blocks of two roles, in
// them words, calls by name, and what came of them.
function oldTranscript(file) {
  const items = [], open = [];
  for (const [, role, body] of fs.readFileSync(file, "utf8").matchAll(/^(user|assistant):\n([^]*?)(?=^(?:user|assistant):$|(?![^]))/gm)) {
    if (role === "user") {
      items.push(...say(role, typed(body.replace(/^Turn ended: .*$/m, "").trim())));
      continue;
    }
    for (const [, kind, rest] of `\n${body}`.replace(/\nTurn ended: .*/, "").matchAll(/(?:^|\n)(?:\[(Thinking|Tool call|Tool result)\] )?([^]*?)(?=\n\[(?:Thinking|Tool call|Tool result)\] |(?![^]))/g)) {
      const [name] = rest.split("\n");
      // Where thinking ends and words begin, nothing tells.
      if (!kind || kind === "Thinking") items.push(...say(role, rest).map(() => ({ role, kind: "text", has: rest.split("\n").filter((line) => line.trim()) })));
      if (kind === "Tool call") open.push({ name, item: items[items.push(deed({})) - 1] });
      if (kind === "Tool result") open.splice(open.findIndex((one) => one.name === name), 1)[0].item.result = { has: marks(rest) };
    }
  }
  return { [path.basename(file, ".txt")]: { now: [{ items, all: false }] } };
}

// entries is a session of Pi: the way from its last line to the first, from the last compaction on.
function entries(file) {
  const all = lines(file), at = new Map(all.map((line) => [line.id, line])), path_ = [], items = [], calls = new Map();
  for (let line = all.at(-1); line && line.type !== "session"; line = at.get(line.parentId)) path_.unshift(line);
  const last = path_.findLastIndex(({ type }) => type === "compaction"), from = last < 0 ? 0 : path_.findIndex(({ id }) => id === path_[last].firstKeptEntryId);
  if (last >= 0) items.push({ role: "user", kind: "text", has: [path_[last].summary] });
  const edited = new Map(path_.flatMap(({ type, targetId, replacement }) => (type === "context_edit" ? [[targetId, replacement.content]] : [])));
  for (const { type, id, message } of path_.slice(from).filter((_, i) => from + i !== last)) {
    if (type !== "message") continue;
    const { role } = message, list = parts(edited.get(id) ?? message.content);
    if (role === "user") items.push(...list.flatMap((part) => (part.type === "image" ? picture(part.data) : say("user", part.text))));
    if (role === "assistant") for (const part of list) {
      if (part.type === "text") items.push(...say(role, part.text));
      if (part.type === "thinking") items.push(...thought(part.thinking));
      if (part.type === "toolCall") {
        calls.set(part.id, deed({ id: part.id, asked: given(part.name, part.arguments) }));
        items.push(calls.get(part.id));
      }
    }
    if (role === "toolResult" && calls.has(message.toolCallId)) calls.get(message.toolCallId).result = came(list.flatMap((part) => (part.type === "text" ? [part.text] : [])), message.isError);
  }
  const { name } = all.findLast(({ type }) => type === "session_info") ?? {};
  return { [all[0].id]: { title: name, now: [{ items, all: true }] } };
}

// rollout is a session of Codex: its items, as they were sent to the model.
function rollout(file) {
  const items = [], calls = new Map(), all = lines(file), now = all.findLastIndex(({ type }) => type === "compacted");
  let after = 0;
  for (const [n, { type, payload }] of all.entries()) {
    const item = type === "response_item" ? payload : type ? {} : all[n];
    if (n === now) after = items.length;
    if (item.type === "message" && item.role === "assistant") items.push(...say("assistant", item.content.map(({ text }) => text).join("")));
    if (item.type === "message" && item.role === "user") {
      const typed = ({ text = "" }) => text && !/^(<|# AGENTS)/.test(text), meta = !item.content.some(typed); // old clients show the model a file's image so
      for (const part of item.content) {
        items.push(...(typed(part) ? say("user", part.text) : []), ...picture(part.image_url?.split("base64,")[1] ?? "").map((one) => ({ ...one, meta })));
      }
    }
    if (item.type === "reasoning") items.push(...thought(item.summary.map(({ text }) => text).join("\n\n")));
    if (/_call$/.test(item.type ?? "")) {
      calls.set(item.call_id, deed({ id: item.call_id, has: marks(item.arguments) }));
      items.push(calls.get(item.call_id));
    }
    if (/_call_output$/.test(item.type ?? "") && typeof item.output === "string") calls.get(item.call_id).result = came([JSON.parse(item.output.startsWith('{"output":') ? item.output : '{"output":""}').output || item.output]);
  }
  const title = items.find(({ role }) => role === "user")?.whole.trim().split("\n")[0], id = path.basename(file, ".jsonl").slice(-36);
  if (now < 0) return { [id]: { title, now: [{ items, all: false }] } };
  const summary = { role: "user", kind: "text", has: [all[now].payload.message] };
  return { [id]: { title, now: [{ items: [summary, ...items.slice(after)], all: false }], full: [{ items, all: false }] } };
}

// claude is a config folder of Claude Code. Old versions keep subagents among the sessions, and
// older ones in the file of their session.
function claude(folder) {
  const found = {}, aside = [], at = path.join(folder, "projects");
  for (const name of fs.readdirSync(at, { recursive: true }).filter((name) => name.endsWith(".jsonl"))) {
    const all = lines(path.join(at, name)), [, deeper] = name.split(path.sep).slice(1), id = path.basename(name, ".jsonl");
    if (deeper || id.startsWith("agent-")) aside.push({ id, all });
    else found[id] = { title: titled(all), subagents: {}, ...session(all) };
    for (const [first, list] of deeper ? [] : sides(all)) aside.push({ id: first, all: list });
  }
  for (const { id, all } of aside) {
    const parent = found[all.find(({ sessionId }) => sessionId)?.sessionId], { now: [{ items }] } = session(all.map((line) => ({ ...line, isSidechain: false })));
    if (parent && items.length) parent.subagents[id] = items;
  }
  return found;
}

// sides are the chains in a session's file that are not the session's own, by their first lines.
function sides(all) {
  const first = new Map(), lists = new Map();
  for (const line of all.filter((one) => one.isSidechain && one.uuid && !/^agent-/.test(one.agentId ?? ""))) {
    first.set(line.uuid, first.get(line.parentUuid) ?? line.uuid);
    lists.set(first.get(line.uuid), [...(lists.get(first.get(line.uuid)) ?? []), line]);
  }
  return lists;
}

// titled is the title of a session: the user's, or the client's.
const titled = (all) => all.findLast(({ type }) => type === "custom-title")?.customTitle ?? all.findLast(({ type }) => type === "ai-title")?.aiTitle;

const readers = {
  chat, sdk, lines: ndjson, ide, stream, transcript, text: oldTranscript, codex: rollout, pi: entries, claude,
  copilot: (file) => events(lines(file)), opencode: (file) => database(query, file), gemini: (file) => log(lines(file)),
};
const kinds = { sdk: "sqlite", lines: "ndjson" };

// read draws from stores what they hold. Those of the SDK the SDK is asked about,
// all at once.
export function read(stores) {
  const asked = stores.filter(({ kind }) => kinds[kind]);
  const said = asked.length ? client({ do: "tell", version: "1.0.32", stores: asked.map(({ kind, at }) => ({ kind: kinds[kind], at })) }) : [];
  return stores.map((store) => readers[store.kind](store.at, said[asked.indexOf(store)]));
}

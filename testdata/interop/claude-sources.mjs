// What sessions hold, drawn from their stores by means that are not ours:
// node's own SQLite, JSON, and fields of protobuf by their numbers. Each reader
// gives items as claude-history.mjs knows them, by session id.
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fresh } from "./tools.mjs";
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

const text = (value) => (typeof value === "string" ? value : Buffer.from(value).toString("utf8"));
const lines = (file) => (fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line)) : []);
const parts = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []));

// What a user typed stands in a tag among others, which hold context.
export const typed = (all) => /(?:^|\n)<user_query>\n([^]*)\n<\/user_query>\s*$/.exec(all)?.[1] ?? all;
// A long text is told apart by what is at its ends; a cut leaves no surrogate
// pair in halves.
const ends = (all) => (all.length > 4000 ? [all.slice(0, 1000).replace(/[\ud800-\udbff]$/, ""), all.slice(-1000).replace(/^[\udc00-\udfff]/, "")] : [all]);
const say = (role, all) => (all.trim() ? [{ role, kind: "text", has: ends(all) }] : []);

// picture is an image, if it is a whole one: the API refuses a session for good
// that has half of one, so such an image must not arrive.
const picture = (base64) => (/^iVBORw0KGgo.+(?:SUVORK5CYII|lFTkSuQmCC|JRU5ErkJggg)=*$/.test(base64) ? [{ role: "user", kind: "image", has: [base64] }] : []);

// prompted are the messages that the model was shown last, as Cursor keeps them
// for it: JSON of one message each.
function prompted(list) {
  const results = new Map(), items = [];
  for (const { role, content } of list) {
    if (role !== "tool") continue;
    for (const { toolCallId, result, isError } of content) {
      const shown = parts(result).filter(({ type }) => type === "text").map((part) => part.text);
      results.set(toolCallId, { has: shown.flatMap(ends), error: isError ? true : undefined });
    }
  }
  for (const { role, content, providerOptions } of list) {
    if (role === "user") {
      const whole = parts(content).filter(({ type }) => type === "text").map((part) => part.text).join("");
      if (providerOptions?.cursor?.isSummary) items.push(...say("user", whole));
      else if (/<user_query>/.test(whole)) items.push(...say("user", typed(whole)));
      for (const part of parts(content)) if (part.type === "image") items.push(...picture(Buffer.from(part.image.hex, "hex").toString("base64")));
    }
    if (role !== "assistant") continue;
    for (const part of parts(content)) {
      if (part.type === "text") items.push(...say(role, part.text));
      if (part.type === "tool-call") items.push({ role, kind: "call", has: [], result: results.get(part.toolCallId) });
    }
  }
  return items;
}

// stepped are turns as the client shows them, where nothing is kept for the
// model. Of a call no more is looked at than that it is one.
function stepped(turns, get) {
  const items = [];
  for (const id of turns) {
    const turn = fields(get(id));
    if (!turn.has(1)) continue;
    items.push(...say("user", fields(get(turn.sub(1).bytes(1))).text(1)));
    for (const step of turn.sub(1).all(2)) {
      const one = fields(get(step));
      if (one.has(1)) items.push(...say("assistant", one.sub(1).text(1)));
      if (one.has(2)) items.push({ role: "assistant", kind: "call", has: [] });
    }
  }
  return items;
}

function conversation(blobs, root) {
  const get = (id) => blobs.get(Buffer.from(id).toString("hex"));
  const state = fields(get(Buffer.from(root, "hex")));
  const prompts = state.all(1);
  if (!prompts.length) return stepped(state.all(8), get);
  return prompted(prompts.map((id) => JSON.parse(text(get(id)))));
}

const blobsOf = (rows) => new Map(rows.map(({ id, data }) => [id, Buffer.from(data)]));

// chat is a store.db of the command line client.
export function chat(file) {
  const [meta, blobs] = query(file, "SELECT value FROM meta WHERE key = '0'", "SELECT id, data FROM blobs");
  const { agentId, latestRootBlobId } = JSON.parse(Buffer.from(text(meta[0].value), "hex"));
  return { [agentId]: conversation(blobsOf(blobs), latestRootBlobId) };
}

// sdk is an SDK's SQLite store: an index, and a database for each agent.
export function sdk(folder) {
  const [agents] = query(path.join(folder, "index.db"), "SELECT agent_id, latest_checkpoint_ref_json AS ref FROM agents");
  const blobs = new Map();
  for (const name of fs.readdirSync(path.join(folder, "agents"))) {
    const [rows] = query(path.join(folder, "agents", name, "store.db"), "SELECT id, data FROM blobs");
    for (const { id, data } of rows) blobs.set(id, Buffer.from(data));
  }
  const root = (ref) => JSON.parse(ref).rootBlobId ?? JSON.parse(ref).blobId;
  return Object.fromEntries(agents.map(({ agent_id: id, ref }) => [id, ref ? conversation(blobs, root(ref)) : []]));
}

// ndjson is an SDK's store of lines.
export function ndjson(folder) {
  const blobs = new Map(lines(path.join(folder, "checkpoints.ndjson")).map(({ blobId, dataBase64 }) => [blobId, Buffer.from(dataBase64, "base64")]));
  return Object.fromEntries(lines(path.join(folder, "agents.ndjson")).map(({ agentId, latestCheckpoint }) => [agentId, latestCheckpoint ? conversation(blobs, latestCheckpoint.rootBlobId) : []]));
}

// marks are the words that tell one generated text from all others.
const marks = (value) => text(value ?? "").match(/tk\d+x/g)?.slice(0, 50) ?? [];

function rich(value) {
  const found = [];
  const walk = (node) => {
    if (typeof node?.text === "string") found.push(node.text);
    for (const child of node?.children ?? []) walk(child);
  };
  walk(JSON.parse(value).root);
  return found.join("");
}

// bubble is one of the IDE's: a prompt, an answer, or a call with its result.
function bubble(one) {
  if (one.type === "user" || one.type === "ai") return say(one.type === "user" ? "user" : "assistant", one.text ?? one.rawText ?? "");
  const said = one.text || (one.richText ? rich(one.richText) : "");
  if (one.type === 1) {
    const images = (one.images ?? []).flatMap(({ data }) => picture(data));
    return [...say("user", said), ...images];
  }
  const call = one.toolFormerData;
  if (!call) return say("assistant", said);
  const item = { role: "assistant", kind: "call", has: [] };
  if (call.status === "error") item.result = { has: marks(call.error), error: true };
  else if (call.userDecision === "rejected") item.result = { has: [], error: true };
  else if (call.result) item.result = { has: marks(JSON.parse(call.result).contents) };
  return [...say("assistant", said), item];
}

// ide is a user folder of the IDE, whatever its generation.
export function ide(folder) {
  const found = {}, enter = (id, list) => { if (list.length) found[id] = list.flatMap(bubble); };
  const spaces = path.join(folder, "workspaceStorage");
  for (const name of fs.existsSync(spaces) ? fs.readdirSync(spaces) : []) {
    const [rows] = query(path.join(spaces, name, "state.vscdb"), "SELECT key, value FROM ItemTable");
    const item = (key) => JSON.parse(text(rows.find((row) => row.key === key)?.value ?? "{}"));
    for (const tab of item("workbench.panel.aichat.view.aichat.chatdata").tabs ?? []) enter(tab.tabId, tab.bubbles);
    for (const head of item("composer.composerData").allComposers ?? []) if (head.conversation) enter(head.composerId, head.conversation);
  }
  const [rows] = query(path.join(folder, "globalStorage", "state.vscdb"), "SELECT key, value FROM cursorDiskKV WHERE value IS NOT NULL");
  const disk = new Map(rows.map(({ key, value }) => [key, value]));
  for (const [key, value] of disk) {
    if (!key.startsWith("composerData:")) continue;
    const { composerId: id, fullConversationHeadersOnly: heads = [], conversationMap = {} } = JSON.parse(text(value));
    const list = heads.map(({ bubbleId }) => (disk.has(`bubbleId:${id}:${bubbleId}`) ? JSON.parse(text(disk.get(`bubbleId:${id}:${bubbleId}`))) : conversationMap[bubbleId]));
    enter(id, list.filter(Boolean));
  }
  return found;
}

// stream is a capture of the command line client's own output.
export function stream(file) {
  const found = {};
  for (const { type, subtype, session_id: id, message, call_id: call } of lines(file)) {
    const items = (found[id] ??= []);
    if (type === "user" || type === "assistant") {
      const all = message.content.map((part) => part.text ?? "").join("");
      items.push(...say(type, all));
    }
    if (type === "tool_call" && subtype === "started" && call) items.push({ role: "assistant", kind: "call", has: [] });
  }
  return found;
}

export const readers = { chat, sdk, lines: ndjson, ide, stream };

// The judge judged: a session that is laid out as ours are, and what becomes of
// that, or of one of ours, when one thing in it is wrong.
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { folder, fresh } from "./tools.mjs";

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

// items are what the session of lines() holds.
export const items = [
  { role: "user", kind: "text", has: ["Why is the stair wet? – 雨 ☔"], whole: "Why is the stair wet? – 雨 ☔" },
  { role: "assistant", kind: "text", has: ["I will look."], whole: "I will look." },
  { role: "assistant", kind: "call", id: "call_1", has: ["Bash", "ls roof"], result: { has: ["no such roof"], error: true } },
  { role: "assistant", kind: "call", id: "call_2", has: ["Read", "/house/plan"], result: { has: ["1\tattic\n2\troof"] } },
  { role: "assistant", kind: "text", has: ["There is a hole."], whole: "There is a hole." },
  { role: "user", kind: "text", has: ["This one?"], whole: "This one?" },
  { role: "user", kind: "image", has: [pixel] },
  { role: "assistant", kind: "text", has: ["That one."], whole: "That one." },
];

// aside is what its subagent says.
export const aside = [{ role: "user", kind: "text", has: ["Look at the roof."], whole: "Look at the roof." }, { role: "assistant", kind: "text", has: ["Nothing."], whole: "Nothing." }];

function subagent(id, cwd) {
  const line = (type, parentUuid, uuid, second, message) => ({ parentUuid, isSidechain: true, agentId: "a1", type, message, uuid, timestamp: new Date(Date.UTC(2026, 4, 6, 7, 9, second)).toISOString(), userType: "external", entrypoint: "cli", cwd, sessionId: id, version: "2.1.328", gitBranch: "" });
  const [first, second] = [randomUUID(), randomUUID()];
  return [line("user", null, first, 0, { role: "user", content: aside[0].whole }), line("assistant", first, second, 1, { id: "msg_a1", type: "message", role: "assistant", model: "<synthetic>", content: [{ type: "text", text: aside[1].whole }], stop_reason: "end_turn", stop_sequence: null })];
}

function lines(id, cwd) {
  const list = [];
  let parentUuid = null, second = 0;
  const add = (type, message) => {
    const uuid = randomUUID();
    const timestamp = new Date(Date.UTC(2026, 4, 6, 7, 8, second++)).toISOString();
    list.push({ parentUuid, isSidechain: false, type, message, uuid, timestamp, userType: "external", entrypoint: "cli", cwd, sessionId: id, version: "2.1.328", gitBranch: "" });
    parentUuid = uuid;
  };
  const usage = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const said = (turn, block, stop = "end_turn") => add("assistant", { id: `msg_${turn}`, type: "message", role: "assistant", model: "<synthetic>", content: [block], stop_reason: stop, stop_sequence: null, usage });
  const came = (block) => add("user", { role: "user", content: [{ type: "tool_result", ...block }] });
  add("user", { role: "user", content: "Why is the stair wet? – 雨 ☔" });
  said(1, { type: "text", text: "I will look." }, "tool_use");
  said(1, { type: "tool_use", id: "call_1", name: "Bash", input: { command: "ls roof" } }, "tool_use");
  said(1, { type: "tool_use", id: "call_2", name: "Read", input: { file_path: "/house/plan" } }, "tool_use");
  came({ tool_use_id: "call_1", content: "no such roof", is_error: true });
  came({ tool_use_id: "call_2", content: "1\tattic\n2\troof" });
  said(2, { type: "text", text: "There is a hole." });
  add("user", { role: "user", content: [{ type: "text", text: "This one?" }, { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } }] });
  said(3, { type: "text", text: "That one." });
  list.push({ type: "ai-title", aiTitle: "A wet stair", sessionId: id });
  return list;
}

// relink makes one chain of what is left of lines.
const relink = (list) => {
  let parentUuid = null;
  for (const line of list) if (line.uuid) [line.parentUuid, parentUuid] = [parentUuid, line.uuid];
  return list;
};
const without = (list, at) => relink(list.filter((_, i) => i !== at));
const each = (list, change) => { list.forEach(change); return list; };
const at = (list, n, change) => { change(list[n], list); return list; };

const timed = (list) => each(list, (line, i) => { if (line.timestamp) line.timestamp = new Date(Date.UTC(2026, 4, 6, 7, 8, i)).toISOString(); });

// twice says something again, as a turn of its own.
const twice = (list, n) => {
  const again = JSON.parse(JSON.stringify(list[n]));
  again.uuid = randomUUID();
  if (again.message.id) again.message.id = "msg_again";
  list.splice(n + 1, 0, again);
  return timed(relink(list));
};
const only = "2.1.330"; // with it the Agent SDK is asked

// wrong is what must be found out, by either version if none is named.
export const wrong = {
  "an answer stands there twice": [(l) => twice(l, 6)],
  "a prompt stands there twice": [(l) => twice(l, 0)],
  "a call has another id": [(l) => JSON.parse(JSON.stringify(l).replaceAll("call_2", "call_9"))],
  "a call that nobody made": [(l) => {
    const [call, result] = JSON.parse(JSON.stringify([l[3], l[5]]).replaceAll("call_2", "call_0")).map((line) => ({ ...line, uuid: randomUUID() }));
    return timed(relink([...l.slice(0, 4), call, l[4], l[5], result, ...l.slice(6)]));
  }],
  "an answer says more": [(l) => at(l, 6, (line) => { line.message.content[0].text += " Or two."; })],
  "it has another title": [(l) => at(l, l.length - 1, (line) => { line.aiTitle = "A dry stair"; }), only],
  "it has no title": [(l) => l.slice(0, -1), only],
  "it belongs to another folder": [(l) => each(l, (line) => { line.cwd = "/elsewhere"; }), only],
  "the Agent SDK loses its thread": [(l) => at(l, 7, (line) => { line.parentUuid = randomUUID(); }), only],
  "its first line is a subagent's": [(l) => at(l, 0, (line) => { line.isSidechain = true; }), only],
  "its subagent is gone": [(l) => l, only, undefined, () => []],
  "its subagent says something else": [(l) => l, only, undefined, (l) => at(l, 1, (line) => { line.message.content[0].text = "A hole."; })],
  "a prompt is gone": [(l) => without(l, 0)],
  "an answer is gone": [(l) => without(l, 6)],
  "a call is gone, and its result": [(l) => relink(l.filter((_, i) => i !== 3 && i !== 5))],
  "a result is gone": [(l) => without(l, 4)],
  "the image is gone": [(l) => at(l, 7, (line) => line.message.content.pop())],
  "a result says something else": [(l) => at(l, 5, (line) => { line.message.content[0].content = "1\tcellar"; })],
  "a failed call succeeds": [(l) => at(l, 4, (line) => { delete line.message.content[0].is_error; })],
  "two answers change places": [(l) => { [l[6].message, l[8].message] = [l[8].message, l[6].message]; return l; }],
  "the chain is cut": [(l) => at(l, 6, (line) => { line.parentUuid = null; })],
  "no times": [(l) => each(l, (line) => { delete line.timestamp; }), "2.0.77"],
  "all at one time": [(l) => each(l, (line) => { line.timestamp = l[0].timestamp; }), "2.0.77"],
  "one id for all answers": [(l) => each(l, (line) => { if (line.type === "assistant") line.message.id = "msg_1"; })],
  "thinking without a signature": [(l) => at(l, 6, (line) => { line.message.content.unshift({ type: "thinking", thinking: "hm", signature: "" }); })],
  "an id that the API does not take": [(l) => JSON.parse(JSON.stringify(l).replaceAll("call_1", "call 1:x"))],
  "a tool's name that the API does not take": [(l) => at(l, 2, (line) => { line.message.content[0].name = "run a command"; })],
  "an input that is text": [(l) => at(l, 2, (line) => { line.message.content[0].input = "ls roof"; })],
  "an empty prompt": [(l) => at(l, 0, (line) => { line.message.content = ""; })],
  "a member in a block that is not the API's": [(l) => at(l, 1, (line) => { line.message.content[0].origin = "x"; })],
  "it begins with the assistant": [(l) => without(l, 0)],
  "it is named by no UUID": [(l) => l, undefined, "a-wet-stair"],
};

// lay puts a session into a config folder, whole or with one thing wrong.
export function lay(config, cwd, change = (list) => list, id = randomUUID(), beside = (list) => list) {
  const at = path.join(config, "projects", cwd.replace(/[^A-Za-z0-9]/g, "-"));
  write(path.join(at, `${id}.jsonl`), change(lines(id, cwd)));
  const more = beside(subagent(id, cwd));
  if (more.length) write(path.join(at, id, "subagents", "agent-a1.jsonl"), more);
  return { id, cwd };
}

function write(file, list) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, list.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

const last = (list, wanted) => list.findLastIndex((line) => !line.isMeta && wanted(line));
const text = (line) => typeof line.message?.content === "string" || line.message?.content[0]?.type === "text";

// spoils take one thing from a file of ours: they give the lines that stay.
export const spoils = {
  "a prompt": (list) => without(list, last(list, (line) => line.type === "user" && text(line))),
  "an answer": (list) => without(list, last(list, (line) => line.type === "assistant" && text(line))),
  "a call and its result": (list) => {
    const n = last(list, ({ message }) => message?.content[0]?.type === "tool_use"), id = list[n]?.message.content[0].id;
    return n < 0 ? undefined : relink(list.filter((line, i) => i !== n && !(Array.isArray(line.message?.content) && line.message.content.some((one) => one.tool_use_id === id))));
  },
};

// spoil copies a session's config folder and takes one thing from the session.
export function spoil({ id, at }, what) {
  const config = fresh("spoilt");
  fs.cpSync(at, config, { recursive: true, preserveTimestamps: true });
  const file = fs.readdirSync(config, { recursive: true }).map((name) => path.join(config, name)).find((name) => path.basename(name) === `${id}.jsonl`);
  const left = spoils[what](fs.readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line)));
  if (left) fs.writeFileSync(file, left.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return left && config;
}

export const place = () => ({ config: folder("config"), cwd: folder("proof é") });

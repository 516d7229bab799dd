// What the newest clients send to their models when they resume the sessions in testdata that
// are their own, reduced to what the law of order in formats/all compares: who says what, in
// which order, with which calls and results. `testdata/interop/run record` writes them into
// testdata/requests; the part of each client checks that they are what it still sends.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { blocksOf } from "./claude-rules.mjs";
import { talk, version as codexVersion } from "./codex.mjs";
import { own, talk as talkGemini, version as geminiVersion } from "./gemini.mjs";
import { talk as talkCopilot, version as copilotVersion } from "./copilot.mjs";
import { talk as talkOpenCode, version as openCodeVersion } from "./opencode.mjs";
import { talk as talkPi, version as piVersion } from "./pi.mjs";
import { canonical, check, claude, client, folder, root, same } from "./tools.mjs";

const place = path.join(root, "testdata", "requests"), below = (...names) => path.join(root, "testdata", ...names);
const prompt = "And what now?";

// brief shortens long strings to their digests, in a value of any shape. formats/all does the same.
const digest = (bytes) => `sha256:${createHash("sha256").update(bytes).digest("hex")}, ${Buffer.byteLength(bytes)} bytes`;
const brief = (value) => {
  if (typeof value === "string") return Buffer.byteLength(value) > 200 ? digest(value) : value;
  if (Array.isArray(value)) return value.map(brief);
  return value !== null && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, brief(inner)])) : value;
};

const image = (base64) => ({ kind: "image", text: digest(Buffer.from(base64, "base64")) });
// Context that the client adds anew at each start is no part of the session, and not the project's to keep.
const words = (kind, text, context = /^(?!)/) => (context.test(text) ? { kind: "context" } : { kind, text: brief(text) });
const result = (id, content, error) => ({ kind: "result", id, error: error ? true : undefined, content });

// claudeItems are the items of a request to the Messages API.
const claudeItems = (messages) => messages.filter(({ role }) => role !== "system").flatMap(({ role, content }) => blocksOf(content).map((block) => ({ role, ...claudeItem(block) })));
function claudeItem(block) {
  switch (block.type) {
    case "text": return words("text", block.text, /^\s*<system-reminder>/);
    case "thinking": return words("thinking", block.thinking);
    case "redacted_thinking": return words("thinking", block.data);
    case "image":
    case "document": return block.source.data ? image(block.source.data) : { kind: block.type, text: brief(JSON.stringify(block.source)) };
    case "tool_use": return { kind: "call", id: block.id, name: block.name, args: brief(block.input) };
    case "tool_result": return result(block.tool_use_id, blocksOf(block.content).map(claudeItem), block.is_error);
  }
  return { kind: "opaque", text: block.type };
}

// cursorItems are the items of the messages that Cursor's backend puts into the model's prompt.
const cursorItems = (messages) => messages.filter(({ role }) => role !== "system").flatMap(({ role, content }) => blocksOf(content).map((part) => ({ role, ...cursorItem(part) })));
function cursorItem(part) {
  switch (part.type) {
    case "text": return words("text", part.text);
    case "reasoning": return words("thinking", part.text ?? "");
    case "redacted-reasoning": return words("thinking", part.data ?? "");
    case "image": return image(Buffer.from(part.image.hex ?? "", "hex").toString("base64"));
    case "tool-call": return { kind: "call", id: part.toolCallId, name: part.toolName, args: brief(part.args) };
    case "tool-result": return result(part.toolCallId, blocksOf(part.experimental_content ?? part.result).map(cursorItem), part.isError);
  }
  return { kind: "opaque", text: part.type };
}

// codexItems are the items of a request to the Responses API.
const codexItems = (input) => input.filter(({ role }) => role !== "developer").flatMap((item) => {
  if (item.type === "reasoning") return [{ role: "assistant", ...words("thinking", item.summary.map(({ text }) => text).join("\n\n")) }];
  if (/_call$/.test(item.type)) return [{ role: "assistant", kind: "call", id: item.call_id, name: item.name ?? item.type, args: brief(item.arguments ? JSON.parse(item.arguments) : item.input ?? item.action) }];
  if (/_output$/.test(item.type)) return [{ role: "tool", ...result(item.call_id, codexParts(item.output), item.success === false || item.is_error) }];
  return codexParts(item.content).map((part) => ({ role: item.role, ...part }));
});
const codexParts = (content) => blocksOf(content).map((part) => (part.image_url ? image(part.image_url.split("base64,")[1]) : words("text", part.text, /^(<(environment_context|user_instructions|turn_aborted|\/?image)\b|# AGENTS)/)));

// piItems are the items of a request for a chat completion. Images of a result follow it, after
// words of the client, and a summary has a frame.
function piItems(messages) {
  const out = [], bare = (text) => /^The (?:conversation history|following is a summary)[^<]*<summary>\n([^]*?)\n?<\/summary>$/.exec(text)?.[1] ?? text;
  for (const { role, content, reasoning_content, tool_calls, tool_call_id } of messages) {
    const parts = blocksOf(content).map((part) => (part.image_url ? image(part.image_url.url.split("base64,")[1]) : words("text", bare(part.text))));
    if (role === "system" || role === "developer") continue;
    if (role === "tool") out.push({ role, ...result(tool_call_id, parts, false) });
    else if (out.at(-1)?.kind === "result" && parts[0]?.text?.startsWith("Attached image(s)")) out.at(-1).content.push(...parts.slice(1));
    else {
      if (reasoning_content) out.push({ role, ...words("thinking", reasoning_content) });
      out.push(...parts.filter(({ text }) => text !== "").map((part) => ({ role, ...part })));
      for (const { id, function: { name, arguments: args } } of tool_calls ?? []) out.push({ role, kind: "call", id, name, args: brief(JSON.parse(args)) });
    }
  }
  return out;
}

// geminiItems are the items of a request to the Gemini API. The client sends each result twice,
// as it stands with its call and in a line of its own, and ids without the name of the tool.
function geminiItems(contents) {
  const out = [], known = new Set();
  for (const { role, parts } of contents) {
    let of;
    for (const { text, inlineData, functionCall: call, functionResponse: answer } of parts) {
      const id = call || answer ? `${(call ?? answer).name}__${(call ?? answer).id}` : undefined;
      if (call) out.push({ role: "assistant", kind: "call", id, name: call.name, args: brief(call.args) });
      else if (answer) {
        of = known.has(id) ? { content: [] } : { role: "tool", ...result(id, [words("text", answer.response.output ?? answer.response.error)], "error" in answer.response) };
        if (!known.has(id)) out.push(of);
        known.add(id);
      } else if (inlineData && of) of.content.push(image(inlineData.data));
      else if (inlineData) out.push({ role, ...image(inlineData.data) });
      else out.push({ role: role === "model" ? "assistant" : role, ...words("text", text, /^<session_context>/) });
    }
  }
  return out;
}
// copilotItems are the same of Copilot CLI, which puts the time and reminders around a prompt, and
// names each image.
const copilotItems = (messages) => piItems(messages.map(({ content, ...message }) => ({ ...message, content: message.role !== "user" ? content : blocksOf(content).flatMap((part, i, all) => {
  if (all[i + 1]?.image_url) return i ? [] : [part];
  const summary = /<summary>\n([^]*)\n<\/summary>/.exec(part.text ?? "")?.[1];
  return [{ ...part, text: summary ?? part.text?.replace(/^<current_datetime>[^<]*<\/current_datetime>\s*/, "").replace(/\s*<reminder>[^]*<\/reminder>\s*$/, "") }];
}) })));

// upTo cuts the request at the new prompt, and the context that the client puts around it.
function upTo(items, said) {
  const at = items.findLastIndex(({ kind, text }) => kind === "text" && text.includes(said)), before = at < 0 ? items : items.slice(0, at);
  return before.slice(0, before.findLastIndex(({ kind }) => kind !== "context") + 1);
}

function fromClaude(version) {
  const at = folder("genuine"), cwd = folder("work"), sessions = [], project = path.join(at, "projects", cwd.replaceAll(/[^A-Za-z0-9]/g, "-"));
  for (const name of ["config", "shapes"]) {
    const from = path.join(below("claude", name), "projects", "-home-ann-app");
    fs.cpSync(from, project, { recursive: true, preserveTimestamps: true });
    for (const file of fs.readdirSync(from).filter((file) => file.endsWith(".jsonl")).sort()) sessions.push({ id: path.basename(file, ".jsonl"), cwd, at, source: `claude/${name}` });
  }
  const { resumed } = claude({ do: "resume", version, sessions });
  return sessions.map(({ id, source }, i) => {
    const { failed, messages } = resumed[i];
    const items = messages && upTo(claudeItems(messages), "Go on ");
    return { client: `Claude Code ${version}`, format: "claude-code", source, session: id, ...(items ? { items } : { refused: failed.replace(/^[^]*(No conversation found)[^]*$/, "$1").slice(0, 80) }) };
  });
}

const stores = [
  ["cursor-sdk", "sqlite", "sdk/gen/sqlite"], ["cursor-ndjson", "ndjson", "sdk/gen/jsonl"], ["cursor-ndjson", "ndjson", "sdk/play/jsonl"], ["cursor-ndjson", "ndjson", "sdk/e2e-jsonl"],
  ["cursor-sdk", "sqlite", "sdk/play/sqlite/projects/tmp-play-work/sdk-agent-store/8c37560ae74c932d947654aab2bb4124"],
  ["cursor-sdk", "sqlite", "sdk/e2e-sqlite-hot-wal/projects/tmp-e2eout-ws/sdk-agent-store/5734498605caec2da8801a5b40f5caa8"],
  ["cursor-chat", "chat", "chat/before.db"], ["cursor-chat", "chat", "chat/after.db"],
];

// cwdOf is where the agents of a store work, if it says so: the client finds them by it.
const cwdOf = (kind, at) => (kind === "chat" ? undefined : JSON.parse(fs.readFileSync(canonical(at), "utf8").split("\n")[0]).workspace);

function fromSDK(version) {
  const list = stores.map(([format, kind, source]) => {
    const one = { format, kind, source, at: below(source) };
    if (kind === "chat") fs.copyFileSync(one.at, path.join((one.at = folder("chat")), "store.db"));
    return one;
  });
  const got = client({ do: "judge", version, raw: true, prompt, cwd: "/work", stores: list.map(({ kind, at }) => ({ kind, at, cwd: cwdOf(kind, at) })) });
  return list.flatMap(({ format, source }, i) => Object.entries(got[i]).sort().map(([id, { failed, heard }]) => {
    const session = format === "cursor-chat" ? id.replace("agent-", "") : id;
    return { client: `Cursor SDK ${version}`, format, source, session, ...(failed ? { refused: failed.slice(0, 80) } : { items: cursorItems(heard.sent) }) };
  }));
}

function fromCodex() {
  const home = folder("codex"), cwd = folder("work"), store = path.join(home, ".codex");
  fs.cpSync(below("codex", "home"), store, { recursive: true, preserveTimestamps: true });
  const files = fs.readdirSync(path.join(store, "sessions"), { recursive: true }).filter((name) => name.endsWith(".jsonl")).sort(), ids = files.map((name) => path.basename(name, ".jsonl").slice(-36));
  return ids.map((session) => {
    const one = { client: `Codex ${codexVersion}`, format: "codex", source: "codex/home", session };
    try {
      const [{ heard }] = talk(home, cwd, [{ prompt, id: session }]);
      return { ...one, items: upTo(codexItems(heard[0].input), prompt) };
    } catch ({ message }) {
      return { ...one, refused: /thread\/resume failed|$/.exec(message)[0] || message };
    }
  });
}

function fromPi() {
  const home = folder("pi"), cwd = folder("work"), store = path.join(home, ".pi", "agent");
  fs.cpSync(below("pi", "home"), store, { recursive: true, preserveTimestamps: true });
  const files = fs.readdirSync(path.join(store, "sessions"), { recursive: true }).filter((name) => name.endsWith(".jsonl")).sort();
  return files.map((file) => {
    const session = path.join(store, "sessions", file);
    // The client does not resume a session whose folder is not there.
    fs.writeFileSync(session, fs.readFileSync(session, "utf8").replace(/"cwd":"[^"]*"/, `"cwd":${JSON.stringify(cwd)}`));
    const [{ heard }] = talkPi(home, cwd, [{ session, steps: [{ type: "prompt", message: prompt }] }]);
    return { client: `Pi ${piVersion}`, format: "pi", source: "pi/home", session: path.basename(file, ".jsonl").split("_")[1], items: upTo(piItems(heard[0]), prompt) };
  });
}

function fromGemini() {
  const home = folder("gemini"), chats = path.join(home, ".gemini", "tmp", "demo-project", "chats"), cwd = folder("work");
  fs.cpSync(below("gemini", "home"), path.join(home, ".gemini"), { recursive: true, preserveTimestamps: true });
  own(home, cwd);
  const ids = fs.readdirSync(chats).filter((name) => name.endsWith(".jsonl")).sort().map((name) => JSON.parse(fs.readFileSync(path.join(chats, name), "utf8").split("\n")[0]).sessionId);
  const [told] = talkGemini(home, cwd, [{ steps: ids.map((load) => ({ load, prompt })) }]);
  return told.map(({ id, failed, heard }) => {
    const one = { client: `Gemini CLI ${geminiVersion}`, format: "gemini", source: "gemini/home", session: id };
    return failed ? { ...one, refused: failed.slice(0, 80) } : { ...one, items: upTo(geminiItems(heard[0].contents), prompt) };
  });
}

function fromCopilot() {
  const from = below("copilot", "home", "session-state"), ids = fs.readdirSync(from).sort();
  const told = talkCopilot({ home: folder("copilot"), cwd: folder("work"), runs: ids.map((session) => ({ session, from: path.join(from, session), steps: [{ prompt }] })) });
  return ids.map((session, i) => ({ client: `Copilot CLI ${copilotVersion}`, format: "copilot", source: "copilot/home", session, items: upTo(copilotItems(told[i].heard[0]), prompt) }));
}

function fromOpenCode() {
  const home = folder("opencode"), cwd = folder("work"), at = path.join(home, ".local", "share", "opencode"), file = path.join(at, "opencode.db");
  fs.mkdirSync(at, { recursive: true });
  fs.copyFileSync(below("opencode", "home", "opencode.db"), file);
  const db = new DatabaseSync(file), ids = db.prepare("SELECT id FROM session ORDER BY id").all().map(({ id }) => id);
  // The client does not resume a session whose folder is not there.
  db.prepare("UPDATE session SET directory = ?").run(cwd);
  db.prepare("UPDATE project SET worktree = ? WHERE worktree <> '/'").run(cwd);
  db.close();
  const told = talkOpenCode({ home, cwd, runs: ids.map((session) => ({ session, prompt })) });
  return told.map(({ session, wrong, heard: [heard] }) => {
    const one = { client: `OpenCode ${openCodeVersion}`, format: "opencode", source: "opencode/home/opencode.db", session };
    return heard ? { ...one, items: upTo(piItems(heard), prompt) } : { ...one, refused: wrong.slice(0, 80) };
  });
}

const recorders = { claude: () => fromClaude("2.1.330"), sdk: () => fromSDK("1.0.32"), codex: fromCodex, gemini: fromGemini, pi: fromPi, copilot: fromCopilot, opencode: fromOpenCode };

const fileOf = ({ source, session }) => path.join(place, `${source.split("/").slice(0, 3).join("-").replace(/\.db$/, "")}-${session.replace(/^agent-/, "").slice(-12)}.json`);
const printed = ({ items, ...head }) => `${JSON.stringify(head).slice(0, -1)}${items ? `,"items":[\n${items.map((item) => JSON.stringify(item)).join(",\n")}\n]` : ""}}\n`;

// record writes what some of them send, or all.
export function record(...names) {
  const kept = ["apart.json", "normal.json", "README.md"];
  if (names.length === 0) for (const name of fs.readdirSync(place).filter((name) => !kept.includes(name))) fs.rmSync(path.join(place, name));
  for (const [name, from] of Object.entries(recorders).filter(([name]) => names.length === 0 || names.includes(name))) {
    check(`requests of ${name}, recorded`, () => {
      const list = from();
      for (const one of list) fs.writeFileSync(fileOf(one), printed(one));
      return `${list.length} sessions, ${list.flatMap(({ items = [] }) => items).length} items`;
    });
  }
}

// asRecorded checks that a client sends what is recorded.
export function asRecorded(name) {
  check(`requests of ${name}, as recorded`, () => {
    const list = recorders[name]();
    for (const one of list) same(JSON.parse(printed(one)), JSON.parse(fs.readFileSync(fileOf(one), "utf8")), path.basename(fileOf(one)));
    return `${list.length} sessions, ${list.flatMap(({ items = [] }) => items).length} items`;
  });
}

// The real Codex at work, and what rehome makes of its sessions.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { apart, words } from "./arrived.mjs";
import { blocksOf } from "./claude-rules.mjs";
import { canonical, check, folder, fresh, ls, once, root, same, scratch } from "./tools.mjs";

export const version = "0.169.0";
const here = path.dirname(fileURLToPath(import.meta.url));

const turns = [
  { prompt: "play: tools" },
  { prompt: "Say it again, with é and 你好.", session: 0 },
  { prompt: "play: refused", session: 0 },
  { prompt: "play: wait", session: 0, interrupt: 4000 },
  { prompt: "Look at this.", session: 0, image: "dot.png", model: "gpt-5.2" },
  { prompt: "Compact this later." },
  { prompt: "play: full", session: 5 },
  { prompt: "Go on after it.", session: 5 },
  { prompt: "A fork of the tools.", fork: 0 },
  { prompt: "Put away." },
  { archive: 9 },
];

// talk has Codex do some turns, and gives the session and what the service heard of each.
export function talk(home, cwd, turns) {
  const job = `${fresh("job")}.json`;
  fs.writeFileSync(job, JSON.stringify({ home, cwd, turns }));
  const done = spawnSync(process.execPath, ["--no-warnings", path.join(here, "codex-client.mjs"), job], { encoding: "utf8", cwd: scratch, timeout: 300_000, maxBuffer: 1 << 28 });
  if (done.status !== 0) throw new Error(`Codex: ${done.error?.message ?? done.stderr.slice(-600)}`);
  return JSON.parse(done.stdout);
}

// worked has Codex work in a home folder of its own, and gives where, and what the service heard.
export const worked = once(() => {
  const home = folder("codex é"), cwd = folder("work");
  fs.writeFileSync(path.join(cwd, "stairs.txt"), "dry\n");
  fs.writeFileSync(path.join(cwd, "AGENTS.md"), "Keep answers short.\n");
  fs.writeFileSync(path.join(cwd, "dot.png"), Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"));
  const store = path.join(home, ".codex"), told = talk(home, cwd, turns);
  const rollout = (id) => path.join(store, fs.readdirSync(store, { recursive: true }).find((name) => name.endsWith(`${id}.jsonl`)));
  return { home, cwd, store, told, rollout };
});

// rollouts are the files that Claude Code is to continue, and the fixtures of the oldest clients.
export function rollouts() {
  const { told, rollout } = worked(), below = path.join(root, "testdata", "codex", "home");
  const old = fs.readdirSync(below, { recursive: true }).filter((name) => name.endsWith(".jsonl"));
  return [...[0, 5, 9].map((turn) => rollout(told[turn].session)), ...old.map((name) => path.join(below, name))].map((at) => ({ kind: "codex", at }));
}

const plain = (content) => (typeof content === "string" ? content : content.map((part) => part.text ?? part.type).join("\n"));
const typed = (part) => !/^(<|# AGENTS)/.test(part.text ?? "<");

// heard is what the client told its service, in words of its own.
export const heard = (input) => input.flatMap((item) => {
  if (item.type === "reasoning") return [["thought", item.summary.map(({ text }) => text).join("\n\n")]];
  if (item.type === "function_call") return [["call", item.call_id, item.name, JSON.parse(item.arguments)]];
  if (item.type === "function_call_output") return [["result", item.call_id, plain(item.output).replace("input_image", "media")]];
  if (item.role === "developer") return [];
  return item.content.filter((part) => item.role === "assistant" || typed(part)).map((part) => [item.role, part.text]);
});

// read is the same, of what rehome reads.
const read = (file) => fs.readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line)).flatMap(({ role, parts = [], archived }) => parts.flatMap((part) => {
  if (archived || role === "system") return [];
  if (part.type === "thinking") return [["thought", part.text]];
  if (part.type === "tool_call") return [["call", part.id, part.name, part.input]];
  if (part.type === "tool_result") return [["result", part.call, plain(part.content)]];
  return part.type === "text" ? [[role, part.text]] : [];
}));

// understood holds what rehome reads of a session against what the client itself sent to its
// service when it resumed it the last time.
export function understood() {
  check(`Codex ${version}, read as the client tells it`, () => {
    const { told, rollout } = worked();
    const counts = [[0, 4], [8, 8]].map(([first, last]) => {
      const got = read(canonical(rollout(told[first].session))), want = heard(told[last].heard.at(-1).input);
      same(got.slice(0, -1), want, `the session of turn ${first}`); // the last answer came after
      return got.length;
    });
    return `${counts.join(" and ")} items: prompts, answers, thoughts, calls and results; a session resumed four times, and a fork of it`;
  });
  check(`Codex ${version}, listed`, () => {
    const { home, cwd, told } = worked(), { sessions, unread } = ls(home);
    same(unread, [], "something could not be read");
    const ids = [...new Set(told.flatMap(({ session }) => session ?? []))].sort();
    same(sessions.map(({ id }) => id).sort(), ids, "other sessions are listed");
    for (const { agent, project } of sessions) same({ agent, project }, { agent: "codex", project: cwd }, "a session");
    return `${ids.length} sessions, one of them archived`;
  });
}

// blocks are the items of a request as messages of the Messages API, which claude-history.mjs
// compares. The client adds context of its own.
const blocks = (input) => input.filter(({ role }) => role !== "developer").flatMap((item) => {
  const parts = (content) => blocksOf(content).map((part) => (part.image_url ? { type: "image", source: { data: part.image_url.split("base64,")[1] } } : { type: "text", text: part.text }));
  if (item.type === "function_call") return [{ role: "assistant", content: [{ type: "tool_use", id: item.call_id, name: item.name, input: JSON.parse(item.arguments) }] }];
  if (/_output$/.test(item.type)) return [{ role: "user", content: [{ type: "tool_result", tool_use_id: item.call_id, content: parts(item.output) }] }];
  return item.role ? [{ role: item.role, content: parts(item.content) }] : [];
});

// What the API cannot say: whether a call failed.
const unfailed = (lists) => lists.map(({ items, all }) => ({ all, items: items.map((item) => (item.result ? { ...item, result: { ...item.result, error: undefined } } : item)) }));

// client is Codex as arrived.mjs knows a client.
export const client = {
  name: `Codex ${version}`, format: "codex", as: unfailed,
  resume(sessions, cwd) {
    const id = ({ file }) => file.slice(-42, -6), told = new Map();
    for (const group of apart(sessions, id)) {
      const home = folder("codex"), at = path.join(home, ".codex", "sessions", "2026", "01", "01");
      fs.mkdirSync(at, { recursive: true });
      for (const { file } of group) fs.copyFileSync(file, path.join(at, path.basename(file)));
      talk(home, cwd, group.map((one) => ({ prompt: words, id: id(one) }))).forEach((turn, i) => told.set(group[i], turn));
    }
    return sessions.map((one) => {
      const heard = blocks(told.get(one).heard[0]?.input ?? []), at = heard.findLastIndex(({ content }) => content.some(({ text }) => text === words));
      return { sent: at < 0 ? undefined : heard.slice(0, at) };
    });
  },
};

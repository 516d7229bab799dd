// The real Copilot CLI at work, and what rehome makes of its sessions.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { words } from "./arrived.mjs";
import { lost } from "./claude-history.mjs";
import { came, deed, given, picture, say } from "./claude-items.mjs";
import { blocksOf } from "./claude-rules.mjs";
import { canonical, check, folder, fresh, inHome, root, scratch } from "./tools.mjs";

export const version = "1.0.102", older = "1.0.12";
const here = path.dirname(fileURLToPath(import.meta.url));

// talk has Copilot CLI do some runs, see copilot-client.mjs.
export function talk(job) {
  const file = `${fresh("job")}.json`;
  fs.writeFileSync(file, JSON.stringify(job));
  const done = spawnSync(process.execPath, ["--no-warnings", path.join(here, "copilot-client.mjs"), file], { encoding: "utf8", cwd: scratch, timeout: 600_000, maxBuffer: 1 << 29 });
  if (done.status !== 0) throw new Error(`Copilot: ${done.error?.message ?? done.stderr.slice(-600)}`);
  return JSON.parse(done.stdout);
}

// The client joins what one side says in a row, and thoughts of other clients are in the answer.
// That a tool failed, only the words of its result say.
const joined = (lists) => lists.map(({ items, all }) => ({ all, items: items.map((item) => ({ ...item, whole: undefined, result: item.result && { ...item.result, error: undefined } })) }));

// before is what was sent before the new prompt, which can be in one text with an older one.
function before(heard) {
  const at = heard.findLastIndex(({ content }) => blocksOf(content).some(({ text = "" }) => text.includes(words)));
  const older = at < 0 ? "" : blocksOf(heard[at].content).map(({ text = "" }) => text).join("").replace(/<current_datetime>[^]*$/, "").trim();
  return at < 0 ? undefined : [...heard.slice(0, at), ...(older ? [{ role: "user", content: older }] : [])];
}

// client is Copilot CLI as arrived.mjs knows a client: it lists and resumes all in one process.
export const client = {
  name: `Copilot CLI ${version}`, format: "copilot", as: joined,
  resume(sessions, cwd) {
    const runs = sessions.map(({ file }) => ({ session: path.basename(path.dirname(file)), from: path.dirname(file), steps: [{ prompt: words }] }));
    const told = talk({ home: folder("copilot"), cwd, provider: "anthropic", runs });
    return told.map(({ heard: [heard = []], wrong, listed }) => ({ sent: before(heard), wrong: wrong ?? (listed ? undefined : "it is not listed") }));
  },
};

// Damage to the lines of a session: what is done to them, and how many events cannot come back. What is not
// damaged otherwise ends with a line break.
const middle = (lines, change) => lines.flatMap((line, i) => (i === lines.findLastIndex((one) => one.includes('"type":"assistant.message"')) ? change(line) : [line]));
const whole = (lines) => `${lines.join("\n")}\n`;
const damage = {
  "zero bytes at the end": (lines) => `${whole(lines)}${"\0".repeat(512)}`,
  "a line of zero bytes": (lines) => whole(middle(lines, (line) => ["\0".repeat(64), line])),
  "U+2028 and U+2029 in a line": (lines) => whole(middle(lines, (line) => line.replace(/"content":"/, '"content":"\u2028\u2029'))),
  "a last line that is cut": (lines) => whole(lines).slice(0, -40),
  "a bad line": (lines) => whole(middle(lines, (line) => line.slice(0, -20))),
};

// kept is what rehome tells of a session that the client sends when it resumes it: not what its subagents say, and the
// older version no words beside calls.
function kept(at) {
  const items = [], calls = new Map(), lines = fs.readFileSync(canonical(at), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
  const tell = { text: (role, { text }) => say(role, text), media: (role, { data }) => (role === "user" ? picture(data ?? "") : []) };
  let sub = false;
  for (const { type, parent, role, parts = [], archived, branch } of lines) {
    if (type === "session") sub = parent !== undefined;
    const calling = parts.some((part) => part.type === "tool_call");
    for (const part of sub || archived || branch || role === "system" ? [] : parts) {
      if (calling && part.type === "text") continue;
      if (part.type === "tool_call") {
        calls.set(part.id, deed({ id: part.id, asked: given(part.name, part.input) }));
        items.push(calls.get(part.id));
      } else if (part.type === "tool_result") calls.get(part.call).result = came(part.content.flatMap(({ text = "" }) => text || []));
      else items.push(...(tell[part.type]?.(role, part) ?? []));
    }
  }
  return joined([{ items }])[0].items;
}

// repaired checks that an older version, which refuses damaged sessions, resumes them after `rehome repair`, and sends
// all that is kept of them: the genuine sessions of that version.
export function repaired() {
  const from = path.join(root, "testdata", "copilot", "home", "session-state"), ids = fs.readdirSync(from).filter((id) => fs.readFileSync(path.join(from, id, "events.jsonl"), "utf8").includes(`"copilotVersion":"${older}"`));
  const cases = ids.flatMap((id) => Object.entries(damage).map(([name, plant]) => {
    const store = folder("damaged"), at = path.join(store, "session-state", id), file = path.join(at, "events.jsonl");
    fs.cpSync(path.join(from, id), at, { recursive: true });
    fs.writeFileSync(file, plant(fs.readFileSync(file, "utf8").trimEnd().split("\n")));
    return { id, name, store };
  }));
  // That version can be told by its arguments only.
  const resume = (stores) => talk({ home: folder("copilot"), cwd: folder("work"), older, provider: "anthropic", runs: stores.map(({ id, store }) => ({ session: id, from: path.join(store, "session-state", id), steps: [{ line: words }] })) });
  for (const name of Object.keys(damage)) {
    check(`Copilot CLI ${older}, ${name}, repaired and resumed`, () => {
      const own = cases.filter((one) => one.name === name), mended = own.map(({ id, store }) => {
        const out = fresh("mended");
        inHome(folder("home"), ["repair", store, out], [0, 4]);
        return { id, store: out };
      });
      // It refuses a session with a status, in silence, and asks its service nothing.
      for (const { session, wrong, heard } of resume(own)) if (wrong === undefined || heard.length) throw new Error(`${session} is not refused`);
      const told = resume(mended);
      return own.map(({ id }, i) => {
        const { wrong, heard: [heard] } = told[i], items = kept(mended[i].store);
        if (wrong !== undefined || !heard) throw new Error(`${id} is refused after repair, too ${wrong}`);
        const gone = lost(items, before(heard));
        if (gone.length || !items.length) throw new Error(`${id}: ${JSON.stringify(gone).slice(0, 400)}`);
        return `${items.length} parts`;
      }).join(" and ");
    });
  }
}

// The real OpenCode imports what rehome writes for it, and goes on with it.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { apart, within, words } from "./arrived.mjs";
import { blocksOf } from "./claude-rules.mjs";
import { check, folder, fresh, inHome, root, run, scratch } from "./tools.mjs";

export const version = "1.18.33";
const here = path.dirname(fileURLToPath(import.meta.url)), sample = path.join(root, "testdata", "claude", "config"), quiet = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" };
const program = () => path.join(process.env.REHOME_INTEROP_MODULES, "node_modules", "opencode-ai", "bin", "opencode.exe");

// talk has OpenCode do some runs, see opencode-client.mjs.
export function talk(job) {
  const file = `${fresh("job")}.json`;
  fs.writeFileSync(file, JSON.stringify(job));
  const done = spawnSync(process.execPath, ["--no-warnings", path.join(here, "opencode-client.mjs"), file], { encoding: "utf8", cwd: scratch, timeout: 1_200_000, maxBuffer: 1 << 29 });
  if (done.status !== 0) throw new Error(`OpenCode: ${done.error?.message ?? done.stderr.slice(-600)}`);
  return JSON.parse(done.stdout);
}

// A summary is sent as the answer to a question of the client's, and is nobody's answer.
const asked = "What did we do so far?";
const is = (text) => (block) => block.text === text;

// before is what was sent before the new prompt, which can be in one message with an older one.
function before(heard = []) {
  const at = heard.findLastIndex(({ content }) => blocksOf(content).some(is(words)));
  if (at < 0) return;
  const sent = [...heard.slice(0, at), { role: "user", content: blocksOf(heard[at].content).filter((block) => !is(words)(block)) }];
  return sent.map(({ role, content }, i) => ({ role: i && blocksOf(sent[i - 1].content).some(is(asked)) ? "user" : role, content }));
}

// Subagents are not listed; their sessions can be resumed by their ids.
const isChild = ({ file }) => Boolean(JSON.parse(fs.readFileSync(file, "utf8")).info.parentID);

// client is OpenCode as arrived.mjs knows a client: it imports each file, and lists and resumes all in one process.
export const client = {
  name: `OpenCode ${version}`, format: "opencode-export", as: within,
  resume(sessions, cwd) {
    const id = ({ file }) => path.basename(file, ".json"), told = new Map();
    for (const group of apart(sessions, id)) {
      const runs = group.map((one) => ({ session: id(one), prompt: words }));
      talk({ home: folder("opencode"), cwd, provider: "anthropic", imports: group.map(({ file }) => file), runs }).forEach((one, i) => told.set(group[i], one));
    }
    return sessions.map((one) => {
      const { heard: [heard], wrong, listed } = told.get(one), found = listed === isChild(one) ? `it is ${listed ? "" : "not "}listed` : undefined;
      return { sent: before(heard), wrong: wrong ?? found };
    });
  },
};

// imported lets OpenCode import the sessions of Claude Code, and counts its rows.
export function imported() {
  check(`OpenCode ${version}, sessions of Claude Code that it imports`, () => {
    const home = folder("opencode"), cwd = folder("work é (5)"), at = path.join(home, ".claude");
    fs.cpSync(sample, at, { recursive: true });
    const { migrated } = inHome(home, ["migrate", at, "--to", "opencode", "--cwd", cwd, "--home", home]);
    const env = { ...process.env, ...quiet, HOME: home, USERPROFILE: home };
    for (const [name, dir] of [["DATA", ".local/share"], ["STATE", ".local/state"], ["CONFIG", ".config"], ["CACHE", ".cache"]]) env[`XDG_${name}_HOME`] = path.join(home, dir);
    const files = new Set();
    for (const { launch } of migrated) {
      for (const [, ...args] of launch.import) {
        run("opencode import", program(), args, { cwd: launch.dir, env });
        files.add(args.at(-1));
      }
    }
    const db = new DatabaseSync(path.join(home, ".local", "share", "opencode", "opencode.db"), { readOnly: true });
    const count = (table, where, id) => db.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${where} = ?`).get(id).n;
    let messages = 0, parts = 0;
    for (const file of files) {
      const want = JSON.parse(fs.readFileSync(file, "utf8")), id = want.info.id, all = want.messages.flatMap((m) => m.parts).length;
      if (!count("session", "id", id)) throw new Error(`${id} is not in the database`);
      const has = [count("message", "session_id", id), count("part", "session_id", id)];
      if (has[0] !== want.messages.length || has[1] !== all) throw new Error(`${id}: ${has} messages and parts, want ${want.messages.length},${all}`);
      messages += has[0];
      parts += has[1];
    }
    db.close();
    if (files.size < 6 || migrated.some(({ launch }) => launch.argv.at(-2) !== "--session")) throw new Error(`${files.size} files: ${JSON.stringify(migrated[0].launch)}`);
    return `${files.size} sessions and subagents, ${messages} messages, ${parts} parts`;
  });
}

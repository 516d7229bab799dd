// The real OpenCode imports what rehome migrates to it.
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { check, folder, inHome, root, run } from "./tools.mjs";

export const version = "1.18.33";
const sample = path.join(root, "testdata", "claude", "config"), quiet = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" };
const program = () => path.join(process.env.REHOME_INTEROP_MODULES, "node_modules", "opencode-ai", "bin", "opencode.exe");

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

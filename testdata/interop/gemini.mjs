// The real Gemini CLI at work, and what rehome makes of its sessions.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { check, examine, folder, fresh, root, scratch } from "./tools.mjs";

export const version = "0.61.0";
const here = path.dirname(fileURLToPath(import.meta.url)), sample = path.join(root, "testdata", "gemini", "home");

// talk has Gemini CLI do some runs, see gemini-client.mjs, and gives what it told and what the service heard of each.
export function talk(home, cwd, runs) {
  const job = `${fresh("job")}.json`;
  fs.writeFileSync(job, JSON.stringify({ home, cwd, runs }));
  const done = spawnSync(process.execPath, ["--no-warnings", path.join(here, "gemini-client.mjs"), job], { encoding: "utf8", cwd: scratch, timeout: 300_000, maxBuffer: 1 << 28 });
  if (done.status !== 0) throw new Error(`Gemini CLI: ${done.error?.message ?? done.stderr.slice(-600)}`);
  return JSON.parse(done.stdout);
}

// own makes the sessions of the sample those of another folder, as the client names it.
export function own(home, cwd) {
  const at = path.join(home, ".gemini"), real = fs.realpathSync(cwd);
  fs.writeFileSync(path.join(at, "projects.json"), JSON.stringify({ projects: { [real]: "demo-project" } }));
  fs.mkdirSync(path.join(at, "history", "demo-project"), { recursive: true });
  for (const dir of ["tmp", "history"]) fs.writeFileSync(path.join(at, dir, "demo-project", ".project_root"), real);
}

// deleted checks that the client deletes a session that it resumed, that `rehome check` says so
// before, and that what rehome keeps of it is what there was.
export function deleted() {
  check(`Gemini CLI ${version}, a session that it resumes, and deletes`, () => {
    const home = folder("gemini"), cwd = folder("work"), at = path.join(home, ".gemini"), chats = path.join(at, "tmp", "demo-project", "chats");
    fs.cpSync(sample, at, { recursive: true, preserveTimestamps: true });
    own(home, cwd);
    const sessions = () => fs.readdirSync(chats).filter((name) => name.endsWith(".jsonl")).sort(), before = sessions();
    const id = JSON.parse(fs.readFileSync(path.join(chats, before[0]), "utf8").split("\n")[0]).sessionId;
    talk(home, cwd, [{ args: ["--resume", id, "-p", "And what now?"] }]);
    if (!JSON.stringify(examine(at)).includes("RH499")) throw new Error("`rehome check` does not say that the session will be deleted");
    const [[{ printed }]] = talk(home, cwd, [{ args: ["--list-sessions"] }]);
    if (sessions().includes(before[0])) throw new Error(`it deletes nothing any more: rehome can write its sessions (${printed.slice(0, 200)})`);
    return "deleted by the next start; RH499 says so before";
  });
}

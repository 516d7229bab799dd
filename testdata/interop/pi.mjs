// The real Pi at work, and what rehome makes of its sessions.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { fresh, scratch } from "./tools.mjs";

export const version = "1.5.2";
const here = path.dirname(fileURLToPath(import.meta.url));

// talk has Pi do some runs, see pi-client.mjs, and gives the session and what the service heard of each.
export function talk(home, cwd, runs) {
  const job = `${fresh("job")}.json`;
  fs.writeFileSync(job, JSON.stringify({ home, cwd, runs }));
  const done = spawnSync(process.execPath, ["--no-warnings", path.join(here, "pi-client.mjs"), job], { encoding: "utf8", cwd: scratch, timeout: 300_000, maxBuffer: 1 << 28 });
  if (done.status !== 0) throw new Error(`Pi: ${done.error?.message ?? done.stderr.slice(-600)}`);
  return JSON.parse(done.stdout);
}

// The real Copilot CLI at work, and what rehome makes of its sessions.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { words } from "./arrived.mjs";
import { blocksOf } from "./claude-rules.mjs";
import { folder, fresh, scratch } from "./tools.mjs";

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

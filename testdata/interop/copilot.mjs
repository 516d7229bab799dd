// The real Copilot CLI at work, and what rehome makes of its sessions.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { counts, unlike } from "./claude-history.mjs";
import { whole } from "./claude-items.mjs";
import { blocksOf } from "./claude-rules.mjs";
import { read } from "./claude-sources.mjs";
import { reported, survived } from "./survival.mjs";
import { check, folder, fresh, rehome, scratch } from "./tools.mjs";

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

const words = "And what now? – ещё";

// The client joins what one side says in a row, and thoughts of other clients are in the answer.
// That a tool failed, only the words of its result say.
const joined = (lists) => lists.map(({ items, all }) => ({ all, items: items.map((item) => ({ ...item, whole: undefined, result: item.result && { ...item.result, error: undefined } })) }));

// before is what was sent before the new prompt, which can be in one text with an older one.
function before(heard) {
  const at = heard.findLastIndex(({ content }) => blocksOf(content).some(({ text = "" }) => text.includes(words)));
  const older = at < 0 ? "" : blocksOf(heard[at].content).map(({ text = "" }) => text).join("").replace(/<current_datetime>[^]*$/, "").trim();
  return at < 0 ? undefined : [...heard.slice(0, at), ...(older ? [{ role: "user", content: older }] : [])];
}

// arrived has Copilot CLI list and resume what came of some stores, all in one process.
export function arrived(name, list, least) {
  check(`Copilot CLI ${version}, ${name}`, () => {
    const cwd = folder("work é (4)"), sources = list(), held = read(sources), sessions = [], bad = [];
    for (const [i, { kind, at: source }] of sources.entries()) {
      const into = fresh("copilot");
      const { stores } = rehome([source, into, "--to", "copilot", "--cwd", cwd, "--allow", "unreadable"]);
      reported(kind, "copilot", stores.flatMap(({ losses = [] }) => losses));
      const written = new Map(stores.flatMap(({ sessions = [] }) => sessions).map(({ id, file }) => [id, file && path.join(into, "session-state", path.basename(path.dirname(file)))]));
      for (const [id, { now }] of Object.entries(held[i])) {
        if (!now.some(({ items }) => items.length)) continue;
        const what = `${kind} ${path.basename(path.dirname(source))}/${path.basename(source)} ${id}`;
        if (written.get(id)) sessions.push({ what, kind, now: joined(whole(now)), from: written.get(id) });
        else bad.push(`${what}: it was not written`);
      }
    }
    const runs = sessions.map(({ from }) => ({ session: path.basename(from), from, steps: [{ prompt: words }] }));
    const told = talk({ home: folder("copilot"), cwd, provider: "anthropic", runs });
    for (const [i, { what, kind, now }] of sessions.entries()) {
      const { heard: [heard = []], wrong, listed } = told[i], sent = before(heard), found = wrong ? [wrong] : sent ? unlike(now, sent) : ["the service heard nothing"];
      survived(kind, "copilot", `Copilot CLI ${version}`, now[0].items, sent);
      if (!listed) found.push("it is not listed");
      if (found.length) bad.push(`${what}: ${found.slice(0, 3).join("; ")}`);
    }
    if (bad.length) throw new Error(`${bad.length} of ${sessions.length}: ${bad.slice(0, 12).join("\n      ")}`);
    if (sessions.length < least) throw new Error(`${sessions.length} sessions, want ${least} at least`);
    const n = counts(sessions.flatMap(({ now: [{ items }] }) => items));
    return `${sessions.length} resumed: ${n.prompts} prompts, ${n.answers} answers, ${n.thoughts} thoughts, ${n.calls} calls with ${n.results} results that are known, ${n.images} images`;
  });
}

// The real Pi at work, and what rehome makes of its sessions.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { counts, unlike } from "./claude-history.mjs";
import { whole } from "./claude-items.mjs";
import { blocksOf } from "./claude-rules.mjs";
import { read } from "./claude-sources.mjs";
import { reported, survived } from "./survival.mjs";
import { canonical, check, folder, fresh, once, rehome, root, same, scratch } from "./tools.mjs";

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

const words = "And what now? – ещё";

// What Pi says of a command that the user ran itself: that it ran, with the output in the same text.
const within = (lists) => lists.map(({ items, all }) => ({ all, items: items.map((item) => (item.ran ? { ...item, whole: undefined } : item)) }));

// arrived has Pi resume what came of some stores.
export function arrived(name, list, least) {
  check(`Pi ${version}, ${name}`, () => {
    const cwd = folder("work é (3)"), sources = list(), held = read(sources), sessions = [], bad = [];
    for (const [i, { kind, at: source }] of sources.entries()) {
      const to = fresh("pi");
      const { stores } = rehome([source, to, "--to", "pi", "--cwd", cwd, "--allow", "unreadable"]);
      reported(kind, "pi", stores.flatMap(({ losses = [] }) => losses));
      const files = fs.readdirSync(to, { recursive: true }).filter((file) => file.endsWith(".jsonl")).map((file) => path.join(to, file));
      const written = new Map(stores.flatMap(({ sessions = [] }) => sessions).map(({ id, file }) => [id, files.find((one) => file && one.endsWith(path.basename(file)))]));
      for (const [id, { now, title }] of Object.entries(held[i])) {
        if (!now.some(({ items }) => items.length)) continue;
        const what = `${kind} ${path.basename(path.dirname(source))}/${path.basename(source)} ${id}`;
        if (written.get(id)) sessions.push({ what, kind, now: within(whole(now)), title, file: written.get(id) });
        else bad.push(`${what}: it was not written`);
      }
    }
    const told = talk(folder("pi"), cwd, sessions.map(({ file }) => ({ session: file, args: ["--provider", "messages", "--model", "loop-1"], steps: [{ type: "prompt", message: words }] })));
    for (const [i, { what, kind, now }] of sessions.entries()) {
      const heard = told[i].heard[0] ?? [], at = heard.findLastIndex(({ content }) => blocksOf(content).some(({ text }) => text === words));
      const before = heard.slice(0, at), found = at < 0 ? ["the service heard nothing"] : unlike(now, before);
      survived(kind, "pi", `Pi ${version}`, now[0].items, before);
      if (found.length) bad.push(`${what}: ${found.slice(0, 3).join("; ")}`);
    }
    if (bad.length) throw new Error(`${bad.length} of ${sessions.length}: ${bad.slice(0, 12).join("\n      ")}`);
    if (sessions.length < least) throw new Error(`${sessions.length} sessions, want ${least} at least`);
    const n = counts(sessions.flatMap(({ now: [{ items }] }) => items));
    return `${sessions.length} resumed: ${n.prompts} prompts, ${n.answers} answers, ${n.thoughts} thoughts, ${n.calls} calls with ${n.results} results that are known, ${n.images} images`;
  });
}

// homes are what Pi itself wrote in this run.
export const lived = once(() => {
  const home = folder("pi é"), cwd = folder("work");
  fs.writeFileSync(path.join(cwd, "stairs.txt"), "dry\n");
  fs.writeFileSync(path.join(cwd, "dot.png"), Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"));
  const say = (message) => ({ type: "prompt", message });
  const told = talk(home, cwd, [{ steps: [say("play: tools"), say("Say it again, with é and 你好."), { type: "compact" }, say("Go on.")] }, { steps: [say("Begin."), say("play: refused"), say("Begin again.")] }]);
  return { home, cwd, told };
});

// goneOn checks that Pi takes back what went on in it: a session that was converted to Pi, where one
// more turn was added, is read with that turn.
export function goneOn() {
  check(`Pi ${version}, a session of Codex that went on in it`, () => {
    const cwd = folder("work"), to = fresh("pi");
    rehome([path.join(root, "testdata", "codex", "home"), to, "--to", "pi", "--cwd", cwd]);
    const files = fs.readdirSync(to, { recursive: true }).filter((file) => file.endsWith(".jsonl")).map((file) => path.join(to, file));
    const count = (at) => fs.readFileSync(canonical(at), "utf8").split("\n").filter((line) => line.includes('"turn"')).length;
    const before = files.map(count);
    talk(folder("pi"), cwd, files.map((file) => ({ session: file, args: ["--provider", "messages", "--model", "loop-1"], steps: [{ type: "prompt", message: words }] })));
    const after = files.map(count);
    same(after, before.map((n) => n + 1), "turns");
    return `${files.length} sessions, ${after.reduce((sum, n) => sum + n)} turns`;
  });
}

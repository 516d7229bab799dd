// The real Pi at work, and what rehome makes of its sessions.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { within, words } from "./arrived.mjs";
import { blocksOf } from "./claude-rules.mjs";
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

// Pi leaves out halves of surrogate pairs.
const paired = (text) => text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "");
const said = (lists) => lists.map(({ items, all }) => ({ all, items: items.map((item) => (item.result ? { ...item, result: { ...item.result, has: item.result.has.map(paired) } } : item)) }));

// client is Pi as arrived.mjs knows a client.
export const client = {
  name: `Pi ${version}`, format: "pi", as: (lists) => said(within(lists)),
  resume(sessions, cwd) {
    const told = talk(folder("pi"), cwd, sessions.map(({ file }) => ({ session: file, args: ["--provider", "messages", "--model", "loop-1"], steps: [{ type: "prompt", message: words }] })));
    return told.map(({ heard: [heard = []] }) => {
      const at = heard.findLastIndex(({ content }) => blocksOf(content).some(({ text }) => text === words));
      return { sent: at < 0 ? undefined : heard.slice(0, at) };
    });
  },
};

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

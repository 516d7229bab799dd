// One process that has the real Claude Code work, a few at a time:
// `claude-client.mjs JOB`, the job a file of JSON, one of
//
//	{do: "resume", version, list, sessions: [{id, cwd, at}]}
//	{do: "talk", version, home, cwd, turns: [{prompt, resume, last}]}
//	{do: "list", sessions: [{id, cwd, at}]}
//	{do: "screen", version, cwd, tool, shows: [{id, at, phrases}]}
//	{do: "start", version, cwd, tool, home, command, keys, phrases}
//
// resume: at is a config folder. Each session is resumed in a copy, in a home
// folder of its own. What the API heard of each goes to standard output as JSON,
// with what became of its file and what the Agent SDK says of it.
//
// talk: prompts one after the other in one home folder, each a session of its
// own, behind another one's last, or behind what the client finds newest in the folder.
//
// list: only what the Agent SDK says of sessions.
//
// screen: each session is resumed in front of a terminal; what was there to be
// seen goes to standard output.
//
// start: a program that starts the client, in front of a terminal and with some
// keys; what was there to be seen, and when, goes to standard output.
import { execFile } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { environment, from, program, settle } from "./claude-program.mjs";
import { blocksOf } from "./claude-rules.mjs";
import { start } from "./claude-service.mjs";

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "rehome-interop-claude-")));
const heard = new Map();
// Two stores can hold one session: a prompt is told by where its session stands.
const word = ({ id, at }) => `Go on ${id} ${job.sessions.findIndex((one) => one.id === id && one.at === at)}.`;
const service = await start((body) => {
  const last = JSON.stringify(body.messages.findLast(({ role }) => role === "user") ?? "");
  for (const session of job.sessions ?? []) if (last.includes(word(session))) heard.set(word(session), [...(heard.get(word(session)) ?? []), body]);
});

// where finds a session's file: the folder is named after the working folder,
// and the name is not ours to know.
function where(config, id) {
  const projects = path.join(config, "projects");
  for (const folder of fs.readdirSync(projects)) if (fs.existsSync(path.join(projects, folder, `${id}.jsonl`))) return path.join(projects, folder);
  throw new Error(`no file for session ${id}`);
}

// copy puts a session into a home folder of its own, and gives the folder of its file. It is
// used now: while the client starts, it deletes what nobody used for 30 days.
function copy({ id, at }, home) {
  const source = where(at, id), folder = path.join(home, ".claude", "projects", path.basename(source));
  fs.mkdirSync(folder, { recursive: true });
  for (const name of [`${id}.jsonl`, id]) if (fs.existsSync(path.join(source, name))) fs.cpSync(path.join(source, name), path.join(folder, name), { recursive: true, preserveTimestamps: true });
  fs.utimesSync(path.join(folder, `${id}.jsonl`), new Date(), new Date());
  return { source, folder };
}

// ask has the client answer one prompt.
function ask(home, cwd, words) {
  const [command, ...args] = [...program(job.version), "-p", ...words];
  return new Promise((done) => {
    const child = execFile(command, args, { cwd, env: environment(home, service.port), timeout: 60_000, maxBuffer: 1 << 26 }, (error, stdout, stderr) => done({ error, stdout, stderr }));
    child.stdin.end();
  });
}

async function resume({ id, cwd, at }) {
  const prompt = word({ id, at });
  const home = fs.mkdtempSync(path.join(scratch, "home-"));
  const { source, folder } = copy({ id, at }, home);
  const begun = performance.now();
  const run = await ask(home, cwd, ["--resume", id, "--output-format", "json", prompt]);
  const found = { id, at, seconds: (performance.now() - begun) / 1000 };
  const said = (run.stderr || run.stdout).trim().slice(0, 400);
  if (run.error) found.failed = `${run.error.signal ?? `exit ${run.error.code}`}: ${said}`;
  let result = {};
  try {
    result = JSON.parse(run.stdout.trim().split("\n").at(-1));
  } catch {
    found.failed ??= `no result: ${said}`;
  }
  if (result.is_error) found.failed ??= `an error: ${result.result}`;
  found.continued = result.session_id;
  const bodies = heard.get(prompt) ?? [];
  heard.delete(prompt);
  found.requests = bodies.length;
  found.messages = bodies[0]?.messages;
  if (!fs.existsSync(path.join(folder, `${id}.jsonl`))) found.failed ??= "the client removed the session";
  else found.appended = appended(path.join(source, `${id}.jsonl`), path.join(folder, `${id}.jsonl`), prompt);
  fs.rmSync(home, { recursive: true, force: true });
  return found;
}

// appended is what the client did to the file: whether it left our lines alone,
// and where the new prompt hangs.
function appended(before, after, prompt) {
  const old = fs.readFileSync(before), now = fs.readFileSync(after);
  const lines = (bytes) => bytes.toString("utf8").split("\n").filter(Boolean).flatMap((line) => { try { return [JSON.parse(line)]; } catch { return []; } });
  const spoken = ({ type, isSidechain }) => ["user", "assistant"].includes(type) && isSidechain !== true;
  const all = lines(now), byId = new Map(all.map((line) => [line.uuid, line]));
  const asked = all.find((line) => line.type === "user" && JSON.stringify(line.message.content).includes(prompt));
  // Behind a session that ends with the user, or with a result, the client puts
  // a line of its own first.
  const ours = new Map(lines(old).map((line) => [line.uuid, line]));
  const last = lines(old).filter(spoken), end = last.at(-1);
  // 2.0.77 takes a line of several blocks apart, and writes down anew that line
  // and all behind it, under other names and with the times they had: its new
  // prompt hangs on what then is the last of ours. It does so to its own, too.
  const tail = ({ message: { content } }) => JSON.stringify(blocksOf(content).at(-1));
  const apart = job.version === "2.0.77" && last.some(({ message: { content } }) => blocksOf(content).length > 1);
  const again = (line) => apart && !ours.has(line.uuid) && line.type === end.type && line.timestamp === end.timestamp && tail(line) === tail(end);
  let up = byId.get(asked?.parentUuid);
  for (const seen = new Set(); up && !(spoken(up) && (ours.has(up.uuid) || again(up))); up = byId.get(up.parentUuid ?? up.logicalParentUuid)) {
    if (seen.has(up)) break; // the client itself can go round in circles in a file that has none of its times
    seen.add(up);
  }
  const parent = up && again(up) ? end.uuid : (up?.uuid ?? null);
  const from = lines(old).findLastIndex(({ subtype }) => subtype === "compact_boundary");
  // What the client reads: branches are in the file, and not in it.
  const chain = lines(old).slice(from + 1).filter((line) => spoken(line) && !line.isMeta && !line.rehome?.branch).map(({ uuid }) => uuid);
  return { kept: now.subarray(0, old.length).equals(old), parent, last: end?.uuid ?? null, chain };
}

// listed is what the Agent SDK says of sessions, of copies of their files.
async function listed() {
  const sdk = await import(pathToFileURL(from.resolve("@anthropic-ai/claude-agent-sdk"))), found = [];
  const groups = Map.groupBy(job.sessions, ({ at, cwd }) => JSON.stringify([at, cwd]));
  for (const [key, sessions] of groups) {
    const [at, cwd] = JSON.parse(key), config = path.join(scratch, "listed");
    fs.cpSync(at, config, { recursive: true, preserveTimestamps: true });
    process.env.CLAUDE_CONFIG_DIR = config;
    const list = await sdk.listSessions({ dir: cwd });
    for (const { id } of sessions) {
      const entry = list.find(({ sessionId }) => sessionId === id);
      const told = (list) => list.map(({ uuid, message }) => ({ uuid, message })), subagents = [];
      for (const agent of await sdk.listSubagents(id, { dir: cwd })) subagents.push(told(await sdk.getSubagentMessages(id, agent, { dir: cwd })));
      found.push({ id, at, listed: Boolean(entry), title: entry?.summary, cwd: entry?.cwd, messages: told(await sdk.getSessionMessages(id, { dir: cwd })), subagents });
    }
    fs.rmSync(config, { recursive: true });
  }
  return found;
}

const several = async (list, work) => {
  const queue = [...list.entries()], out = [];
  const worker = async () => {
    for (let next; (next = queue.shift()); ) out[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: Math.max(2, os.availableParallelism()) }, worker));
  return out;
};

async function talk() {
  const said = [];
  for (const { prompt, resume: id, last } of job.turns) {
    const words = [...(last ? ["--continue"] : id === undefined ? [] : ["--resume", typeof id === "number" ? said[id].session : id]), "--output-format", "json", "--dangerously-skip-permissions", prompt];
    const { error, stdout, stderr } = await ask(job.home, job.cwd, words);
    if (error) throw new Error(`${prompt}: ${error.message.slice(0, 200)}: ${(stderr || stdout).slice(0, 300)}`);
    const result = JSON.parse(stdout.trim().split("\n").at(-1));
    said.push({ session: result.session_id, result: result.result });
  }
  return said;
}

// before has a program work in front of a terminal.
function before(task, env) {
  const whole = { dir: job.cwd, env: Object.entries({ ...env, TERM: "xterm-256color", LANG: "C.UTF-8" }).map((pair) => pair.join("=")), seconds: 60, ...task };
  return new Promise((done, failed) => {
    const child = execFile(job.tool, ["terminal"], { timeout: 90_000, maxBuffer: 1 << 26 }, (error, stdout, stderr) => (error ? failed(new Error(`${error.message}: ${stderr}`)) : done(JSON.parse(stdout))));
    child.stdin.end(JSON.stringify(whole));
  });
}

function show({ id, at, phrases }) {
  const home = fs.mkdtempSync(path.join(scratch, "home-"));
  settle(home, job.version, job.cwd);
  copy({ id, at }, home);
  return before({ command: [...program(job.version), "--resume", id, "--verbose"], rows: 400, columns: 120, phrases }, environment(home, service.port));
}

function startIt() {
  const { home, command, keys, phrases } = job, bin = path.join(scratch, "bin");
  settle(home, job.version, job.cwd);
  fs.mkdirSync(bin);
  fs.writeFileSync(path.join(bin, "claude"), `#!/bin/sh\nexec ${program(job.version).map((word) => `'${word}'`).join(" ")} "$@"\n`, { mode: 0o755 });
  const env = environment(home, service.port);
  return before({ command, keys, phrases, rows: 40, columns: 100 }, { ...env, PATH: `${bin}:/usr/bin:/bin` });
}

const jobs = {
  resume: async () => ({ resumed: await several(job.sessions, resume), listed: job.list ? await listed() : [] }),
  talk,
  list: listed,
  screen: () => several(job.shows, show),
  start: startIt,
};

try {
  const out = JSON.stringify(await jobs[job.do]());
  service.close();
  fs.rmSync(scratch, { recursive: true, force: true });
  process.stdout.write(out, () => process.exit(0));
} catch (error) {
  process.stderr.write(`${error.name}: ${error.message.slice(0, 500)}\n${error.stack.slice(0, 600)}\n`, () => process.exit(1));
}

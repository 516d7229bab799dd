// One process that resumes many sessions with the real Claude Code, a few at a
// time: `claude-client.mjs JOB`, the job a file of JSON
//
//	{version, list, sessions: [{id, cwd, at}]}
//
// where at is a config folder. Each session is resumed in a copy, with a home
// folder of its own, no network but the stand-in, and no setting of the user's.
// What the API heard of each goes to standard output as JSON, with what became
// of its file and what the Agent SDK says of it.
import { execFile } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { blocksOf } from "./claude-rules.mjs";
import { start } from "./claude-service.mjs";

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const from = createRequire(path.join(process.env.REHOME_INTEROP_MODULES, "package.json"));

// The newer client is a program for each platform, the older one a script.
function program() {
  if (job.version === "2.0.77") return [process.execPath, path.join(path.dirname(from.resolve("claude-code-2.0.77/package.json")), "cli.js")];
  const musl = process.report?.getReport().header.glibcVersionRuntime === undefined && process.platform === "linux" ? "-musl" : "";
  const dir = path.dirname(from.resolve(`@anthropic-ai/claude-code-${process.platform}-${process.arch}${musl}/package.json`));
  return [path.join(dir, process.platform === "win32" ? "claude.exe" : "claude")];
}

function environment(config, home, port) {
  const env = { HOME: home, USERPROFILE: home, CLAUDE_CONFIG_DIR: config, ANTHROPIC_API_KEY: "stand-in", ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` };
  for (const name of ["PATH", "LANG", "TMPDIR", "SystemRoot"]) if (process.env[name]) env[name] = process.env[name];
  for (const name of ["DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "IS_SANDBOX"]) env[name] = "1";
  return env;
}

const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "rehome-interop-claude-")));
const heard = new Map();
// Two stores can hold one session: a prompt is told by where its session stands.
const word = ({ id, at }) => `Go on ${id} ${job.sessions.findIndex((one) => one.id === id && one.at === at)}.`;
const service = await start((body) => {
  const last = JSON.stringify(body.messages.findLast(({ role }) => role === "user") ?? "");
  for (const session of job.sessions) if (last.includes(word(session))) heard.set(word(session), [...(heard.get(word(session)) ?? []), body]);
});

// where finds a session's file: the folder is named after the working folder,
// and the name is not ours to know.
function where(config, id) {
  const projects = path.join(config, "projects");
  for (const folder of fs.readdirSync(projects)) if (fs.existsSync(path.join(projects, folder, `${id}.jsonl`))) return path.join(projects, folder);
  throw new Error(`no file for session ${id}`);
}

async function resume({ id, cwd, at }) {
  const prompt = word({ id, at });
  const home = fs.mkdtempSync(path.join(scratch, "home-"));
  const config = path.join(home, ".claude"), source = where(at, id), folder = path.join(config, "projects", path.basename(source));
  fs.mkdirSync(folder, { recursive: true });
  for (const name of [`${id}.jsonl`, id]) if (fs.existsSync(path.join(source, name))) fs.cpSync(path.join(source, name), path.join(folder, name), { recursive: true, preserveTimestamps: true });
  const [command, ...args] = [...program(), "-p", "--resume", id, "--output-format", "json", prompt];
  const begun = performance.now();
  const run = await new Promise((done) => {
    const child = execFile(command, args, { cwd, env: environment(config, home, service.port), timeout: 60_000, maxBuffer: 1 << 26 }, (error, stdout, stderr) => done({ error, stdout, stderr }));
    child.stdin.end();
  });
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
  return { kept: now.subarray(0, old.length).equals(old), parent, last: end?.uuid ?? null, shown: last.findLast(({ isMeta }) => !isMeta)?.uuid ?? null };
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
      const messages = await sdk.getSessionMessages(id, { dir: cwd }), subagents = [];
      for (const agent of await sdk.listSubagents(id, { dir: cwd })) subagents.push((await sdk.getSubagentMessages(id, agent, { dir: cwd })).length);
      found.push({ id, at, listed: Boolean(entry), title: entry?.summary, cwd: entry?.cwd, messages: messages.map(({ uuid }) => uuid), subagents });
    }
    fs.rmSync(config, { recursive: true });
  }
  return found;
}

try {
  const queue = [...job.sessions], resumed = [];
  const worker = async () => {
    for (let next; (next = queue.shift()); ) resumed.push(await resume(next));
  };
  await Promise.all(Array.from({ length: Math.max(2, os.availableParallelism()) }, worker));
  service.close();
  const out = JSON.stringify({ resumed, listed: job.list ? await listed() : [] });
  fs.rmSync(scratch, { recursive: true, force: true });
  process.stdout.write(out, () => process.exit(0));
} catch (error) {
  process.stderr.write(`${error.name}: ${error.message.slice(0, 500)}\n${error.stack.slice(0, 600)}\n`, () => process.exit(1));
}

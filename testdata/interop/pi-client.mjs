// One process that has the real Pi work: `pi-client.mjs JOB`, the job a file of JSON, {home,
// cwd, runs: [{session, args, steps}]}. A run is one process of the client in its RPC mode,
// that goes on with a session (a path or an id) or begins one. A step is a command of that
// mode, such as {type: "prompt", message}; or {tree: NAME, args}, which is done with the
// client's own library between two processes, on the session so far: NAME is a method of its
// SessionManager, and an argument {prompt: TEXT} stands for the id of the line with that
// prompt. What the service heard goes to standard output, by run, with the file of the session.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";
import { said, start } from "./pi-service.mjs";

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const package_ = path.join(process.env.REHOME_INTEROP_MODULES, "node_modules", "@earendil-works", "pi-coding-agent");
const { bin } = JSON.parse(fs.readFileSync(path.join(package_, "package.json"), "utf8"));
const client = path.join(package_, typeof bin === "string" ? bin : bin.pi);
const service = await start();
const agent = path.join(job.home, ".pi", "agent");

fs.mkdirSync(agent, { recursive: true });
const model = (id) => ({ id, reasoning: true, input: ["text", "image"], contextWindow: 200_000 });
fs.writeFileSync(path.join(agent, "models.json"), JSON.stringify({
  providers: {
    messages: { baseUrl: `http://127.0.0.1:${service.port}`, api: "anthropic-messages", apiKey: "k", models: [model("loop-1")] },
    standin: { baseUrl: `http://127.0.0.1:${service.port}/v1`, api: "openai-completions", apiKey: "k", models: [model("loop-1"), model("loop-2")] },
  },
}));
fs.writeFileSync(path.join(agent, "settings.json"), JSON.stringify({ compaction: { enabled: true, keepRecentTokens: 1 }, retry: { enabled: false } }));

const env = { HOME: job.home, USERPROFILE: job.home, PI_OFFLINE: "1", TZ: "UTC" };
for (const name of ["PATH", "LANG", "TMPDIR", "SystemRoot"]) if (process.env[name]) env[name] = process.env[name];

// run has one process of the client do some commands, and gives the file of its session.
async function run(session, args, steps) {
  const flags = ["--mode", "rpc", ...(args ?? ["--provider", "standin", "--model", "loop-1"]), ...(session ? ["--session", session] : [])];
  const child = spawn(process.execPath, [client, ...flags], { cwd: job.cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  let trouble = "", wait = () => {};
  child.stderr.on("data", (part) => (trouble += part));
  const closed = new Promise((done) => child.on("close", done));
  const events = [];
  readline.createInterface({ input: child.stdout }).on("line", (line) => {
    events.push(JSON.parse(line));
    wait();
  });
  const seen = async (is) => {
    for (;;) {
      const at = events.findIndex(is);
      if (at >= 0) return events.splice(0, at + 1).at(-1);
      const more = await Promise.race([new Promise((done) => (wait = () => done(true))), closed.then(() => false)]);
      if (!more && !events.some(is)) throw new Error(`${JSON.stringify(flags)}: ${trouble.slice(-800)}`);
    }
  };
  let n = 0;
  const ask = async (command) => {
    const id = `c${++n}`;
    child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
    const answer = await seen((event) => event.type === "response" && event.id === id);
    if (!answer.success) throw new Error(`${JSON.stringify(command)}: ${JSON.stringify(answer)}`);
    if (command.type === "prompt") await seen((event) => event.type === "agent_end");
    return answer.data;
  };
  for (const step of steps) await ask(step);
  const { sessionFile } = await ask({ type: "get_state" });
  child.stdin.end();
  await closed;
  clearTimeout(timer);
  return sessionFile;
}

// tree works on the lines of a session with the client's library.
async function tree(file, name, args) {
  const { SessionManager } = await import(pathToFileURL(path.join(package_, "dist", "index.js")).href);
  const manager = SessionManager.open(file);
  const line = (words) => manager.getEntries().find(({ message }) => message?.role === "user" && said(message.content) === words).id;
  const id = (arg) => (arg?.prompt ? line(arg.prompt) : arg?.before ? manager.getEntry(line(arg.before)).parentId : arg);
  manager[name](...args.map(id));
}

const told = [];
for (const { session, args, steps } of job.runs) {
  const before = service.bodies.length;
  let file = typeof session === "number" ? told[session].file : session;
  for (let at = 0; at < steps.length; ) {
    if (steps[at].tree) {
      await tree(file, steps[at].tree, steps[at].args);
      at++;
      continue;
    }
    let end = steps.findIndex((step, i) => i > at && step.tree);
    if (end < 0) end = steps.length;
    file = await run(file, args, steps.slice(at, end));
    at = end;
  }
  told.push({ file, heard: service.bodies.slice(before).map(({ messages }) => messages) });
}
service.close();
process.stdout.write(JSON.stringify(told), () => process.exit(0));

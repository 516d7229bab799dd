// One process that has the real Gemini CLI work: `gemini-client.mjs JOB`, the job a file of JSON,
// {home, cwd, runs: [{args}, {steps}]}. A run is one process of the client: with arguments, what
// it prints; or in its ACP mode, with steps: {load: ID}, or {} for a session of its own, and a
// prompt, a text or a list of blocks. What the service heard goes to standard output, by step,
// with what the client told or printed.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { start } from "./gemini-service.mjs";

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const client = path.join(process.env.REHOME_INTEROP_MODULES, "node_modules", "@google", "gemini-cli", "bundle", "gemini.js");
const service = await start();
const own = path.join(job.home, ".gemini");
fs.mkdirSync(own, { recursive: true });
const settings = {
  security: { auth: { selectedType: "gemini-api-key" } }, privacy: { usageStatisticsEnabled: false }, general: { disableAutoUpdate: true, sessionRetention: { maxAge: "3650d" } },
  tools: { useRipgrep: false }, agents: { overrides: { codebase_investigator: { enabled: true } } },
};
fs.writeFileSync(path.join(own, "settings.json"), JSON.stringify(settings));
const env = { HOME: job.home, USERPROFILE: job.home, TZ: "UTC", GEMINI_API_KEY: "k", GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${service.port}`, GEMINI_CLI_TRUST_WORKSPACE: "true", GEMINI_CLI_NO_RELAUNCH: "true" };
for (const name of ["PATH", "LANG", "TMPDIR", "SystemRoot"]) if (process.env[name]) env[name] = process.env[name];

function begin(args) {
  const child = spawn(process.execPath, [client, "-m", "gemini-2.5-pro", "--approval-mode", "yolo", ...args], { cwd: job.cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), 240_000);
  const one = { child, trouble: "" };
  child.stderr.on("data", (part) => (one.trouble += part));
  one.closed = new Promise((done) => child.on("close", done)).finally(() => clearTimeout(timer));
  return one;
}

async function print(args) {
  const one = begin(args), before = service.bodies.length;
  let printed = "";
  one.child.stdout.on("data", (part) => (printed += part));
  one.child.stdin.end();
  await one.closed;
  return [{ printed: printed + one.trouble, heard: service.bodies.slice(before) }];
}

// talk has one process do steps, over ACP.
async function talk(steps) {
  const one = begin(["--acp"]), waits = new Map(), out = [];
  let told = [], n = 0;
  const send = (message) => one.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = (method, params) => new Promise((done, fail) => {
    waits.set(++n, { done, fail });
    send({ id: n, method, params });
  });
  one.closed.then(() => waits.forEach(({ fail }) => fail(new Error(`Gemini CLI ended: ${one.trouble.slice(-800)}`))));
  readline.createInterface({ input: one.child.stdout }).on("line", (line) => {
    if (!line.startsWith("{")) return;
    const message = JSON.parse(line);
    if (message.method === "session/update") told.push(message.params.update);
    else if (message.method) send({ id: message.id, result: { outcome: { outcome: "selected", optionId: "proceed_once" } } });
    else if (message.error) waits.get(message.id)?.fail(new Error(JSON.stringify(message.error)));
    else waits.get(message.id)?.done(message.result);
  });
  await ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  let id;
  for (const { load, begin, prompt } of steps) {
    const before = service.bodies.length, step = { id };
    told = [];
    try {
      if (load) await ask("session/load", { sessionId: (id = load), cwd: job.cwd, mcpServers: [] });
      else if (begin || !id) ({ sessionId: id } = await ask("session/new", { cwd: job.cwd, mcpServers: [] }));
      if (prompt) await ask("session/prompt", { sessionId: id, prompt: typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt });
    } catch (error) {
      step.failed = error.message;
    }
    out.push({ ...step, id, told, heard: service.bodies.slice(before) });
  }
  one.child.stdin.end();
  await Promise.race([one.closed, new Promise((done) => setTimeout(done, 10_000)).then(() => one.child.kill())]);
  await one.closed;
  return out;
}

const done = [];
for (const { args, steps } of job.runs) done.push(args ? await print(args) : await talk(steps));
service.close();
process.stdout.write(JSON.stringify(done), () => process.exit(0));

// One process that has the real Copilot CLI work: `copilot-client.mjs JOB`, the job a file of
// JSON, {home, cwd, older, provider, args, runs: [{session, from, steps}]}. A run goes on with a session, by its id,
// or begins one, or puts the folder of one into the home first; all in one process of the client, which is told by the Agent Client Protocol.
// A step is {prompt, image, cancel}: cancel is after how many milliseconds the user interrupts
// it; {line} is a prompt for a process of its own, `copilot --resume=ID -p`. older is a version
// to use instead, and provider the kind of service: openai or anthropic. What the service heard goes to standard output, by run, with the id of the
// session, whether the client listed it, what it said when it was loaded, and what went wrong.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { open } from "./acp.mjs";
import { start } from "./copilot-service.mjs";

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const modules = path.join(process.env.REHOME_INTEROP_MODULES, "node_modules");
const client = job.older
  ? [process.execPath, path.join(modules, `copilot-${job.older}`, "npm-loader.js")]
  : [process.execPath, path.join(modules, "@github", "copilot", "npm-loader.js")];
const service = await start(job.cwd);

const env = {
  HOME: job.home, USERPROFILE: job.home, TZ: "UTC", XDG_CACHE_HOME: path.join(process.env.REHOME_INTEROP_MODULES, "copilot"),
  COPILOT_OFFLINE: "true", COPILOT_AUTO_UPDATE: "false", COPILOT_MODEL: "loop-1",
  COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${service.port}${job.provider === "anthropic" ? "" : "/v1"}`, COPILOT_PROVIDER_TYPE: job.provider ?? "openai", COPILOT_PROVIDER_API_KEY: "k",
  COPILOT_PROVIDER_MAX_PROMPT_TOKENS: "5000000", // of longer sessions it sends the end
};
for (const name of ["PATH", "LANG", "TMPDIR", "SystemRoot"]) if (process.env[name]) env[name] = process.env[name];

// line has a process of its own say something.
function line(session, prompt) {
  return new Promise((done) => {
    const child = spawn(client[0], [...client.slice(1), ...(session ? [`--resume=${session}`] : []), "--allow-all-tools", ...(job.args ?? []), "-p", prompt], { cwd: job.cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (out += part));
    const timer = setTimeout(() => child.kill("SIGKILL"), 120_000);
    child.on("close", (code) => (clearTimeout(timer), done(code === 0 ? undefined : out.slice(-600))));
  });
}

const told = [], block = ({ prompt, image }) => [{ type: "text", text: prompt }, ...(image ? [{ type: "image", mimeType: "image/png", data: fs.readFileSync(image, "base64") }] : [])];
const one = job.runs.some(({ steps }) => steps.some(({ prompt }) => prompt)) || job.runs.some(({ steps }) => !steps.length) ? open("Copilot", [...client, "--acp", "--allow-all", ...(job.args ?? [])], { cwd: job.cwd, env }) : undefined;
await one?.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
for (const { session, from, steps } of job.runs) {
  const before = service.bodies.length, at = typeof session === "number" ? told[session].session : session, told_ = { session: at, heard: [], shown: [] };
  if (from) {
    const place = path.join(job.home, ".copilot", "session-state", session);
    fs.rmSync(place, { recursive: true, force: true });
    fs.cpSync(from, place, { recursive: true });
  }
  try {
    if (!steps.length || steps.some(({ prompt }) => prompt)) {
      const seen = one.updates.length;
      told_.listed = at && (await one.ask("session/list", {})).sessions.some(({ sessionId }) => sessionId === at);
      if (at) await one.ask("session/load", { sessionId: at, cwd: job.cwd, mcpServers: [] });
      else told_.session = (await one.ask("session/new", { cwd: job.cwd, mcpServers: [] })).sessionId;
      told_.shown = one.updates.slice(seen).map(({ update }) => update);
    }
    for (const step of steps) {
      if (step.line) told_.wrong = await line(told_.session, step.line);
      else {
        if (step.cancel) setTimeout(() => one.tell("session/cancel", { sessionId: told_.session }), step.cancel);
        await one.ask("session/prompt", { sessionId: told_.session, prompt: block(step) });
      }
    }
    if (one && !job.older) await one.ask("session/close", { sessionId: told_.session });
  } catch (error) {
    told_.wrong = error.message;
  }
  told_.heard = service.bodies.slice(before).map(({ messages }) => messages);
  told.push(told_);
}
await one?.end();
service.close();
process.stdout.write(JSON.stringify(told), () => process.exit(0));

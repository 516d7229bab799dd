// One process that has the real Codex work: `codex-client.mjs JOB`, the job a
// file of JSON, {home, cwd, turns: [{prompt, session, id, fork, model, image,
// interrupt, archive}]}. Each turn is a process of its own: a new session, or
// one that goes on with, or forks, the session of an earlier turn, by its number,
// or goes on with one by its id.
// interrupt is after how many milliseconds the user interrupts it; archive is a
// session to archive instead. What the service heard goes to standard output,
// by turn, with the id of its session.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { start } from "./codex-service.mjs";

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const from = createRequire(path.join(process.env.REHOME_INTEROP_MODULES, "package.json"));
const codex = path.join(path.dirname(from.resolve("@openai/codex/package.json")), "bin", "codex.js");
const service = await start();
const store = path.join(job.home, ".codex");

fs.mkdirSync(store, { recursive: true });
fs.writeFileSync(path.join(store, "instructions.md"), "You are a coding agent.\n");
fs.writeFileSync(path.join(store, "config.toml"), `model = "gpt-5.2-codex"
model_provider = "standin"
model_instructions_file = ${JSON.stringify(path.join(store, "instructions.md"))}
model_auto_compact_token_limit = 100000
include_permissions_instructions = false
check_for_update_on_startup = false
[skills]
include_instructions = false
[features]
memories = false
[analytics]
enabled = false
[model_providers.standin]
name = "Stand-in"
base_url = "http://127.0.0.1:${service.port}/v1"
wire_api = "responses"
env_key = "STANDIN_KEY"
request_max_retries = 0
stream_max_retries = 0
`);

const env = { HOME: job.home, USERPROFILE: job.home, CODEX_HOME: store, STANDIN_KEY: "the-stand-in-takes-any-key", TZ: "UTC" };
for (const name of ["PATH", "LANG", "TMPDIR", "SystemRoot"]) if (process.env[name]) env[name] = process.env[name];

// run has the client do one thing. An interrupted or a refused turn ends with a
// status of its own.
function run(args, interrupt) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [codex, ...args], { cwd: job.cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const out of [child.stdout, child.stderr]) out.on("data", (part) => (said += part));
    const timers = [setTimeout(() => child.kill("SIGKILL"), 60_000)];
    // The time counts from when the service was asked: a busy machine takes seconds until then.
    const before = service.bodies.length, asked = () => timers.push(service.bodies.length > before ? setTimeout(() => child.kill("SIGINT"), interrupt) : setTimeout(asked, 100));
    if (interrupt) asked();
    child.on("close", () => { timers.forEach(clearTimeout); done(said); });
  });
}

const told = [];
for (const { prompt, session, id: old, fork, model, image, interrupt, archive } of job.turns) {
  const before = service.bodies.length, of = (turn) => told[turn].session;
  if (archive !== undefined) {
    await run(["archive", of(archive)]);
    told.push({});
    continue;
  }
  const verb = old ? ["resume", old] : session !== undefined ? ["resume", of(session)] : fork !== undefined ? ["fork", of(fork)] : [];
  const flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", ...(model ? ["-m", model] : []), ...(image ? ["-i", image] : [])];
  const said = await run(["exec", ...verb, ...flags, "--", prompt], interrupt);
  const id = /^session id: (\S+)$/m.exec(said)?.[1];
  if (!id) {
    process.stderr.write(`${prompt}: ${said.slice(-500)}\n`);
    process.exit(1);
  }
  told.push({ session: id, heard: service.bodies.slice(before).map(({ model: used, input }) => ({ model: used, input })) });
}
service.close();
process.stdout.write(JSON.stringify(told), () => process.exit(0));

// One process that has the real OpenCode work: `opencode-client.mjs JOB`, the job a file of JSON,
// {home, cwd, provider, imports, runs: [{session, prompt}]}. It imports files, each in a process
// of its own, and then goes on with sessions, by their ids, all in one process of the client,
// which is told by the Agent Client Protocol. provider is the kind of service: openai or
// anthropic. What the service heard goes to standard output, by run, with whether the client
// listed the session, what it said when it was loaded, and what went wrong.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { open } from "./acp.mjs";
import { start } from "./pi-service.mjs";

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const program = path.join(process.env.REHOME_INTEROP_MODULES, "node_modules", "opencode-ai", "bin", "opencode.exe");
const service = await start();
const sdk = { openai: "@ai-sdk/openai-compatible", anthropic: "@ai-sdk/anthropic" }[job.provider ?? "openai"];
const model = { limit: { context: 500_000, output: 4_000 }, tool_call: true, reasoning: true, attachment: true, modalities: { input: ["text", "image"], output: ["text"] } };
const config = {
  autoupdate: false, share: "disabled", model: "loop/loop-1", small_model: "loop/loop-1", permission: { "*": "allow" },
  provider: { loop: { npm: sdk, options: { baseURL: `http://127.0.0.1:${service.port}/v1`, apiKey: "k" }, models: { "loop-1": model } } },
};
const env = {
  HOME: job.home, USERPROFILE: job.home, TZ: "UTC", OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
  OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1", OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
};
for (const name of ["PATH", "LANG", "TMPDIR", "SystemRoot"]) if (process.env[name]) env[name] = process.env[name];

for (const file of job.imports ?? []) {
  const done = spawnSync(program, ["import", file], { cwd: job.cwd, env, encoding: "utf8", timeout: 120_000 });
  if (done.status !== 0) throw new Error(`opencode import ${path.basename(file)}: ${(done.stderr || done.stdout).slice(-600)}`);
}
const client = open("OpenCode", [program, "acp"], { cwd: job.cwd, env }), told = [];
await client.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
const listed = new Set();
for (let cursor; ; ) {
  const { sessions, nextCursor } = await client.ask("session/list", { cwd: job.cwd, cursor });
  for (const { sessionId } of sessions) listed.add(sessionId);
  if (!(cursor = nextCursor)) break;
}
for (const { session, prompt } of job.runs) {
  const before = service.bodies.length, seen = client.updates.length, one = { session, listed: listed.has(session) };
  try {
    await client.ask("session/load", { sessionId: session, cwd: job.cwd, mcpServers: [] });
    one.shown = client.updates.slice(seen).map(({ update }) => update);
    await client.ask("session/prompt", { sessionId: session, prompt: [{ type: "text", text: prompt }] });
  } catch (error) {
    one.wrong = error.message;
  }
  told.push({ ...one, heard: service.bodies.slice(before).map(({ messages }) => messages) });
}
await client.end();
service.close();
process.stdout.write(JSON.stringify(told), () => process.exit(0));

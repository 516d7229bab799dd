// One process of the real Agent SDK with a session store: it says prompts, or loads what is there.
import fs from "node:fs";
import { pathToFileURL } from "node:url";
import { environment, from } from "./claude-program.mjs";
import { start } from "./claude-service.mjs";
import { open } from "./session-stores.mjs";

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8")), store = open(job.address);
const sdk = await import(pathToFileURL(from.resolve("@anthropic-ai/claude-agent-sdk")));

await store.make?.();

// say runs a turn in a home folder that is empty but for what the SDK takes from the store.
async function say({ prompt, resume }) {
  const heard = [], service = await start((body) => heard.push(body));
  fs.mkdirSync(job.home, { recursive: true });
  const env = environment(job.home, service.port), out = { errors: [] };
  process.env.CLAUDE_CONFIG_DIR = env.CLAUDE_CONFIG_DIR;
  for await (const message of sdk.query({ prompt, options: { sessionStore: store, cwd: job.cwd, env, resume, permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true, settingSources: [] } })) {
    if (message.type === "result") Object.assign(out, { session: message.session_id, result: message.result, failed: message.is_error });
    if (message.subtype === "mirror_error") out.errors.push(message.error);
  }
  service.close();
  const asked = heard.filter((body) => JSON.stringify(body.messages).includes(JSON.stringify(prompt).slice(1, -1)));
  return { ...out, messages: asked[0]?.messages ?? null };
}

// loaded is all that a store has of a project, and what the SDK makes of it.
async function loaded(project) {
  const out = {};
  for (const { sessionId } of await store.listSessions(project)) {
    const transcripts = { "": await store.load({ projectKey: project, sessionId }) };
    for (const subpath of (await store.listSubkeys({ projectKey: project, sessionId })).sort()) transcripts[subpath] = await store.load({ projectKey: project, sessionId, subpath });
    const told = await sdk.getSessionMessages(sessionId, { dir: job.cwd, sessionStore: store });
    out[sessionId] = { transcripts, messages: told.map(({ uuid, message }) => ({ uuid, message })) };
  }
  return out;
}

const done = [];
for (const turn of job.turns ?? []) done.push(await say({ ...turn, resume: typeof turn.resume === "number" ? done[turn.resume].session : turn.resume }));
const text = JSON.stringify({ turns: done, sessions: job.project ? await loaded(job.project) : undefined });
process.stdout.write(text, () => process.exit(0)); // the SDK can keep connections open

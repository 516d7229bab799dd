// One process of the real SDK with its agents on a server: `adapter-client.mjs JOB`. It prints one
// line of JSON for each thing that happens, and reads commands from stdin, a line each.
import { createRequire } from "node:module";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";
import { start } from "./backend.mjs";
import { blobs, cold, differential } from "./adapter-store.mjs";
import { read, restored } from "./read.mjs";
import { every, load } from "./sdk.mjs";

const job = JSON.parse(process.argv[2]);
const from = createRequire(path.join(job.modules, "package.json"));
const adapter = await import(pathToFileURL(from.resolve("rehome-agent-store")));
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const told = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const command = async () => (await told.next()).value;
const options = { apiKey: "key_stand_in", model: { id: "stand-in" } };

// queries counts what the server is asked for.
let queries = 0;
const count = (one, ...names) => {
  for (const name of names) {
    const ask = one[name];
    one[name] = (...given) => {
      queries++;
      return ask.apply(one, given);
    };
  }
  return one;
};
const kinds = {
  postgres({ connection, name, ...rest }) {
    const { Pool } = from("pg"), pool = count(new Pool({ connectionString: connection }), "query");
    pool.on("error", () => {});
    const store = adapter.postgresAgentStore({ pool, schema: name, ...rest }), { close } = store;
    return Object.assign(store, { close: () => close().then(() => pool.end()) });
  },
  redis({ connection, name, ...rest }) {
    const { default: Redis } = from("ioredis");
    return adapter.redisAgentStore({ client: { duplicate: (more) => count(typeof connection === "string" ? new Redis(connection, more) : new Redis({ ...connection, ...more }), "call", "callBuffer") }, store: name, ...rest });
  },
};

const backend = await start(); // before the SDK, which reads where its service is
const { kind, ...settings } = job.store, sdk = load("1.0.32"), store = kinds[kind](settings);
await store.createSchema();
const { create } = store.checkpoints;
let written = 0;
store.checkpoints.create = (input) => {
  written++;
  return create(input);
};
const local = { cwd: job.cwd, store };
const resume = () => sdk.Agent.resume(job.agentId, { ...options, local });
async function send(agent, prompt) {
  const run = await agent.send(prompt, { local: { force: job.force } }), { status, result } = await run.wait();
  return { run: run.id, status, result };
}

const jobs = {
  async create() {
    const agent = await sdk.Agent.create({ ...options, name: "Served", local });
    for (const prompt of job.prompts) say(await send(agent, prompt));
    say({ agentId: agent.agentId });
  },
  async resume() {
    const agent = await resume();
    for (const prompt of job.prompts) {
      const before = { queries, written }, done = await send(agent, prompt);
      say({ ...done, heard: backend.heard.at(-1), queries: queries - before.queries, blobs: written - before.written });
    }
  },
  // send waits until it is told to, so that two processes send at once.
  async send() {
    const agent = await resume();
    say("ready");
    await command();
    say(await send(agent, job.prompts[0]));
  },
  // stall begins a turn that does not end, and then writes to it when it is told to.
  async stall() {
    const agent = await resume(), run = await agent.send("play: stall");
    await backend.stall();
    say({ run: run.id });
    while ((await command()) === "write") {
      const { agentId } = job, doc = await store.runs.get({ agentId, runId: run.id });
      const tries = { append: () => store.runEvents.append({ runId: run.id, eventType: "late" }), blob: () => store.checkpoints.create({ agentId, ...blobs(1, "late")[0] }), run: () => store.runs.update({ run: doc }), agent: async () => store.agents.update({ agent: await store.agents.get({ agentId }) }) };
      const found = {};
      for (const [name, call] of Object.entries(tries)) found[name] = await call().then(() => "written", ({ message }) => message);
      say(found);
    }
  },
  async list() {
    const list = await every((page) => sdk.Agent.list({ runtime: "local", cwd: job.cwd, store, ...page }));
    say(list.map(({ agentId, name }) => ({ agentId, name })));
  },
  read: async () => say({ ...(await read(store, [])), told: await restored(sdk, store) }),
  expire: async () => say({ leases: await store.leases(), freed: await store.expire() }),
  // acknowledged sends while somebody restarts the server, and tells each event that was acknowledged.
  async acknowledged() {
    const { append } = store.runEvents, events = [];
    store.runEvents.append = async (input) => {
      const event = await append(input);
      events.push([event.runId, event.seq, JSON.stringify(event.payload)]);
      return event;
    };
    const agent = await resume();
    say("ready");
    let turns = 0, done = false;
    command().then(() => { done = true; });
    for (; !done; turns++) {
      const { status } = await send(agent, turns % 2 ? "play: parallel" : `Turn ${turns}`);
      if (status !== "finished") throw new Error(`turn ${turns} ended ${status}`);
    }
    say({ turns, events });
  },
  differential: async () => say(await differential(sdk, store, job)),
  cold: async () => say(await cold(store, job, () => queries)),
};

try {
  await jobs[job.do]();
  backend.settle();
  await store.close();
} catch (error) {
  say({ error: error.message.slice(0, 500) });
  process.exitCode = 1;
}
process.stdout.write("", () => process.exit()); // once all is written

// One process of the real client, doing one job: `client.mjs JOB`, the job as
// JSON. What it found goes to standard output as JSON. A process ends as a
// user's would, without closing anything it was not asked to close: so a SQLite
// store that was talked to keeps its rows in the -wal files.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { start } from "./backend.mjs";
import { listed, streamed } from "./history.mjs";
import { fill } from "./seed.mjs";
import { read, restored, told } from "./read.mjs";
import { every, load, open } from "./sdk.mjs";

const job = JSON.parse(process.argv[2]);
const options = { apiKey: "key_stand_in", model: { id: "stand-in", params: [{ id: "effort", value: "high" }] } };

// A clock that stands still where it is set: the client takes the time of an
// event from it, and two stores of one seed shall hold the same times.
function clock() {
  const Real = Date;
  let now = Real.UTC(2026, 5, 4);
  globalThis.Date = class extends Real {
    constructor(...given) { super(...(given.length ? given : [now])); }
    static now() { return now; }
  };
  return (ms) => { now = ms; };
}

// The client changes a store by opening it, so what is only read is a copy.
async function onCopy(use, { kind, at: from } = job) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "rehome-interop-read-"));
  const at = path.join(scratch, "store");
  fs.cpSync(from, at, { recursive: true });
  const sdk = load(job.version);
  const store = await open(sdk, kind, at, "/nowhere");
  try {
    return await use(sdk, store);
  } finally {
    await store.dispose?.();
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

// adopted puts the chats of the CLI below a folder into a new store of the SDK:
// both clients keep the same blobs.
async function adopted(use, folder) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "rehome-interop-chats-")), sdk = load(job.version);
  const store = await open(sdk, "sqlite", scratch, job.cwd), { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  for (const file of fs.readdirSync(folder, { recursive: true }).filter((name) => path.basename(name) === "store.db")) {
    const db = new DatabaseSync(path.join(folder, file), { readOnly: true });
    const meta = JSON.parse(Buffer.from(`${db.prepare("SELECT value FROM meta WHERE key = '0'").get().value}`, "hex"));
    const agent = { agentId: `agent-${meta.agentId}`, cwd: job.cwd, status: "idle", activeRunId: null, name: meta.name, createdAt: meta.createdAt, updatedAt: meta.createdAt, sdkMetadata: { rehome: meta.rehome }, latestCheckpoint: null };
    await store.agents.create({ agent });
    for (const { id, data } of db.prepare("SELECT id, data FROM blobs").all()) await store.checkpoints.create({ agentId: agent.agentId, blobId: id, data });
    await store.agents.update({ agent: { ...agent, latestCheckpoint: { schemaVersion: 1, rootBlobId: meta.latestRootBlobId } } });
    db.close();
  }
  try {
    return await use(sdk, store);
  } finally {
    await store.dispose?.();
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

async function ask(agent, prompt) {
  const run = await agent.send(prompt);
  const { status, result } = await run.wait();
  if (status !== "finished" || result !== "All done.") throw new Error(`the run ended ${status}: ${result}`);
  return run.id;
}

const jobs = {
  // fill: a seed's agents, through the store's own calls.
  async fill() {
    const setClock = clock();
    const store = await open(load(job.version), job.kind, job.at, job.cwd);
    await fill(store, job.seed, job.cwd, setClock);
    await store.dispose?.();
    return {};
  },

  // talk: real agents, real runs. Without `at` the client places its store itself.
  async talk() {
    const backend = await start();
    const sdk = load(job.version);
    const store = job.at && (await open(sdk, job.kind, job.at, job.cwd));
    for (const [i, prompts] of job.prompts.entries()) {
      const agent = await sdk.Agent.create({ ...options, name: `${job.name ?? "Talk"} ${i}`, local: { cwd: job.cwd, store } });
      for (const prompt of prompts) await ask(agent, prompt);
      await agent[Symbol.asyncDispose]();
    }
    backend.settle();
    return { root: sdk.getDefaultSdkStateRoot(job.cwd) };
  },

  // play: agents whose prompts name plays; each prompt says how it ends.
  async play() {
    const backend = await start();
    const sdk = load(job.version);
    const store = job.at && (await open(sdk, job.kind, job.at, job.cwd));
    for (const [i, prompts] of job.prompts.entries()) {
      const agent = await sdk.Agent.create({ ...options, name: `Play ${i}`, local: { cwd: job.cwd, store } });
      for (const { text, ends = "finished", image } of prompts) {
        const run = await agent.send(image ? { text, images: [{ data: image, mimeType: "image/png" }] } : text);
        if (ends === "cancelled") {
          await backend.stall();
          await run.cancel();
        }
        const { status } = await run.wait().catch(() => run);
        if (status !== ends) throw new Error(`the run of ${text} ended ${status}, not ${ends}`);
      }
      await agent[Symbol.asyncDispose]();
    }
    backend.settle();
    if (job.close) await store.dispose?.();
    return { root: sdk.getDefaultSdkStateRoot(job.cwd) };
  },

  // read: all that a store holds, and what a resumed model would be told of it.
  read: () => onCopy(async (sdk, store) => ({ ...(await read(store, job.lacks)), told: await restored(sdk, store) })),

  // tell: what the client says of each agent of many stores.
  async tell() {
    const list = [];
    for (const one of job.stores) list.push(await onCopy(told, one));
    return list;
  },

  // judge: what the client tells of agents that it did not write, and what the
  // service hears when each goes on; in copies of the stores.
  async judge() {
    const backend = await start({ whole: true, raw: job.raw }), list = [];
    const over = (cwd = job.cwd) => async (sdk, store) => {
      const before = await told(sdk, store), found = {};
      for (const { agentId, name } of await every((page) => sdk.Agent.list({ runtime: "local", cwd, store, ...page }))) {
        const one = (found[agentId] = { name, origin: (await store.agents.get({ agentId }))?.sdkMetadata?.rehome?.session });
        try {
          const agent = await sdk.Agent.resume(agentId, { ...options, local: { cwd, store } });
          await ask(agent, `${job.prompt} ${agentId}`);
          await agent[Symbol.asyncDispose]();
          backend.settle();
        } catch (error) {
          one.failed = `${error.name}: ${error.message.slice(0, 300)}`;
        }
        const { turns, runs } = before[agentId], heard = backend.heard.at(-1);
        Object.assign(one, { heard: heard?.prompt === `${job.prompt} ${agentId}` ? { ...heard.told, sent: heard.sent } : undefined, list: listed(turns), events: streamed(runs), was: { turns: turns.length, runs: runs.length } });
      }
      for (const [agentId, { turns, runs }] of Object.entries(await told(sdk, store))) {
        const { turns: old, runs: ended } = before[agentId], kept = (now, was) => JSON.stringify(now.slice(0, was.length)) === JSON.stringify(was);
        const more = turns.slice(old.length).map((one) => (one.agentConversationTurn ?? one).userMessage?.text);
        if (found[agentId]) Object.assign(found[agentId], { kept: kept(turns, old) && kept(runs, ended), more, ends: runs.slice(ended.length).map(({ status }) => status) });
      }
      return found;
    };
    for (const one of job.stores) list.push(await (one.kind === "chat" ? adopted(over(one.cwd), one.at) : onCopy(over(one.cwd), one)));
    return list;
  },

  // resume: one more prompt to each agent of an existing store. Without `at`
  // the client has to find the store by the folder it works in.
  async resume() {
    const backend = await start();
    const sdk = load(job.version);
    const store = job.at && (await open(sdk, job.kind, job.at, job.cwd));
    const found = {};
    const list = await every((page) => sdk.Agent.list({ runtime: "local", cwd: job.cwd, store, ...page }));
    for (const { agentId, name } of list) {
      if (job.only && !name.startsWith(job.only)) continue;
      const agent = await sdk.Agent.resume(agentId, { ...options, local: { cwd: job.cwd, store } });
      const run = await ask(agent, `${job.prompt} ${agentId}`);
      found[agentId] = { run, heard: backend.heard.at(-1) };
      await agent[Symbol.asyncDispose]();
    }
    backend.settle();
    if (job.close) await store.dispose?.();
    return { found, root: sdk.getDefaultSdkStateRoot(job.cwd) };
  },
};

// An error is told in one line. Left to the runtime it would print the line of
// the client's source it came from, and that line is megabytes long.
const end = (code, stream, text) => stream.write(text, () => process.exit(code));
try {
  end(0, process.stdout, JSON.stringify(await jobs[job.do]()));
} catch (error) {
  end(1, process.stderr, `${error.name}: ${error.message.slice(0, 500)}\n`);
}

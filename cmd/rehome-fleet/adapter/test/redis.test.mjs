import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import net from "node:net";
import { after, test } from "node:test";
import Redis from "ioredis";
import { redisAgentStore } from "rehome-agent-store";
import { createStore } from "../lib/core.mjs";
import { redisDriver } from "../lib/redis.mjs";
import { agentOf, blobOf, rules, runOf, sleep } from "./rules.mjs";
import { silenced } from "./silenced.mjs";

const connection = process.env.REHOME_TEST_REDIS;
if (!connection) throw new Error("REHOME_TEST_REDIS is not set: run `make services`");

// The name of a store may hold nearly anything.
const admin = new Redis(connection), made = [], fresh = () => (made.push(`re"' %:* ${randomUUID()}`), made.at(-1));
const make = (given) => async (at, options) => {
  at.store ??= fresh();
  return silenced(redisDriver({ ...given(), store: at.store, retryMs: 5000 }), (driver) => createStore(driver, options));
};

rules("Redis", make(() => ({ connection })));

// forgetful is a client that loses each answer once, after the server has done its work.
const forgetful = (lost = new Map()) => ({
  duplicate: (more) => {
    const client = new Redis(connection, more);
    for (const name of ["call", "callBuffer"]) {
      const ask = client[name].bind(client);
      client[name] = async (...given) => {
        const found = await ask(...given), key = JSON.stringify(given);
        if (given[0] === "PUBLISH") return found; // a hint may be lost, and is not sent again
        lost.set(key, !lost.get(key));
        if (lost.get(key)) throw Object.assign(new Error("the connection was lost"), { code: "ECONNRESET" });
        return found;
      };
    }
    return client;
  },
});
rules("Redis, each answer lost once", make(() => ({ client: forgetful() })));


const open = (options) => redisAgentStore({ connection, store: fresh(), retryMs: 0, ...options });

test("a store must be created, and another layout is refused", async () => {
  const store = open(), name = `{${made.at(-1)}}:meta`;
  await assert.rejects(store.agents.list(), /there is no store of layout 1 here/);
  await Promise.all(Array.from({ length: 4 }, () => store.createSchema()));
  await admin.hset(name, "layout", 2);
  for (const call of [() => store.createSchema(), () => store.agents.create({ agent: agentOf("a") })]) await assert.rejects(call(), /store of layout 1/);
  assert.deepEqual([await admin.hgetall(name), await admin.exists(`{${made.at(-1)}}:agents`)], [{ layout: "2", ord: "0" }, 0]);
  await admin.hset(name, "layout", 1);
  await store.close();
});

test("keys of another program are left alone", async () => {
  const store = open(), name = `{${made.at(-1)}}:agents`;
  await admin.set(name, "theirs");
  await assert.rejects(store.createSchema(), /another program uses these keys/);
  assert.equal(await admin.exists(`{${made.at(-1)}}:meta`), 0);
  await admin.del(name);
  await store.close();
});

test("what is stored and cannot be read is an error that names it", async () => {
  const store = open(), at = `{${made.at(-1)}}:`;
  await store.createSchema();
  await store.agents.create({ agent: agentOf("a") });
  await store.runs.create({ run: runOf("a", 1) });
  for (const broken of ['{"cwd":', "null", ""]) {
    await admin.hset(`${at}agent:a`, "doc", broken);
    await admin.hset(`${at}run:a:a-1`, "doc", broken);
    for (const call of [() => store.agents.get({ agentId: "a" }), ...(broken ? [{}, { cwd: "/w" }] : []).map((filter) => () => store.agents.list({ filter }))]) await assert.rejects(call(), { message: "agent a: the stored document is not a JSON object" });
    for (const call of [() => store.runs.get({ agentId: "a", runId: "a-1" }), () => store.runs.list()]) await assert.rejects(call(), { message: "run a-1: the stored document is not a JSON object" });
  }
  await admin.zadd(`${at}events:r`, 1, "null");
  await assert.rejects(store.runEvents.list({ runId: "r" }), /^Error: an event of run r: /);
  await admin.hset(`${at}streams`, "r", `${2 ** 53 - 2}`);
  assert.equal((await store.runEvents.append({ runId: "r", eventType: "x" })).seq, 2 ** 53 - 1);
  await assert.rejects(store.runEvents.append({ runId: "r", eventType: "x" }), /^Error: run r has no number left for another event$/);
  await store.close();
});

test("a store placed without runagents knows the agents of its runs", async () => {
  const store = open(), at = made.at(-1);
  await store.createSchema();
  await store.agents.create({ agent: agentOf("a:%") });
  await store.runs.create({ run: runOf("a:%", 2) });
  await admin.del(`{${at}}:runagents`);
  const other = open({ store: at });
  await assert.rejects(other.runEvents.append({ runId: "a:%-2", eventType: "x" }), /another process/);
  assert.equal((await store.runEvents.append({ runId: "a:%-2", eventType: "x" })).seq, 1);
  await Promise.all([store.close(), other.close()]);
});

test("every key is registered while it exists, and only then", async () => {
  const store = open(), at = `{${made.at(-1)}}:`;
  await store.createSchema();
  const names = async () => [(await admin.keys(`${at.replace(/[*?[\]\\]/g, "\\$&")}*`)).map((key) => key.slice(at.length)).sort(), [...(await admin.smembers(`${at}keys`)), "keys"].sort()];
  await store.agents.create({ agent: agentOf("a") });
  await store.runs.create({ run: runOf("a", 2) });
  await store.runEvents.append({ runId: "a-2", eventType: "x" });
  await store.checkpoints.create({ agentId: "a", ...blobOf("x") });
  const [keys, registered] = await names();
  assert.deepEqual(keys, registered);
  assert.equal(keys.length, 18);
  await store.agents.delete({ filter: { cwd: "/w" } });
  assert.deepEqual(await names(), [["keys", "meta"], ["keys", "meta"]]);
  await store.close();
});

test("a server that forgets is refused", async () => {
  const [policy, appendonly] = ["maxmemory-policy", "appendonly"];
  // A client whose server says other things; the server of the tests is shared.
  const saying = (says) => ({ duplicate: (more) => {
    const client = new Redis(connection, more), ask = client.call.bind(client);
    client.call = (name, ...given) => (name === "CONFIG" ? (says ? Promise.resolve([given[1], says[given[1]] ?? ""]) : Promise.reject(new Error("NOPERM no"))) : ask(name, ...given));
    return client;
  } });
  for (const [says, durable, message] of [
    [{ [policy]: "allkeys-lru", [appendonly]: "yes" }, "trusted", /may evict keys: its maxmemory-policy is allkeys-lru/],
    [{ [policy]: "noeviction", [appendonly]: "no", save: "" }, "trusted", /forgets everything/],
    [null, undefined, /does not report/],
  ]) {
    const store = open({ client: saying(says), durable });
    await assert.rejects(store.createSchema(), message);
    await assert.rejects(store.agents.list(), message);
    await store.close();
  }
  const says = { [policy]: "noeviction", [appendonly]: "yes" }, clients = [], store = open({ retryMs: 5000, client: { duplicate: (more) => (clients.push(saying(says).duplicate(more)), clients.at(-1)) } });
  await store.createSchema();
  says[appendonly] = "no"; // as another server that takes over
  clients[0].stream.destroy();
  await new Promise((done) => { clients[0].once("close", done); });
  await assert.rejects(store.agents.list(), /forgets everything/);
  await store.close();
  for (const [says, durable] of [[null, "trusted"], [{ [policy]: "noeviction", [appendonly]: "no", save: "60 1" }]]) {
    const store = open({ client: saying(says), durable });
    await store.createSchema();
    await store.close();
  }
});

test("hints fail nobody, and come again after their connection broke", async () => {
  const store = open();
  await store.createSchema();
  const stop = new AbortController(), heard = store.notifier.subscribeRunEvents({ runId: "r", signal: stop.signal });
  await heard.ready;
  const next = heard[Symbol.asyncIterator]().next();
  assert.equal(await admin.call("CLIENT", "KILL", "TYPE", "pubsub"), 1);
  for (let done = false; !done;) {
    await store.notifier.publishRunEventAppended({ runId: "r", offset: "1" });
    done = await Promise.race([next.then(() => true), sleep(50)]);
  }
  stop.abort();
  await store.close();
  await store.notifier.publishRunEventAppended({ runId: "r", offset: "1" });

  const away = redisAgentStore({ connection: "redis://127.0.0.1:1", store: "x", retryMs: 0 });
  await away.notifier.subscribeRunEvents({ runId: "r" }).ready;
  await away.notifier.publishRunEventAppended({ runId: "r", offset: "1" });
  await away.close();
});

// between is a way to the server that breaks when something is said, or on which nothing comes back.
async function between(broken, mute = false) {
  const said = [], open = new Set(), { hostname, port } = new URL(connection);
  const proxy = net.createServer((from) => {
    const to = net.connect(port, hostname);
    open.add(from.on("data", (data) => {
      said.push(`${data}`);
      if (broken.test(data)) from.destroy();
      else if (!mute) to.write(data);
    }));
    to.on("data", (data) => from.write(data));
    for (const one of [from, to]) one.on("error", () => {}).on("close", () => { open.delete(from); from.destroy(); to.destroy(); });
  }).listen(0, "127.0.0.1");
  await new Promise((done) => { proxy.on("listening", done); });
  const url = new URL(connection);
  [url.hostname, url.port] = ["127.0.0.1", proxy.address().port];
  return { url, said, open, stop: () => { proxy.close(); for (const one of open) one.destroy(); } };
}

test("hints and close() end when their connection breaks, and no connection is left", async () => {
  for (const [word, call] of [["publish", (store) => store.notifier.publishRunEventAppended({ runId: "r", offset: "1" })], ["subscribe", (store) => store.notifier.subscribeRunEvents({ runId: "r" }).ready]]) {
    const way = await between(new RegExp(`\\b${word}\\b`, "i")), store = open({ connection: `${way.url}` });
    await store.createSchema();
    await call(store);
    assert.ok(way.said.some((text) => text.toLowerCase().includes(word)));
    await store.close();
    way.stop();
  }
  const way = await between(/^$/), store = open({ connection: `${way.url}` }), stop = new AbortController();
  await store.createSchema();
  const { ready } = store.notifier.subscribeRunEvents({ runId: "r", signal: stop.signal });
  stop.abort();
  await Promise.all([ready, store.close(), store.close()]);
  for (let tries = 0; way.open.size > 0 && tries < 50; tries++) await sleep(20);
  assert.equal(way.open.size, 0);
  way.stop();
});

test("a server that does not answer is given up", async () => {
  const way = await between(/^$/, true), url = way.url;
  const store = open({ connection: { host: url.hostname, port: url.port, socketTimeout: 100 } });
  await assert.rejects(store.createSchema(), /Socket timeout/);
  await store.close();
  way.stop();
});

test("no other database is used in place of one that the server does not have", async () => {
  const url = new URL(connection);
  url.pathname = "/99999";
  const store = open({ connection: `${url}`, retryMs: 5000 });
  await assert.rejects(store.createSchema(), /^Error: ERR DB index is out of range$/);
  await assert.rejects(store.agents.list(), /DB index/);
  await store.close();
  assert.equal(await admin.exists(`{${made.at(-1)}}:meta`), 0);
});

test("a call whose connection is lost is made again", async () => {
  const store = open({ retryMs: 5000 }), offsets = Array.from({ length: 600 }, (_, i) => i + 1);
  await store.createSchema();
  let done = false;
  const appended = Promise.all(offsets.map(() => store.runEvents.append({ runId: "r", eventType: "x" }))).finally(() => { done = true; });
  for (; !done; await sleep(20)) {
    const ours = (await admin.client("LIST")).split("\n").filter((line) => / name=rehome-agent-store /.test(line));
    for (const line of ours) await admin.call("CLIENT", "KILL", "ID", /^id=(\d+)/.exec(line)[1]);
  }
  assert.deepEqual((await appended).map(({ seq }) => seq), offsets);
  assert.deepEqual((await store.runEvents.list({ runId: "r", limit: 1000 })).items.map(({ seq }) => seq), offsets);
  await store.close();
});

test("no error has a password, and a name must be one", async () => {
  const wrong = new URL(connection);
  wrong.password = "s3cret";
  for (const url of ["redis://me:s3cr%t@[bad/0", "redis://me:s3cret@127.0.0.1:1", `${wrong}`]) {
    const store = redisAgentStore({ connection: url, store: "x", retryMs: 0 });
    await assert.rejects(store.agents.list(), (error) => !/s3cr/.test(JSON.stringify([error.message, error.stack, { ...error }])));
    await store.close();
  }
  for (const store of [undefined, "", "x".repeat(201), "a\0b", "a{b", "\ud800", "x~bak-1"]) assert.throws(() => redisAgentStore({ connection, store }), /^Error: store: /);
});

test("half a surrogate pair is refused, and U+0000 is kept", async () => {
  const store = open();
  await store.createSchema();
  await assert.rejects(store.agents.create({ agent: agentOf("\ud800") }), /cannot be stored in Redis/);
  await store.agents.create({ agent: agentOf("a\0b") });
  assert.deepEqual((await store.agents.list()).items, [agentOf("a\0b")]);
  await store.close();
});

test("a process whose store is idle can end, also when its server has gone", () => {
  for (const [way, gone] of [["{ url: connection }", ""], ["await between(/^$/)", "way.stop(); await new Promise((done) => { setTimeout(done, 300); });"]]) {
    const said = spawnSync(process.execPath, ["--input-type=module", "-e", `
      import net from "node:net";
      import { redisAgentStore } from "rehome-agent-store";
      ${between.toString()}
      const connection = process.env.REHOME_TEST_REDIS, way = ${way};
      const store = redisAgentStore({ connection: \`\${way.url}\`, store: ${JSON.stringify(fresh())} });
      await store.createSchema();
      ${gone}`], { cwd: new URL(".", import.meta.url), encoding: "utf8", timeout: 10_000 });
    assert.deepEqual([said.status, said.stderr], [0, ""]);
  }
});

after(async () => {
  for (const store of made) {
    const names = await admin.smembers(`{${store}}:keys`);
    await admin.del(`{${store}}:keys`, ...names.map((name) => `{${store}}:${name}`));
  }
  await admin.quit();
});

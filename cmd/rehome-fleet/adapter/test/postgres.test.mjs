import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import net from "node:net";
import { after, test } from "node:test";
import pg from "pg";
import { postgresAgentStore } from "rehome-agent-store";
import { createStore } from "../lib/core.mjs";
import { postgresDriver } from "../lib/postgres.mjs";
import { agentOf, rules, runOf, sleep } from "./rules.mjs";
import { silenced } from "./silenced.mjs";

const connection = process.env.REHOME_TEST_POSTGRES;
if (!connection) throw new Error("REHOME_TEST_POSTGRES is not set: run `make services`");

// The name of a schema may hold anything.
const made = [], pools = [], fresh = () => (made.push(`re"; drop table ' ${randomUUID()}`), made.at(-1));
const make = (given) => async (at, options) => {
  at.schema ??= fresh();
  return silenced(postgresDriver({ ...given(), schema: at.schema, retryMs: 5000 }), (driver) => createStore(driver, options));
};

rules("PostgreSQL", make(() => ({ connection })));

// forgetful is a pool that loses each answer once, after the server has done its work.
function forgetful() {
  const pool = new pg.Pool({ connectionString: connection }), { query } = pool, lost = new Map();
  pools.push(pool.on("error", () => {}));
  pool.query = async (...given) => {
    const found = await query.apply(pool, given), key = JSON.stringify(given);
    if (/pg_notify/.test(key)) return found; // a hint may be lost, and is not sent again
    lost.set(key, !lost.get(key));
    if (lost.get(key)) throw Object.assign(new Error("the connection was lost"), { code: "ECONNRESET" });
    return found;
  };
  return pool;
}
rules("PostgreSQL, each answer lost once", make(() => ({ pool: forgetful() })));

test("tables of another version are refused by name", async () => {
  const schema = fresh(), store = postgresAgentStore({ connection, schema }), client = new pg.Client(connection);
  await Promise.all(Array.from({ length: 4 }, () => store.createSchema()));
  await client.connect();
  await client.query(`alter table ${client.escapeIdentifier(schema)}.runs drop column turn_number`);
  await client.end();
  await assert.rejects(store.createSchema(), /not the tables of this version: column "turn_number" does not exist/);
  await store.close();
});

test("a role that may not create anything can use what is there", async () => {
  const schema = fresh(), role = `rehome_${randomUUID().slice(0, 8)}`, first = postgresAgentStore({ connection, schema }), client = new pg.Client(connection);
  await first.createSchema();
  await client.connect();
  const space = client.escapeIdentifier(schema);
  await client.query(`create role ${role}; grant usage on schema ${space} to ${role}; grant select, insert, update, delete on all tables in schema ${space} to ${role}`);
  const store = postgresAgentStore({ connection: { connectionString: connection, options: `-c role=${role}` }, schema });
  try {
    await store.createSchema();
    await store.agents.create({ agent: agentOf("a") });
    assert.deepEqual((await first.agents.list()).items, [agentOf("a")]);
  } finally {
    await Promise.all([store.close(), first.close()]);
    await client.query(`drop owned by ${role}; drop role ${role}`);
    await client.end();
  }
});

// server is a new store, and a connection of its own to the same server.
async function server(options) {
  const schema = fresh(), store = postgresAgentStore({ connection, schema, ...options }), client = new pg.Client(connection);
  await client.connect();
  return { schema, store, client, space: client.escapeIdentifier(schema), close: () => Promise.all([store.close(), client.end()]) };
}

test("operators and functions that others put into the search path are not called", async () => {
  const trap = `trap_${randomUUID().replaceAll("-", "")}`, body = "language plpgsql as $$begin raise exception 'trapped'; end$$";
  const { store, client, close } = await server({ retryMs: 0, connection: { connectionString: connection, options: `-c search_path=${trap},public` } });
  made.push(trap);
  await client.query(`create schema ${trap}; set search_path to ${trap}; create function hashtextextended(text, int) returns bigint ${body}`);
  for (const [i, [name, left, right]] of [["||", "text", "bigint"], ["*", "numeric", "int"], ["*", "float8", "int"]].entries()) {
    await client.query(`create function f${i}(${left}, ${right}) returns text ${body}; create operator ${name} (function = f${i}, leftarg = ${left}, rightarg = ${right})`);
  }
  await store.createSchema();
  await store.agents.create({ agent: agentOf("a") });
  await store.runs.create({ run: runOf("a", 2) });
  assert.equal((await store.runEvents.append({ runId: "a-2", eventType: "x" })).seq, 1);
  assert.equal((await store.leases()).length, 1);
  await store.agents.update({ agent: agentOf("a", { name: "b" }) });
  await store.agents.delete({ filter: { agentIds: ["a"] } });
  await close();
});

test("events of several runs of an agent at once do not lock each other out", async () => {
  const { store, close } = await server({ retryMs: 0 });
  await store.createSchema();
  await store.agents.create({ agent: agentOf("a") });
  const turns = [2, 3, 4, 5];
  for (const turn of turns) await store.runs.create({ run: runOf("a", turn) });
  await Promise.all(turns.flatMap((turn) => Array.from({ length: 25 }, () => store.runEvents.append({ runId: `a-${turn}`, eventType: "x" }))));
  for (const turn of turns) assert.equal((await store.runEvents.list({ runId: `a-${turn}` })).items.length, 25);
  await close();
});

test("a counter that is behind its events catches up", async () => {
  const { store, client, space, close } = await server({ retryMs: 0 });
  await store.createSchema();
  await client.query(`insert into ${space}.run_events (run_id, seq, doc) values ('r', 7, '{}'); insert into ${space}.streams values ('r', 2)`);
  assert.equal((await store.runEvents.append({ runId: "r", eventType: "x" })).seq, 8);
  await close();
});

// What a replica has that was behind when the primary died.
test("events that a failover lost are noticed by their writer", async () => {
  const { store, client, space, close } = await server();
  await store.createSchema();
  const put = (key) => store.runEvents.append({ runId: "r", eventType: "x", idempotencyKey: key });
  for (let i = 1; i <= 4; i++) await put(`k${i}`);
  await client.query(`delete from ${space}.run_events where seq > 2; update ${space}.streams set last_seq = 2`);
  assert.equal((await put("k2")).seq, 2); // what is there is still found
  for (const key of [undefined, undefined, "k4", undefined]) await assert.rejects(put(key), /run r: events that were acknowledged are gone/);
  await store.runEvents.delete({ filter: { runIds: ["r"] } });
  assert.ok((await put()).seq > 0);
  await close();
});

test("a server that accepts and does not answer holds up no call", async () => {
  const sockets = new Set();
  const target = new URL(connection.replace(/^postgresql:/, "postgres:")), host = target.searchParams.get("host");
  let open = true;
  const proxy = net.createServer((from) => {
    const to = host?.startsWith("/") ? net.connect(`${host}/.s.PGSQL.${target.port || 5432}`) : net.connect(target.port || 5432, target.hostname || "127.0.0.1");
    for (const one of [from, to]) sockets.add(one.on("error", () => {}));
    from.pipe(to);
    to.on("data", (bytes) => open && from.write(bytes)).on("close", () => from.destroy());
    from.on("close", () => to.destroy());
  });
  await new Promise((done) => { proxy.listen(0, "127.0.0.1", done); });
  const through = new URL(target);
  through.searchParams.delete("host");
  [through.hostname, through.port] = ["127.0.0.1", proxy.address().port];
  const { store, close } = await server({ connection: { connectionString: `${through}`, connectionTimeoutMillis: 500 }, retryMs: 700, answerMs: 300 });
  await store.createSchema();
  await store.agents.create({ agent: agentOf("a") });
  open = false;
  for (const call of [() => store.agents.get({ agentId: "a" }), () => store.runEvents.append({ runId: "r", eventType: "x" }), () => store.agents.delete({ filter: { agentIds: ["a"] } })]) {
    const began = Date.now();
    await assert.rejects(call(), /timeout/);
    assert.ok(Date.now() - began < 20_000, "the call was held up");
  }
  for (const one of sockets) one.destroy(); // what comes next is another connection
  open = true;
  assert.equal((await store.agents.get({ agentId: "a" })).agentId, "a");
  await close();
  proxy.close();
});

test("a run does not begin while its agent is deleted", async () => {
  const { store, client, space, close } = await server();
  await store.createSchema();
  for (const turn of [1, 2]) {
    await store.agents.create({ agent: agentOf("a") });
    await client.query(`begin; delete from ${space}.agents`);
    const begun = assert.rejects(store.runs.create({ run: runOf("a", turn) }), /Agent a not found/);
    await sleep(300); // it waits, whether this is long enough or not
    await client.query("commit");
    await begun;
  }
  await close();
});

test("hints fail nobody, and come again after their connection broke", async () => {
  const pool = new pg.Pool({ connectionString: connection, max: 3 }), { connect } = pool, { store, client, close } = await server({ pool, connection: undefined });
  pools.push(pool.on("error", () => {}));
  await store.createSchema();
  const stop = new AbortController(), heard = store.notifier.subscribeRunEvents({ runId: "r", signal: stop.signal });
  await heard.ready;
  const next = heard[Symbol.asyncIterator]().next();
  let refused = 0;
  pool.connect = (...given) => (given.length === 0 && refused++ === 0 ? Promise.reject(new Error("not yet")) : connect.apply(pool, given));
  await client.query("select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %' and pid <> pg_backend_pid()");
  for (let done = false; !done; await sleep(50)) {
    await store.notifier.publishRunEventAppended({ runId: "r", offset: "1" });
    done = await Promise.race([next.then(() => true), sleep(50)]);
  }
  assert.ok(refused > 1);
  stop.abort();
  await close();
  await store.notifier.publishRunEventAppended({ runId: "r", offset: "1" });

  const alone = new pg.Pool({ connectionString: connection, max: 1 }), second = await server({ pool: alone, connection: undefined });
  pools.push(alone.on("error", () => {}));
  await second.store.createSchema();
  await second.store.notifier.subscribeRunEvents({ runId: "r" }).ready;
  assert.deepEqual((await second.store.agents.list()).items, []);
  await second.close();

  const away = postgresAgentStore({ connection: "postgres://me@127.0.0.1:1/db", retryMs: 0 });
  await away.notifier.subscribeRunEvents({ runId: "r" }).ready;
  await away.notifier.publishRunEventAppended({ runId: "r", offset: "1" });
  await away.close();
});

test("no error has a password, and a name must be one", async () => {
  for (const url of ["postgres://me:s3cr%t@[bad/db", "postgres://me:s3cret@127.0.0.1:1/db"]) {
    const store = postgresAgentStore({ connection: url, retryMs: 0 });
    await assert.rejects(store.agents.list(), (error) => !/s3cr/.test(JSON.stringify([error.message, error.stack, { ...error }])));
    await store.close();
  }
  for (const schema of ["", "x".repeat(64), "a\0b", "\ud800"]) assert.throws(() => postgresAgentStore({ connection, schema }));
});

test("what PostgreSQL cannot store is refused", async () => {
  const store = postgresAgentStore({ connection, schema: fresh() });
  await store.createSchema();
  for (const agentId of ["a\0b", "\ud800"]) await assert.rejects(store.agents.create({ agent: agentOf(agentId) }), /cannot be stored in PostgreSQL/);
  assert.deepEqual((await store.agents.list()).items, []);
  await store.close();
});

after(async () => {
  const client = new pg.Client(connection);
  await client.connect();
  for (const schema of made) await client.query(`drop schema if exists ${client.escapeIdentifier(schema)} cascade`).catch(console.error);
  await Promise.all([client, ...pools].map((one) => one.end()));
});

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import pg from "pg";
import { postgresAgentStore } from "rehome-agent-store";
import { createStore } from "../lib/core.mjs";
import { postgresDriver } from "../lib/postgres.mjs";
import { agentOf, rules } from "./rules.mjs";
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
    if (/pg_notify/.test(given[0])) return found; // a hint may be lost, and is not sent again
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

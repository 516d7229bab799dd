import { randomUUID } from "node:crypto";
import { after } from "node:test";
import pg from "pg";
import { createStore } from "../lib/core.mjs";
import { postgresDriver } from "../lib/postgres.mjs";
import { rules } from "./rules.mjs";
import { silenced } from "./silenced.mjs";

const url = process.env.REHOME_TEST_POSTGRES;
if (!url) throw new Error("REHOME_TEST_POSTGRES is not set: run `make services`");

// The name of a schema may hold anything.
const made = [], name = () => `re"; drop table ' ${randomUUID()}`;
rules("PostgreSQL", async (at, options) => {
  at.schema ??= (made.push(name()), made.at(-1));
  return silenced(postgresDriver({ connection: url, schema: at.schema, retryMs: 5000 }), (driver) => createStore(driver, options));
});

after(async () => {
  const client = new pg.Client(url);
  await client.connect();
  for (const schema of made) await client.query(`drop schema if exists ${client.escapeIdentifier(schema)} cascade`).catch(console.error);
  await client.end();
});

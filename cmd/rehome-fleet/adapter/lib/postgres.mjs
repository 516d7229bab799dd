// A driver for PostgreSQL: the tables of schema.sql, one statement for each call. Ids are only ever
// parameters; the name of the schema is quoted.
import fs from "node:fs/promises";
import { createStore } from "./core.mjs";
import { hub } from "./notify.mjs";
import { patient } from "./retry.mjs";
import { statements } from "./sql.mjs";

// Lost connections, a server that starts or stops, deadlocks: the same statement may work again.
const passing = /^(08...|57P0[123]|40001|40P01|53300|ECONN(RESET|REFUSED|ABORTED)|EAI_AGAIN|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;
const unanswered = /^Query read timeout/;
const passes = (error) => unanswered.test(error.message) || passing.test(error.code ?? "") || /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect)/.test(error.message);

// text is a value for a column: PostgreSQL has no U+0000, and other bytes for half a surrogate pair.
function text(value) {
  if (value === null) return null;
  if (value.includes("\0") || !value.isWellFormed()) throw new Error(`${JSON.stringify(value).slice(0, 100)} cannot be stored in PostgreSQL`);
  return value;
}
const texts = (list) => list && list.map(text);

function quoted(schema) {
  if (typeof schema !== "string" || schema === "" || Buffer.byteLength(schema) > 63) throw new Error("schema: the name must have 1 to 63 bytes");
  return `"${text(schema).replaceAll('"', '""')}"`;
}

export function postgresAgentStore({ connection, pool, schema = "cursor_agents", retryMs = 30_000, answerMs = 60_000, ...options } = {}) {
  return createStore(postgresDriver({ connection, pool, schema, retryMs, answerMs }), options);
}

export function postgresDriver({ connection, pool: given, schema, retryMs, answerMs = 60_000 }) {
  const space = quoted(schema), sql = statements(space), channel = `"${`rehome ${Buffer.from(schema).toString("base64url")}`.slice(0, 63)}"`;
  let own, closing = false;
  async function pool() {
    if (given) return given;
    own ??= import("pg").then(({ default: pg }) => {
      try {
        const made = new pg.Pool({ connectionTimeoutMillis: 10_000, keepAlive: true, keepAliveInitialDelayMillis: 10_000, allowExitOnIdle: true, application_name: "rehome-agent-store", ...(typeof connection === "string" ? { connectionString: connection } : connection) });
        return made.on("error", () => {}); // an idle connection was lost; the next statement opens another
      } catch {
        throw new Error("connection: invalid PostgreSQL URL or options"); // what is wrong may quote a password
      }
    });
    return own;
  }
  const retry = patient(passes, retryMs, () => closing);
  // asked is a statement that a server which does not answer cannot hold up for ever.
  const asked = (statement, values) => ({ text: statement, ...(values && { values }), query_timeout: answerMs });
  const query = (statement, values = []) => retry(async () => (await pool()).query(asked(statement, values)));
  const one = async (statement, values) => {
    const { rows, retried } = await query(statement, values);
    return { ...rows[0], retried };
  };
  const transaction = (work) => retry(async () => {
    const client = await (await pool()).connect();
    let broken;
    const lost = (error) => { broken = error; };
    client.on("error", lost);
    const ask = (statement, values) => client.query(asked(statement, values));
    try {
      await ask("begin");
      const found = await work({ query: ask });
      await ask("commit");
      return found;
    } catch (error) {
      if (unanswered.test(error.message)) lost(error); // nor would it answer this
      else await ask("rollback").catch(lost);
      throw error;
    } finally {
      client.off("error", lost);
      client.release(broken);
    }
  });
  const number = (value) => (value === null || value === undefined ? value : Number(value));
  // deleted runs a delete, unless another process runs one of the agents.
  const unleased = (statement, values, work, lock = async () => {}) => transaction(async (client) => {
    await lock(client);
    const { rows } = await client.query(statement, values);
    return rows.length > 0 ? { leased: rows[0].agent_id } : work(client);
  });

  // One connection listens while somebody subscribes; when it breaks, hints are lost until it is back.
  // A pool of one connection has none to spare for it.
  let listener = null;
  async function listen() {
    const from = await pool();
    if (from.options?.max < 2) return () => {};
    const client = await from.connect();
    let gone = false;
    const end = (error) => {
      if (gone) return;
      gone = true;
      listener = null;
      client.release(error ?? true);
      if (error) again();
    };
    client.on("error", end);
    client.on("notification", ({ payload }) => {
      try {
        const [runId, offset] = JSON.parse(payload);
        hints.hear({ runId, offset });
      } catch {} // not ours
    });
    try {
      await client.query(asked(`listen ${channel}`));
    } catch (error) {
      end(error);
      throw error;
    }
    return end;
  }
  const started = () => (listener ??= listen().catch((error) => {
    listener = null;
    throw error;
  }));
  const again = () => setTimeout(() => hints.busy() && !closing && started().catch(again), 1000).unref();
  const stopped = () => listener?.then((end) => (closing || !hints.busy()) && end(), () => {});
  const hints = hub(started, stopped);

  return {
    notifier: {
      async publishRunEventAppended({ runId, offset }) {
        const payload = JSON.stringify([runId, offset]);
        if (closing || Buffer.byteLength(payload) >= 8000) return;
        await pool().then((to) => to.query(asked("select pg_notify($1::text, $2::text)", [channel.slice(1, -1), payload]))).catch(() => {});
      },
      subscribeRunEvents: hints.subscribe,
    },

    createSchema: async () => {
      const tables = await fs.readFile(new URL("../schema.sql", import.meta.url), "utf8");
      await transaction(async (client) => {
        await client.query("select pg_advisory_xact_lock(hashtextextended($1::text, 7267::bigint))", [schema]);
        const { rowCount: there } = await client.query("select from pg_namespace where nspname = $1", [schema]);
        if (!there) await client.query(`create schema if not exists ${space}`); // which needs its privilege in any case
        await client.query(`set local search_path to ${space}`);
        const { rows } = await client.query("select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'", [schema]);
        if (!rows.some(({ relname }) => relname === "agents")) await client.query(tables);
        for (const [table, columns] of sql.tables) {
          await client.query(`select ${columns} from ${space}.${table} limit 0`).catch((error) => {
            throw new Error(`schema ${schema}: not the tables of this version: ${error.message}`);
          });
        }
        return {};
      });
    },

    async agent(agentId) {
      const { rows } = await query(sql.agent, [text(agentId)]);
      return rows[0] ? { text: rows[0].doc, rev: Number(rows[0].rev) } : null;
    },
    async createAgent({ agentId, cwd, updatedAt, text: doc }) {
      for (;;) {
        const { old, made, retried } = await one(sql.createAgent, [text(agentId), text(cwd), updatedAt, doc]);
        if (made || old !== null) return { text: old, retried };
      } // neither made nor there: another process made it at the same moment
    },
    async updateAgent({ agentId, cwd, updatedAt, text: doc }, { rev, guarded, release, owner, fence }) {
      const found = await one(sql.updateAgent, [text(agentId), text(cwd), updatedAt, doc, rev, owner, fence, guarded, release]);
      if (found.new_rev !== null) return { rev: Number(found.new_rev) };
      if (found.old_rev === null) return { missing: true };
      if (found.allowed === false) return { fenced: true };
      return { conflict: true, rev: Number(found.old_rev), text: found.doc, retried: found.retried };
    },
    deleteAgents: ({ ids, cwd }, owner) => unleased(sql.leasedAgents, [owner, texts(ids), text(cwd)], async (client) => {
      const { rows } = await client.query(sql.deleteAgents, [texts(ids), text(cwd)]);
      const deleted = rows.map(({ agent_id }) => agent_id);
      for (const statement of sql.cascade) await client.query(statement, [deleted]);
      return { deleted };
    }, (client) => client.query(sql.lockAgents, [texts(ids), text(cwd)])),
    async agents({ cwd, after, limit }) {
      const { rows } = await query(sql.agents, [text(cwd), after?.updatedAt ?? null, text(after?.agentId ?? null), limit]);
      return rows.map(({ agent_id, rev, doc }) => ({ agentId: agent_id, rev: Number(rev), text: doc }));
    },

    async run(agentId, runId) {
      const { rows } = await query(sql.run, [text(agentId), text(runId)]);
      return rows[0]?.doc ?? null;
    },
    async createRun({ agentId, runId, turnNumber, status, text: doc }, lease) {
      const values = [text(agentId), text(runId), turnNumber, text(status), doc];
      let retried = false;
      try {
        const found = await one(lease ? sql.createRun : sql.createFirstRun, lease ? [...values, lease.owner, lease.ms] : values);
        retried = found.retried;
        if (found.made) return { fence: number(found.fence) };
      } catch (error) {
        if (error.code !== "23505") throw error;
        retried = error.retried;
      }
      const why = await one(sql.whyNoRun, [agentId, runId, turnNumber, lease?.owner ?? null]);
      if (!why.agent) return { reason: "agent" };
      if (why.run !== null) return { reason: "run", text: why.run, fence: number(why.fence), retried };
      return { reason: why.turn ? "turn" : "leased" };
    },
    async updateRun({ agentId, runId, turnNumber, status, text: doc }, { owner, fence, ms, active }) {
      const found = await one(sql.updateRun, [text(agentId), text(runId), turnNumber, text(status), doc, owner, fence, ms, active]);
      if (found.rev !== null) return { fence: Number(found.fence) };
      return found.known ? { leased: true } : { missing: true };
    },
    deleteRuns: ({ agentIds, runIds }, owner) => unleased(sql.leasedRuns, [owner, texts(agentIds), texts(runIds)], async (client) => {
      const { rows } = await client.query(sql.deleteRuns, [texts(agentIds), texts(runIds)]);
      for (const statement of sql.dropEvents) await client.query(statement, [rows.map(({ run_id }) => run_id)]);
      return {};
    }),
    async runs({ agentIds, runIds, after, limit }) {
      const { rows } = await query(sql.runs, [texts(agentIds), texts(runIds), after?.turnNumber ?? null, text(after?.runId ?? null), limit]);
      return rows.map(({ run_id, doc }) => ({ runId: run_id, text: doc }));
    },

    async append({ runId, key, head, tail }, { agentId, owner, fence, ms, renew }) {
      const values = [text(runId), text(key), head, tail, owner, fence, ms, renew, text(agentId)];
      for (;;) {
        try {
          const found = await one(sql.append, values);
          if (found.doc !== null) return { text: found.doc, made: found.made };
          if (found.allowed === false) return { fenced: true };
        } catch (error) {
          if (error.code !== "23505" || error.constraint !== "run_events_key") throw error; // the same key at the same moment: the next try finds it
        }
      }
    },
    async events(runId, after, limit) {
      const { rows } = await query(sql.events, [text(runId), after, limit]);
      return rows.map(({ doc }) => doc);
    },
    deleteEvents: (runIds, owner) => unleased(sql.leasedRuns, [owner, null, texts(runIds)], async (client) => {
      for (const statement of sql.dropEvents) await client.query(statement, [texts(runIds)]);
      return {};
    }),

    async blobs(agentId, ids) {
      const { rows } = await query(sql.blobs, [text(agentId), texts(ids)]);
      return new Map(rows.map(({ blob_id, data }) => [blob_id, data]));
    },
    async putBlob(agentId, blobId, bytes, { owner, fence }) {
      for (;;) {
        const { made, allowed, same } = await one(sql.putBlob, [text(agentId), text(blobId), bytes, owner, fence]);
        if (!allowed) return { fenced: true };
        if (made || same !== null) return { same: made || same };
      } // neither made nor there: another process wrote it at the same moment
    },
    async blobIds({ agentIds, blobIds, after, limit }) {
      const { rows } = await query(sql.blobIds, [texts(agentIds), texts(blobIds), text(after), limit]);
      return rows.map(({ blob_id, size }) => ({ blobId: blob_id, size: Number(size) }));
    },
    deleteBlobs: ({ agentIds, blobIds }, owner) => unleased(sql.leasedBlobs, [owner, texts(agentIds)], async (client) => {
      await client.query(sql.deleteBlobs, [texts(agentIds), texts(blobIds)]);
      return {};
    }),

    async leases(ended) {
      const { rows } = await query(sql.leases, [ended]);
      return rows.map(({ agent_id, owner, fence, until, expired }) => ({ agentId: agent_id, owner, fence: Number(fence), until: Math.floor(Number(until)), expired }));
    },
    async renew(list, { owner, ms }) {
      const { rows } = await query(sql.renew, [list.map(([agentId]) => agentId), list.map(([, fence]) => fence), owner, ms]);
      return new Set(rows.map(({ agent_id }) => agent_id));
    },
    async release(list, owner) {
      if (list.length > 0) await (await pool()).query(asked(sql.release, [list.map(([agentId]) => agentId), list.map(([, fence]) => fence), owner]));
    },
    async close() {
      closing = true;
      await stopped();
      await (await own?.catch(() => {}))?.end(); // none was opened by invalid options
    },
  };
}

// A driver for Redis: one script for each call, which runs alone on the server. The keys are those that
// rehome-fleet reads and writes.
import { createHash } from "node:crypto";
import { createStore, parsed } from "./core.mjs";
import { lua } from "./lua.mjs";
import { hub } from "./notify.mjs";
import { patient } from "./retry.mjs";

const scripts = Object.fromEntries(Object.entries(lua).map(([name, text]) => [name, { text, sha: createHash("sha1").update(text).digest("hex") }]));

// Lost connections, and a server that starts, stops or changes its role: the same script may work again.
const passing = /^(ECONN(RESET|REFUSED|ABORTED)|EAI_AGAIN|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;
const passes = ({ code, message }) => passing.test(code ?? "") || /^(Connection is closed|Reached the max retries per request|Command timed out|Stream isn't writeable|connect ETIMEDOUT|LOADING|BUSY |MASTERDOWN|READONLY|UNBLOCKED)/.test(message);

// text is a value for Redis, whose texts are UTF-8: half a surrogate pair would become another text.
function text(value) {
  if (typeof value !== "string" || !value.isWellFormed()) throw new Error(`${JSON.stringify(value)?.slice(0, 100)} cannot be stored in Redis`);
  return value;
}
const list = (ids) => (ids ? [ids.length, ...ids.map(text)] : [-1]);

function prefixed(store) {
  if (typeof store !== "string" || !store.isWellFormed() || /[{}\p{Cc}]/u.test(store) || store === "" || Buffer.byteLength(store) > 200) throw new Error("store: the name must have 1 to 200 bytes, and no braces or control characters");
  if (/~bak-[1-9]\d{0,3}$/.test(store)) throw new Error("store: backups are only read");
  return `{${store}}:`;
}

export function redisAgentStore({ connection, client, store, durable, retryMs = 30_000, ...options } = {}) {
  return createStore(redisDriver({ connection, client, store, durable, retryMs }), options);
}

// Nothing is sent again that may have been done already, unless the store says so.
const settings = { lazyConnect: true, keyPrefix: "", autoResendUnfulfilledCommands: false, autoResubscribe: true, maxRetriesPerRequest: 1, enableOfflineQueue: true, enableReadyCheck: true, connectTimeout: 10_000, keepAlive: 10_000 };

export function redisDriver({ connection, client: given, store, durable, retryMs }) {
  const prefix = prefixed(store), channel = `${prefix}hints`, own = new Set();
  if (durable !== undefined && durable !== "trusted") throw new Error('durable: can only be "trusted"');
  if (given?.isCluster) throw new Error("client: a Redis Cluster is not supported");
  const socketTimeout = (given?.options ?? connection)?.socketTimeout ?? 60_000; // of a server that does not answer
  let closing = false, main, ready, opened;

  // open is a new connection, which is opened again while calls wait for it or it is needed. No error of
  // ioredis leaves as it is: they hold commands, and AUTH is one.
  async function open(label, ended, needed = () => false) {
    const { default: Redis } = given ? {} : await import("ioredis");
    if (closing) throw new Error("the store is closed");
    const pending = new Set(); // calls, by what ends them
    const idle = () => pending.size === 0 && !needed() && to.stream?.unref?.(); // keeps no process alive
    const retryStrategy = (times) => (!closing && (pending.size > 0 || needed()) ? Math.min(times * 50, 1000) : null);
    let to, why = "", final = false;
    try {
      const password = process.env.REDISCLI_AUTH ? { password: process.env.REDISCLI_AUTH } : {}, more = { ...settings, socketTimeout, retryStrategy, connectionName: `rehome-agent-store${label}` };
      to = given ? given.duplicate(more) : typeof connection === "string" ? new Redis(connection, { ...(/^rediss?:\/\/[^/]*:[^/@]+@/.test(connection) ? {} : password), ...more }) : new Redis({ ...password, ...connection, ...more });
    } catch {
      throw new Error("connection: invalid Redis URL or options"); // what is wrong may quote a password
    }
    own.add(to);
    to.on("error", ({ message, command }) => {
      why = message;
      final = command?.name === "select" || /^(WRONGPASS|NOAUTH)|certificate/.test(message);
      if (command?.name === "select") to.disconnect(); // ioredis would go on with database 0
    });
    to.on("ready", () => {
      [why, final] = ["", false];
      idle();
    });
    // Nobody else ends calls whose connection was lost: ioredis forgets those that it does not send again.
    to.on("close", () => {
      ready = undefined; // another server may answer next
      const error = new Error(`Connection is closed${why && `: ${why}`}`);
      for (const fail of pending) fail(error);
    });
    to.on("end", () => {
      own.delete(to);
      ended(to);
    });
    async function use(work) {
      let fail;
      const lost = new Promise((_, reject) => { fail = reject; });
      if (pending.add(fail).size === 1) to.stream?.ref?.();
      try {
        return await Promise.race([work(to), lost]);
      } catch (error) {
        throw final ? Object.assign(new Error(why), { final }) : error;
      } finally {
        pending.delete(fail);
        idle();
      }
    }
    return { to, use };
  }
  const clean = (error) => Object.assign(new Error(`${error?.message ?? error}`.replace(/^REHOME /, "").replace(/\s+script: [0-9a-f]{40}.*$/s, "")), error?.code === undefined ? {} : { code: error.code });
  const ended = () => { main = undefined; };
  const use = async (work) => (await (main ??= open("", ended).catch((error) => {
    ended();
    throw error;
  }))).use(work);

  // send sends a script by its digest, and its text if the server does not have it.
  const send = (name, args, as = "call") => use((to) => to[as]("EVALSHA", [scripts[name].sha, 1, prefix, ...args]).catch((error) => {
    if (!/^NOSCRIPT/.test(error.message)) throw error;
    return to[as]("EVAL", [scripts[name].text, 1, prefix, ...args]);
  }).catch((error) => Promise.reject(clean(error))));

  const retry = patient(passes, retryMs, () => closing);
  const once = async (work) => (await retry(async () => ({ value: await work() }))).value;
  const setting = (name) => once(async () => {
    try {
      return (await use((to) => to.call("CONFIG", "GET", name)))[1];
    } catch (error) {
      if (error.final || passes(error) || /^NOAUTH/.test(error.message)) throw clean(error);
      return undefined; // not allowed, or not known to the server
    }
  });
  // A server that forgets is refused.
  async function kept() {
    const [policy, appendonly, save] = await Promise.all(["maxmemory-policy", "appendonly", "save"].map(setting));
    if (policy !== undefined && policy !== "noeviction") throw new Error(`Redis may evict keys: its maxmemory-policy is ${policy}; set it to noeviction`);
    if (appendonly === "no" && save === "") throw new Error("Redis forgets everything when it stops: neither appendonly nor save is set; set appendonly to yes");
    if (durable !== "trusted" && (policy === undefined || (appendonly !== "yes" && !save))) throw new Error('Redis does not report whether it keeps what it is given; allow CONFIG GET, or pass durable: "trusted" if you know that it does');
  }
  const checked = () => (ready ??= kept().catch((error) => {
    ready = undefined;
    throw error;
  }));
  const script = async (name, args, as) => {
    await checked();
    await (opened ??= once(() => send("open", [])).catch((error) => {
      opened = undefined;
      throw error;
    }));
    const { value, retried } = await retry(async () => ({ value: await send(name, args, as) }));
    return { value, retried };
  };
  const value = async (...given) => (await script(...given)).value;
  const fenceOf = (fence) => fence ?? "";
  const number = (answer) => (answer ? Number(answer) : null);
  const unleased = async (name, args) => {
    const [what, agentId] = await value(name, args);
    return what === "leased" ? { leased: agentId } : {};
  };

  // pages are all agents, from the newest to the oldest.
  async function* pages({ cwd, after, limit }) {
    let [score, id] = after ? [after.updatedAt, text(after.agentId)] : ["", ""];
    for (const size = cwd === null ? Math.min(limit, 500) : 200; ;) {
      const rows = await value("agents", [score, id, size]);
      for (let i = 0; i < rows.length; i += 4) {
        [id, score] = [rows[i], rows[i + 1]];
        if (rows[i + 2] !== "" && (cwd === null || parsed(rows[i + 2], `agent ${id}`).cwd === cwd)) yield { agentId: id, rev: Number(rows[i + 3]), text: rows[i + 2] };
      }
      if (rows.length < size * 4) return;
    }
  }
  async function agents({ cwd, after = null, limit = Infinity }) {
    const found = [];
    if (limit > 0) for await (const row of pages({ cwd, after, limit })) if (found.push(row) >= limit) break;
    return found;
  }

  // One connection listens while somebody subscribes, and subscribes again when it was lost.
  let listener = null;
  async function listen() {
    let gone = false;
    const end = () => {
      if (gone) return;
      gone = true;
      listener = null;
      to.disconnect();
    };
    const { to, use: ask } = await open(" hints", () => gone || (end(), later()), () => !gone && hints.busy());
    to.on("message", (_, payload) => {
      try {
        const [runId, offset] = JSON.parse(payload);
        hints.hear({ runId, offset });
      } catch {} // not ours
    });
    await ask(() => to.subscribe(channel)).catch((error) => {
      gone = true;
      to.disconnect();
      throw clean(error);
    });
    return end;
  }
  const started = () => (listener ??= listen().catch((error) => {
    listener = null;
    later();
    throw error;
  }));
  const later = () => setTimeout(() => hints.busy() && !closing && started().catch(() => {}), 1000).unref();
  const stopped = () => listener?.then((end) => hints.busy() || end(), () => {});
  const hints = hub(started, stopped);

  return {
    notifier: {
      async publishRunEventAppended({ runId, offset }) {
        if (!closing) await use((to) => to.call("PUBLISH", channel, JSON.stringify([runId, offset]))).catch(() => {});
      },
      subscribeRunEvents: hints.subscribe,
    },
    createSchema: async () => {
      await checked();
      await once(() => send("create", []));
    },

    async agent(agentId) {
      const [doc, rev] = await value("agent", [text(agentId)]);
      return doc === null ? null : { text: doc, rev: Number(rev) };
    },
    async createAgent({ agentId, updatedAt, text: doc }) {
      const { value: [old = null], retried } = await script("createAgent", [text(agentId), updatedAt, doc]);
      return { text: old, retried };
    },
    async updateAgent({ agentId, updatedAt, text: doc }, { rev, guarded, release, owner, fence }) {
      const { value: [what, now, old], retried } = await script("updateAgent", [text(agentId), updatedAt, doc, rev ?? "", guarded ? 1 : 0, release ? 1 : 0, owner, fenceOf(fence)]);
      if (what === "conflict") return { conflict: true, rev: Number(now), text: old, retried };
      return what === "done" ? { rev: Number(now) } : { [what]: true };
    },
    async deleteAgents({ ids, cwd }, owner) {
      for (;;) {
        // Those of a folder must still be as they were read. Which were there is known before the delete,
        // so that one whose answer is lost can say what it did.
        const wanted = ids && cwd === null ? (await Promise.all(ids.map((id) => value("agent", [text(id)])))).flatMap(([doc], i) => (doc === null ? [] : [[ids[i], ""]]))
          : (await agents({ cwd })).filter(({ agentId }) => !ids || ids.includes(agentId)).map(({ agentId, rev }) => [agentId, rev]);
        if (wanted.length === 0) return { deleted: [] };
        const { value: [what, ...deleted], retried } = await script("deleteAgents", [owner, ...wanted.flat()]);
        if (what === "leased") return { deleted: [], leased: deleted[0] };
        if (what === "done") return { deleted: retried ? wanted.map(([id]) => id) : deleted, retried };
      }
    },
    agents,

    run: (agentId, runId) => value("run", [text(agentId), text(runId)]),
    async createRun({ agentId, runId, turnNumber, status, text: doc }, lease) {
      const { value: [what, first, second], retried } = await script("createRun", [text(agentId), text(runId), turnNumber, text(status), doc, lease?.owner ?? "", lease?.ms ?? 0]);
      if (what === "done") return { fence: number(first) };
      return what === "run" ? { reason: what, text: first, fence: number(second), retried } : { reason: what };
    },
    async updateRun({ agentId, runId, turnNumber, status, text: doc }, { owner, fence, ms, active }) {
      const [what, now] = await value("updateRun", [text(agentId), text(runId), turnNumber, text(status), doc, owner, fenceOf(fence), ms, active ? 1 : 0]);
      if (what === "turn") throw new Error(`turn ${turnNumber} of agent ${agentId} is another run`);
      return what === "done" ? { fence: Number(now) } : { [what]: true };
    },
    deleteRuns: ({ agentIds, runIds }, owner) => unleased("deleteRuns", [owner, ...list(agentIds), ...list(runIds)]),
    async runs({ agentIds, runIds, after, limit }) {
      const found = await value("runs", [limit, after?.turnNumber ?? "", text(after?.runId ?? ""), ...list(agentIds), ...list(runIds)]);
      return Array.from({ length: found.length / 2 }, (_, i) => ({ runId: found[2 * i], text: found[2 * i + 1] }));
    },

    async append({ runId, key, head, tail }, { agentId, owner, fence, ms, renew }) {
      const [what, doc, made] = await value("append", [text(runId), text(key), head, tail, owner, fenceOf(fence), ms, renew ? 1 : 0, text(agentId ?? "")]);
      return what === "fenced" ? { fenced: true } : { text: doc, made: made === 1 };
    },
    events: (runId, after, limit) => value("events", [text(runId), after, limit]),
    deleteEvents: (runIds, owner) => unleased("deleteEvents", [owner, ...list(runIds)]),

    async blobs(agentId, ids) {
      const found = await value("blobs", [text(agentId), ...ids.map(text)], "callBuffer");
      return new Map(ids.map((id, i) => [id, found[i]]).filter(([, data]) => data !== null));
    },
    async putBlob(agentId, blobId, bytes, { owner, fence }) {
      const [what] = await value("putBlob", [text(agentId), text(blobId), bytes, owner, fenceOf(fence)]);
      return what === "fenced" ? { fenced: true } : { same: what === "same" };
    },
    async blobIds({ agentIds, blobIds, after, limit }) {
      const found = await value("blobIds", [limit, after === null ? "" : 1, text(after ?? ""), ...list(agentIds), ...list(blobIds)]);
      return Array.from({ length: found.length / 2 }, (_, i) => ({ blobId: found[2 * i], size: Number(found[2 * i + 1]) }));
    },
    deleteBlobs: ({ agentIds, blobIds }, owner) => unleased("deleteBlobs", [owner, ...list(agentIds), ...list(blobIds)]),

    async leases(ended) {
      const found = await value("leases", list(ended)), rows = Array.from({ length: found.length / 5 }, (_, i) => found.slice(5 * i, 5 * i + 5));
      return rows.map(([agentId, owner, fence, until, expired]) => ({ agentId, owner, fence: Number(fence), until: Number(until), expired: expired !== "" })).sort((a, b) => (a.agentId < b.agentId ? -1 : 1));
    },
    renew: async (held, { owner, ms }) => new Set(await value("renew", [owner, ms, ...held.flat()])),
    async release(held, owner) {
      if (held.length > 0) await send("renew", [owner, -1, ...held.flat()]);
    },
    async close() {
      closing = true;
      for (const one of own) one.disconnect(); // which ends what waits for it
    },
  };
}

// Stores for the Agent SDK, in the layouts that its documentation describes: each is a server's
// address, as rehome-fleet takes it, behind the SDK's interface.
import { spawnSync } from "node:child_process";
import { createHash, createHmac, randomBytes } from "node:crypto";
import net from "node:net";

// open gives the store at an address.
export function open(address) {
  const kind = /^claude\+(\w+):/.exec(address)[1], url = new URL(address.replace(/^claude\+/, "").replace(/^(redis|s3):/, "x-$1:"));
  return { postgres, redis, s3 }[kind](url);
}

const by = ({ projectKey, sessionId, subpath }) => [projectKey, sessionId, ...(subpath ? [subpath] : [])];

function postgres(url) {
  const table = url.searchParams.get("table");
  url.search = "";
  // The words are set as variables of psql, which quotes them; the statement comes on stdin.
  const ask = (sql, words, input = "") => {
    const set = Object.entries(words).flatMap(([name, value]) => ["-v", `${name}=${value ?? ""}`]);
    const rows = input.replaceAll("'", "''");
    const done = spawnSync("psql", [url.href, "-XqAt", "-v", "ON_ERROR_STOP=1", ...set], { input: `SET standard_conforming_strings = on; ${sql.replace("$ROWS", () => `'${rows}'`)}`, encoding: "utf8", maxBuffer: 1 << 28 });
    if (done.status !== 0) throw new Error(done.stderr);
    return done.stdout.trim();
  };
  const make = () => ask(`SET client_min_messages = error; CREATE TABLE IF NOT EXISTS ${table} (id BIGSERIAL PRIMARY KEY, project_key TEXT NOT NULL, session_id TEXT NOT NULL, subpath TEXT, entry JSONB NOT NULL, created_at TIMESTAMPTZ NOT NULL DEFAULT NOW())`, {});
  const where = "project_key = :'p' AND session_id = :'s'", words = ({ projectKey: p, sessionId: s, subpath: u }) => ({ p, s, u });
  return {
    make,
    async append(key, entries) {
      ask(`INSERT INTO ${table} (project_key, session_id, subpath, entry) SELECT :'p', :'s', NULLIF(:'u', ''), e FROM jsonb_array_elements($ROWS::jsonb) WITH ORDINALITY AS t (e, n) ORDER BY n;`, words(key), JSON.stringify(entries));
    },
    async load(key) {
      return JSON.parse(ask(`SELECT coalesce(jsonb_agg(entry ORDER BY id), 'null') FROM ${table} WHERE ${where} AND subpath IS NOT DISTINCT FROM NULLIF(:'u', '');`, words(key)));
    },
    async listSubkeys(key) {
      return JSON.parse(ask(`SELECT coalesce(json_agg(DISTINCT subpath), '[]') FROM ${table} WHERE ${where} AND subpath IS NOT NULL;`, words(key)));
    },
    async listSessions(p) {
      return JSON.parse(ask(`SELECT coalesce(json_agg(json_build_object('sessionId', session_id, 'mtime', floor(extract(epoch FROM at) * 1000))), '[]') FROM (SELECT session_id, max(created_at) AS at FROM ${table} WHERE project_key = :'p' AND subpath IS NULL GROUP BY 1) t;`, { p }));
    },
  };
}

function redis(url) {
  const prefix = `${url.searchParams.get("prefix")}:`;
  const list = (key) => prefix + by(key).join(":");
  // ask sends commands over one connection, and gives their replies.
  const login = url.password ? [["AUTH", decodeURIComponent(url.username) || "default", decodeURIComponent(url.password)]] : [];
  const ask = (...asked) => new Promise((done, fail) => {
    const commands = [...login, ...asked];
    const socket = net.connect(Number(url.port || 6379), url.hostname), chunks = [];
    socket.on("error", fail);
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      const all = Buffer.concat(chunks), replies = [];
      let at = 0;
      const read = () => {
        const end = all.indexOf("\r\n", at);
        if (end < 0) throw new RangeError();
        const kind = all.toString("utf8", at, at + 1), rest = all.toString("utf8", at + 1, end);
        at = end + 2;
        if (kind === "-") throw new Error(rest);
        if (kind === "*") return Array.from({ length: Number(rest) }, read);
        if (kind !== "$") return rest;
        const size = Number(rest), from = at;
        if (size < 0) return null;
        at += size + 2;
        if (at > all.length) throw new RangeError();
        return all.toString("utf8", from, from + size);
      };
      try {
        for (const _ of commands) replies.push(read());
      } catch (error) {
        if (error instanceof RangeError) return; // more is to come
        fail(error);
      }
      socket.end();
      done(replies.slice(login.length));
    });
    socket.write(commands.map((words) => `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(String(word))}\r\n${word}\r\n`).join("")}`).join(""));
  });
  const sets = ({ projectKey, sessionId }) => `${prefix}${projectKey}:${sessionId}:__subkeys`;
  return {
    async append(key, entries) {
      const index = key.subpath ? ["SADD", sets(key), key.subpath] : ["ZADD", `${prefix}${key.projectKey}:__sessions`, Date.now(), key.sessionId];
      await ask(["RPUSH", list(key), ...entries.map((entry) => JSON.stringify(entry))], index);
    },
    async load(key) {
      const [lines] = await ask(["LRANGE", list(key), 0, -1]);
      return lines.length ? lines.map((line) => JSON.parse(line)) : null;
    },
    listSubkeys: async (key) => (await ask(["SMEMBERS", sets(key)]))[0],
    async listSessions(project) {
      const [flat] = await ask(["ZRANGE", `${prefix}${project}:__sessions`, 0, -1, "WITHSCORES"]);
      return flat.flatMap((sessionId, i) => (i % 2 ? [] : [{ sessionId, mtime: Number(flat[i + 1]) }]));
    },
  };
}

function s3(url) {
  const base = process.env.AWS_ENDPOINT_URL, bucket = url.hostname, prefix = `${url.pathname.slice(1)}/`;
  const hmac = (key, text) => createHmac("sha256", key).update(text).digest(), sha = (text) => createHash("sha256").update(text).digest("hex");
  const encode = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const ask = async (method, name, query = {}, body = "") => {
    const at = new Date().toISOString().replace(/[-:]|\.\d+/g, ""), day = at.slice(0, 8), { host } = new URL(base), scope = `${day}/us-east-1/s3/aws4_request`;
    const path = `/${[bucket, ...name.split("/")].map(encode).join("/")}`, search = Object.keys(query).sort().map((k) => `${encode(k)}=${encode(query[k])}`).join("&");
    const headers = { host, "x-amz-content-sha256": sha(body), "x-amz-date": at }, signed = Object.keys(headers).join(";");
    const request = [method, path, search, ...Object.entries(headers).map(([k, v]) => `${k}:${v}`), "", signed, sha(body)].join("\n");
    const key = [day, "us-east-1", "s3", "aws4_request"].reduce((key, part) => hmac(key, part), `AWS4${process.env.AWS_SECRET_ACCESS_KEY}`);
    const signature = hmac(key, `AWS4-HMAC-SHA256\n${at}\n${scope}\n${sha(request)}`).toString("hex");
    const { host: _, ...sent } = headers;
    const got = await fetch(`${base}${path}${search && `?${search}`}`, { method, headers: { ...sent, authorization: `AWS4-HMAC-SHA256 Credential=${process.env.AWS_ACCESS_KEY_ID}/${scope}, SignedHeaders=${signed}, Signature=${signature}` }, ...(body && { body }) });
    const text = await got.text();
    if (!got.ok) throw new Error(`${method} ${name}: ${got.status} ${text.slice(0, 200)}`);
    return text;
  };
  const below = (key) => `${prefix}${by(key).join("/")}/`;
  const names = async (under) => [...(await ask("GET", "", { "list-type": "2", prefix: under })).matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name]) => name).sort();
  let last = 0;
  return {
    make: () => ask("PUT", "").catch((error) => { if (!/ 409 /.test(error.message)) throw error; }),
    async append(key, entries) {
      last = Math.max(Date.now(), last + 1);
      await ask("PUT", `${below(key)}part-${String(last).padStart(13, "0")}-${randomBytes(3).toString("hex")}.jsonl`, {}, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    },
    async load(key) {
      const parts = (await names(below(key))).filter((name) => !name.slice(below(key).length).includes("/")), out = [];
      for (const name of parts) out.push(...(await ask("GET", name)).split("\n").filter(Boolean).map((line) => JSON.parse(line)));
      return out.length ? out : null;
    },
    async listSubkeys(key) {
      const under = below({ ...key, subpath: undefined });
      return [...new Set((await names(under)).map((name) => name.slice(under.length).split("/").slice(0, -1).join("/")).filter(Boolean))];
    },
    async listSessions(project) {
      const times = {};
      for (const name of await names(`${prefix}${project}/`)) {
        const [, id, ms] = /^([^/]+)\/part-(\d{13})-[^/]*$/.exec(name.slice(`${prefix}${project}/`.length)) ?? [];
        if (id) times[id] = Math.max(times[id] ?? 0, Number(ms));
      }
      return Object.entries(times).map(([sessionId, mtime]) => ({ sessionId, mtime }));
    },
  };
}

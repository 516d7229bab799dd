// The real SDK keeps its agents in PostgreSQL and in Redis, through the npm package as users install it.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import readline from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { sorted } from "./read.mjs";
import { checked, client, folder, fresh, once, read as sdkRead, root, run, same, scratch } from "./tools.mjs";

const here = path.dirname(fileURLToPath(import.meta.url)), home = path.join(root, "cmd", "rehome-fleet", "adapter");

// installed is a folder with the package as `npm pack` makes it, its tests, and the clients of the
// servers as its lock file pins them.
const installed = once(() => {
  const at = folder("adapter"), place = path.join(at, "node_modules", "rehome-agent-store");
  for (const name of ["package.json", "package-lock.json"]) fs.copyFileSync(path.join(home, name), path.join(at, name));
  run("npm ci", "npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: at });
  fs.writeFileSync(path.join(at, "package.json"), "{}"); // a user's, by another name
  const [{ filename }] = JSON.parse(run("npm pack", "npm", ["pack", home, "--json"], { cwd: at }));
  fs.mkdirSync(place, { recursive: true });
  run("tar", "tar", ["-xzf", filename, "-C", place, "--strip-components=1"], { cwd: at });
  fs.cpSync(path.join(home, "test"), path.join(place, "test"), { recursive: true });
  return at;
});

// worker starts a process of the SDK. next is what it says next; end is how it ended.
function worker(job, { command = [], timeout = 240_000 } = {}) {
  const [program, ...args] = [...command, process.execPath, "--no-warnings", path.join(here, "adapter-client.mjs"), JSON.stringify({ modules: installed(), ...job })];
  const child = spawn(program, args, { cwd: scratch, env: { ...process.env, HOME: scratch }, stdio: ["pipe", "pipe", "pipe"] });
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let err = "";
  child.stderr.setEncoding("utf8").on("data", (text) => { err = `${err}${text}`.slice(-1000); });
  const end = new Promise((done) => { child.on("close", (code, signal) => done(code ?? signal)); });
  const timer = setTimeout(() => child.kill("SIGKILL"), timeout);
  end.then(() => clearTimeout(timer));
  const next = async () => {
    const { value } = await lines.next();
    if (value === undefined) throw new Error(`${job.do}: ended with ${await end}: ${err.trim()}`);
    return JSON.parse(value);
  };
  return { child, lines, next, end, tell: (line) => child.stdin.write(`${line}\n`), error: () => err };
}

// work is all that a process says until it ends.
async function work(job, options) {
  const one = worker(job, options), said = [];
  one.child.stdin.end();
  for await (const text of one.lines) {
    const line = JSON.parse(text);
    if (line.error !== undefined) throw new Error(`${job.do}: ${line.error}`);
    said.push(line);
  }
  const status = await one.end;
  if (status !== 0 || said.length === 0) throw new Error(`${job.do}: ended with ${status}: ${one.error()}`);
  return said;
}

const sleep = (ms) => new Promise((done) => { setTimeout(done, ms); });
const number = (name, usual) => Number(process.env[name] || usual);
const leaseMs = 2000, cwd = folder("served"), busy = (agentId) => `Agent ${agentId} already has active run`;

// served are the checks, one after the other; each leaves the agent idle.
function served({ kind, label, connection, parameter }) {
  const store = { kind, connection, leaseMs, name: `interop ${process.pid}` };
  const job = { store, cwd }, words = ["First prompt é", "play: parallel"];
  const check = (name, compare) => checked(`SDK 1.0.32 in ${label}, ${name}`, compare);
  const read = async () => (await work({ ...job, do: "read" }))[0];
  const failed = async (more) => {
    const said = await work({ ...job, ...more }).then(() => "", ({ message }) => message.replace(/^\w+: /, ""));
    if (!said) throw new Error(`${JSON.stringify(more)}: it did not fail`);
    return said;
  };
  // resumed sends a prompt in another process, which has to know what was said before.
  const resumed = async (prompt, { options, ...more } = {}) => {
    const [done] = await work({ ...job, do: "resume", prompts: [prompt], ...more }, options);
    same([done.status, done.result], ["finished", "All done."], prompt);
    same([done.heard.turns, done.heard.model], [words, words], "what the service hears of before");
    words.push(prompt);
    return done;
  };
  // stalled is a process with a turn that does not end. Such a turn leaves nothing for the next one.
  const stalled = async () => {
    const one = worker({ ...job, do: "stall" }), { run: runId } = await one.next();
    return { ...one, runId };
  };
  const expired = async () => {
    for (let tries = 0; tries < 100; tries++) {
      const [{ freed }] = await work({ ...job, do: "expire" });
      if (freed.length > 0) return freed;
      await sleep(100);
    }
    throw new Error("nothing was freed");
  };

  return { job, check, read, words, resumed,
    created: () => check("created, sent, resumed, listed", async () => {
      const said = await work({ ...job, do: "create", prompts: words });
      job.agentId = said.at(-1).agentId;
      same(said.slice(0, 2).map(({ status, result }) => [status, result]), Array(2).fill(["finished", "All done."]), "the turns");
      await resumed("Third");
      same(await work({ ...job, do: "list" }), [[{ agentId: job.agentId, name: "Served" }]], "the list");
      const held = await read();
      same(held.told[job.agentId].texts, words, "the texts");
      same(held.runs.map(({ turnNumber, status }) => [turnNumber, status]), [1, 2, 3].map((turn) => [turn, "finished"]), "the runs");
      return `3 turns in 2 processes; ${Object.values(held.events).flat().length} events, ${held.checkpoints[job.agentId].length} blobs`;
    }),

    elsewhere: (local) => check("resumed in another network namespace", async () => {
      const inside = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
      await resumed("From elsewhere", { store: { ...store, connection: local }, options: { command: inside } });
      return "through a Unix socket, with no other network";
    }),

    senders: () => check("two senders, and one is killed", async () => {
      const both = [0, 1].map(() => worker({ ...job, do: "send", prompts: ["play: stall"] }));
      for (const one of both) same(await one.next(), "ready", "a sender");
      for (const one of both) one.tell("go");
      const first = await Promise.race(both.map(async (one) => ({ one, said: await one.next() })));
      same(first.said, { error: busy(job.agentId) }, "what the loser gets");
      const winner = both.find((one) => one !== first.one);
      same(await failed({ do: "resume", prompts: ["No"], force: true }), busy(job.agentId), "force while the winner lives");
      winner.child.kill("SIGKILL");
      same(await winner.end, "SIGKILL", "the winner");
      same(await failed({ do: "resume", prompts: ["No"] }), busy(job.agentId), "right after it was killed");
      same(await expired(), [job.agentId], "freed");
      await resumed("After a kill");
      return "one gets the SDK's own error; the agent is freed after its lease";
    }),

    forced: () => check("a killed sender, and force", async () => {
      const one = await stalled();
      one.child.kill("SIGKILL");
      await one.end;
      await sleep(leaseMs + 200);
      await resumed("With force", { force: true });
      return "refused before the lease has expired, accepted after";
    }),

    fenced: () => check("a sender that comes back", async () => {
      const one = await stalled(), { agentId } = job;
      one.child.kill("SIGSTOP");
      try {
        await expired();
        await resumed("Meanwhile");
      } finally {
        one.child.kill("SIGCONT");
      }
      const before = await read();
      one.tell("write");
      const said = await one.next();
      for (const [what, message] of Object.entries(said)) if (!message.startsWith(busy(agentId))) throw new Error(`${what}: ${message}`);
      one.child.kill("SIGKILL");
      await one.end;
      same(await read(), before, "the store");
      return `its ${Object.keys(said).join(", ")} are refused, and nothing changes`;
    }),

    restarted: (control) => check("the server restarted in the middle of turns", async () => {
      const times = number("REHOME_INTEROP_RESTARTS", 5);
      const one = worker({ ...job, store: { ...store, leaseMs: 30_000 }, do: "acknowledged" }, { timeout: 240_000 + times * 20_000 });
      same(await one.next(), "ready", "the sender");
      for (let i = 0; i < times; i++) {
        await sleep(Math.random() * 700);
        if (i % 2) run("restart", control, ["restart"]);
        else for (const step of ["kill", "start"]) run(step, control, [step]);
      }
      one.tell("stop");
      const { turns, events, error } = await one.next();
      if (error) throw new Error(error);
      const held = await read(), runs = new Set(events.map(([runId]) => runId));
      same(runs.size, turns, "runs");
      const stored = [...runs].flatMap((runId) => held.events[runId].map(({ seq, payload }) => [runId, seq, payload]));
      same(stored, events.map(([runId, seq, payload]) => [runId, seq, sorted(JSON.parse(payload))]), "the events");
      words.splice(0, Infinity, ...held.told[job.agentId].texts);
      await resumed("After restarts");
      return `${times} restarts, half of them kills; ${turns} turns, all of ${events.length} acknowledged events there once, in order`;
    }),

    equal: () => check("random calls, and the SDK's SQLite store", async () => {
      const count = number("REHOME_INTEROP_SEQUENCES", 200);
      const halves = [0, 1].map((half) => work({ ...job, store: { ...store, name: `${store.name} ${half}` }, do: "differential", from: 1 + (half * count) / 2, count: count / 2 }, { timeout: 240_000 + 1000 * count }));
      const said = (await Promise.all(halves)).flat(), sum = (name) => said.reduce((total, one) => total + one[name], 0);
      same(sum("sequences"), count, "sequences");
      return `${count} sequences of ${sum("calls")} calls, ${sum("failed")} of which fail in both`;
    }),

    // Other words: these agents began in the SDK's own store.
    converted: () => check("from SQLite, continued, and on to ndjson", async () => {
      const sqlite = folder("sqlite"), ndjson = fresh("ndjson"), there = { ...store, name: `${store.name} converted` };
      const address = new URL(connection), said = ["Begun é", "play: failing"];
      address.searchParams.set(parameter, there.name);
      client({ do: "talk", version: "1.0.32", kind: "sqlite", at: sqlite, cwd, prompts: [said], close: true });
      const before = sdkRead("1.0.32", "sqlite", sqlite);
      fleet("convert", sqlite, `${address}`, "--with-secrets", "--json");
      const placed = (await work({ ...job, store: there, do: "read" }))[0];
      same(placed, before, "what the SDK reads on the server");
      const [{ agentId }] = placed.agents;
      const [done] = await work({ ...job, store: there, agentId, do: "resume", prompts: ["In between"] });
      same([done.status, done.heard.turns, done.heard.model], ["finished", said, said], "the turn in between");
      const after = (await work({ ...job, store: there, do: "read" }))[0];
      fleet("convert", `${address}`, ndjson, "--to", "cursor-ndjson", "--flat", "--with-secrets", "--json");
      same(sdkRead("1.0.32", "ndjson", ndjson), after, "what the SDK reads in the files");
      const { found } = client({ do: "resume", version: "1.0.32", kind: "ndjson", at: ndjson, cwd, prompt: "And on" });
      same(found[agentId].heard.turns, [...said, "In between"], "what the service hears in the end");
      return `3 stores, each read as the one before and continued; ${Object.values(after.events).flat().length} events, ${after.checkpoints[agentId].length} blobs`;
    }),

    trips: () => check("round trips of a turn", async () => {
      const count = 5000, { agentId } = job;
      await work({ ...job, do: "cold", count });
      const [first, second] = await work({ ...job, do: "resume", prompts: ["Cold", "Warm"] });
      words.push("Cold", "Warm");
      // The calls of a turn that has no blobs to read are as many in both.
      if (first.queries > count / 1000 + 2 * first.blobs + 60) throw new Error(`${first.queries} cold, with ${first.blobs} new blobs`);
      if (second.queries > 2 * second.blobs + 60) throw new Error(`${second.queries} warm, with ${second.blobs} new blobs`);
      return `with ${count} blobs: ${first.queries} cold, ${second.queries} warm, for ${first.blobs} and ${second.blobs} new blobs`;
    }),
  };
}

// fleet runs rehome-fleet. REHOME_INTEROP_FLEET is one to check instead of this one.
const built = once(() => {
  const given = process.env.REHOME_INTEROP_FLEET, to = given ?? path.join(folder("fleet"), "rehome-fleet");
  if (!given) run("go build", "go", ["build", "-trimpath", "-o", to, "./cmd/rehome-fleet"], { cwd: root, timeout: 600_000, env: { ...process.env, CGO_ENABLED: "0" } });
  return to;
});
const fleet = (...args) => run(`rehome-fleet ${args[0]}`, built(), args, { cwd: scratch, env: { ...process.env, HOME: scratch } });

const server = async (name) => (await import(pathToFileURL(createRequire(path.join(installed(), "package.json")).resolve(name)))).default;

// sockets are the addresses of the same servers through their Unix sockets.
const sockets = {
  async postgres(url) {
    const asked = new (await server("pg")).Client(url), to = new URL(url);
    await asked.connect();
    const { rows: [{ folders }] } = await asked.query("select current_setting('unix_socket_directories') as folders");
    await asked.end();
    if (!folders) throw new Error("the server has no Unix socket");
    return `postgres://${to.username}${to.password && `:${to.password}`}@${encodeURIComponent(folders.split(",")[0].trim())}:${to.port}${to.pathname}`;
  },
  async redis(url) {
    const asked = new (await server("ioredis"))(url), [, at] = await asked.config("GET", "unixsocket");
    asked.disconnect();
    if (!at) throw new Error("the server has no Unix socket");
    return { path: at, password: decodeURIComponent(new URL(url).password) };
  },
};

export async function adapted() {
  const servers = [
    { kind: "postgres", label: "PostgreSQL", parameter: "schema", connection: process.env.REHOME_TEST_POSTGRES, control: process.env.REHOME_TEST_POSTGRES_CTL },
    { kind: "redis", label: "Redis", parameter: "store", connection: process.env.REHOME_TEST_REDIS, control: process.env.REHOME_TEST_REDIS_CTL },
  ];
  for (const { label, connection, control } of servers) if (!connection || !control) throw new Error(`there is no ${label} for tests: run \`make services\``);
  await checked("rehome-agent-store, its own tests", async () => {
    const at = path.join(installed(), "node_modules", "rehome-agent-store", "test"), files = fs.readdirSync(at).filter((name) => name.endsWith(".test.mjs"));
    const said = run("node --test", process.execPath, ["--test", "--test-reporter=tap", ...files.map((name) => path.join(at, name))], { cwd: path.dirname(at) });
    return `${/^# pass (\d+)$/m.exec(said)[1]} pass, in ${files.length} files of the package as npm packs it`;
  });
  const alone = spawnSync("unshare", ["--net", "ip", "link", "set", "lo", "up"], { encoding: "utf8" });
  if (alone.status !== 0) console.log(`NOT CHECKED: another network namespace; this system does not allow one: ${alone.error?.message ?? alone.stderr.trim()}`);
  for (const one of servers) {
    const checks = served(one);
    await checks.created();
    if (alone.status === 0) await checks.elsewhere(await sockets[one.kind](one.connection));
    for (const name of ["senders", "forced", "fenced", "converted", "equal"]) await checks[name]();
    await checks.restarted(one.control);
    await checks.trips();
  }
}

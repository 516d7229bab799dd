// The real SDK keeps its agents in PostgreSQL and Redis, through the npm package as users install it.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { fileURLToPath } from "node:url";
import { checked, folder, fresh, once, root, run, same, scratch } from "./tools.mjs";

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
function worker(job, { command = [], ...more } = {}) {
  const [program, ...args] = [...command, process.execPath, "--no-warnings", path.join(here, "adapter-client.mjs"), JSON.stringify({ modules: installed(), ...job })];
  const child = spawn(program, args, { cwd: scratch, env: { ...process.env, HOME: scratch, ...more.env }, stdio: ["pipe", "pipe", "pipe"] });
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let err = "";
  child.stderr.setEncoding("utf8").on("data", (text) => { err = `${err}${text}`.slice(-1000); });
  const end = new Promise((done) => { child.on("close", (code, signal) => done(code ?? signal)); });
  const timer = setTimeout(() => child.kill("SIGKILL"), 240_000);
  end.then(() => clearTimeout(timer));
  const next = async () => {
    const { value } = await lines.next();
    if (value === undefined) throw new Error(`${job.do}: ended with ${await end}: ${err.trim()}`);
    return JSON.parse(value);
  };
  return { child, next, end, tell: (line) => child.stdin.write(`${line}\n`), error: () => err };
}

// work is all that a process says until it ends.
async function work(job, options) {
  const one = worker(job, options), said = [];
  one.child.stdin.end();
  for (;;) {
    const line = await one.next().catch(() => undefined);
    if (line === undefined) break;
    if (line.error !== undefined) throw new Error(`${job.do}: ${line.error}`);
    said.push(line);
  }
  const status = await one.end;
  if (status !== 0) throw new Error(`${job.do}: ended with ${status}: ${one.error()}`);
  return said;
}

const cwd = folder("served");
let made = 0;

function served(kind, connection) {
  const store = kind === "redis" ? { kind, connection, store: `interop-${process.pid}-${++made}` } : { kind, connection, schema: `interop ${process.pid} ${++made}` };
  const job = { store, cwd };
  let agentId;
  const check = (name, compare) => checked(`SDK 1.0.32 in ${kind}, ${name}`, compare);
  return { job, check, async created() {
    await check("created, sent, resumed, listed", async () => {
      const said = await work({ ...job, do: "create", prompts: ["First prompt é", "play: parallel"] });
      agentId = job.agentId = said.at(-1).agentId;
      same(said.slice(0, 2).map(({ status, result }) => [status, result]), Array(2).fill(["finished", "All done."]), "the turns");
      const [third] = await work({ ...job, do: "resume", prompts: ["Third"] });
      same(third.heard.turns, ["First prompt é", "play: parallel"], "what the service hears of before");
      same(third.heard.model, ["First prompt é", "play: parallel"], "what the model is told");
      same(await work({ ...job, do: "list" }), [[{ agentId, name: "Served" }]], "the list");
      const [held] = await work({ ...job, do: "read" });
      same(held.told[agentId].texts, ["First prompt é", "play: parallel", "Third"], "the texts");
      same(held.runs.map(({ turnNumber, status }) => [turnNumber, status]), [1, 2, 3].map((turn) => [turn, "finished"]), "the runs");
      return `3 turns in 2 processes; ${Object.values(held.events).flat().length} events, ${held.checkpoints[agentId].length} blobs`;
    });
  } };
}

export async function adapted() {
  const { REHOME_TEST_POSTGRES: postgres } = process.env;
  if (!postgres) throw new Error("REHOME_TEST_POSTGRES is not set: run `make services`");
  const { created } = served("postgres", postgres);
  await created();
}

// What the checks are made of: a scratch folder, rehome, a client in a process
// of its own, comparison, and the line that each check prints.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { tables } from "./tables.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
export const root = path.resolve(here, "..", "..");
export const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "rehome-interop-")));

let made = 0;
// fresh names a place in scratch where nothing is yet; folder makes one.
export const fresh = (name) => path.join(scratch, `${++made}-${name}`);
export const folder = (name) => {
  const at = fresh(name);
  fs.mkdirSync(at, { recursive: true });
  return at;
};

const tail = (text) => text.trim().slice(-700).replaceAll(/\s*\n\s*/g, "; ");

// run runs a program to its end, and gives what it printed.
export function run(what, command, args, { ok = [0], ...options } = {}) {
  const done = spawnSync(command, args, { encoding: "utf8", timeout: 120_000, maxBuffer: 1 << 28, ...options });
  if (!ok.includes(done.status)) throw new Error(`${what}: ${done.error?.message ?? `exit ${done.status ?? done.signal}`}: ${tail(done.stderr || done.stdout || "")}`);
  return done.stdout;
}

const exe = process.platform === "win32" ? ".exe" : "";
// What one process built, those of the parts that it starts use, too.
const built = process.env.REHOME_INTEROP_BUILT || scratch;
const binary = path.join(built, `rehome${exe}`), ours = path.join(built, `interop${exe}`);
export const children = { ...process.env, REHOME_INTEROP_BUILT: built };

// build makes rehome, and the part of these checks that is written in Go.
// REHOME_INTEROP_BINARY is a rehome to check instead of this one.
export function build() {
  if (built !== scratch) return;
  const given = process.env.REHOME_INTEROP_BINARY;
  if (given) fs.copyFileSync(given, binary);
  for (const [out, from] of [...(given ? [] : [[binary, "./cmd/rehome"]]), [ours, "./testdata/interop"]]) {
    run("go build", "go", ["build", "-trimpath", "-o", out, from], { cwd: root, timeout: 600_000, env: { ...process.env, CGO_ENABLED: "0" } });
  }
}

// convert runs `rehome convert` as a user would, keys and tokens included unless
// the flags are others.
export function convert(source, to, flags = ["--with-secrets"]) {
  const target = fresh(to);
  rehome([source, target, "--to", to, ...(to === "cursor-ndjson" ? ["--flat"] : []), ...flags]);
  return target;
}

// canonical gives the lines that rehome makes of all sessions of a store.
export function canonical(source) {
  const target = `${fresh("canonical")}.jsonl`;
  rehome([source, target, "--to", "canonical"]);
  return target;
}

// place lets rehome name the target itself, from the folder that the agents
// work in and the home they have.
export const place = (source, cwd, home) => rehome([source, "--to", "cursor-sdk", "--cwd", cwd, "--home", home, "--with-secrets"]);

// inHome runs a command on the machine of a home folder, and gives its result.
export function inHome(home, args, ok = [0]) {
  const env = { ...process.env, HOME: home, USERPROFILE: home };
  for (const name of ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "CURSOR_CONFIG_DIR", "CURSOR_DATA_DIR", "XDG_CONFIG_HOME", "WSL_DISTRO_NAME"]) delete env[name];
  return JSON.parse(run(`rehome ${args[0]}`, binary, [...args, "--json"], { cwd: scratch, env, ok }));
}

// ls lists all sessions of a home folder.
export const ls = (home) => inHome(home, ["ls"]);

// examine is the report of `rehome check`, whatever it found.
export function examine(at) {
  const done = spawnSync(binary, ["check", at, "--json", "--notes"], { encoding: "utf8", timeout: 120_000, maxBuffer: 1 << 28, cwd: scratch, env: { ...process.env, HOME: scratch } });
  if (done.status !== 0 && done.status !== 4) throw new Error(`rehome check: exit ${done.status ?? done.signal}: ${tail(done.stderr || done.stdout || "")}`);
  return JSON.parse(done.stdout);
}

// rehome converts as a user would, whatever the flags, and gives its report.
export function rehome(args) {
  return JSON.parse(run(`rehome convert ${args.filter((arg) => !path.isAbsolute(arg)).join(" ")}`, binary, ["convert", "--json", ...args], { cwd: scratch, env: { ...process.env, HOME: scratch } }));
}

// inRepository runs a command in a work tree of git, and gives its result.
export function inRepository(cwd, args) {
  const env = { ...process.env, HOME: scratch, PATH: `${scratch}${path.delimiter}${process.env.PATH}` };
  return JSON.parse(run(`rehome ${args.join(" ")}`, binary, [...args, "--json"], { cwd, env }));
}

// shown lets rehome write sessions for people, as a user would.
export const shown = (args) => run("rehome show", binary, ["show", ...args], { cwd: scratch, env: { ...process.env, HOME: scratch } });

// watch starts `rehome watch`. stop ends it as a terminal does, and gives its exit
// status and its events.
export function watch(source, target, to) {
  const log = `${fresh("watch")}.ndjson`, out = fs.openSync(log, "w");
  const child = spawn(binary, ["watch", source, target, "--to", to, "--json"], { cwd: scratch, env: { ...process.env, HOME: scratch }, stdio: ["ignore", out, out] });
  const ended = new Promise((done) => child.on("exit", (code, signal) => done(code ?? signal)));
  fs.closeSync(out);
  return {
    said: () => tail(fs.readFileSync(log, "utf8")),
    async stop() {
      child.kill("SIGTERM");
      const status = await ended;
      return { status, events: fs.readFileSync(log, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line)) };
    },
  };
}

// migrate runs `rehome migrate` into a config folder, and gives its report.
export function migrate(source, config, cwd, flags = []) {
  const args = ["migrate", source, "--claude-dir", config, "--cwd", cwd, "--json", ...flags];
  return JSON.parse(run(`rehome migrate ${path.basename(source)}`, binary, args, { cwd: scratch, env: { ...process.env, HOME: scratch } })).migrated;
}

// inFront has a person start rehome in front of a terminal, press keys, and wait
// for what Claude Code then shows.
export const inFront = (args, job) => claude({ do: "start", ...job, command: [binary, ...args] });

// stores are generated ones, about so many sessions of each kind.
export const stores = (count) => JSON.parse(run("stores", ours, ["stores", fresh("stores"), String(count)], { timeout: 300_000 }));

// claude has Claude Code work, each session in a process of its own.
export function claude(job) {
  const file = `${fresh("job")}.json`;
  fs.writeFileSync(file, JSON.stringify({ ...job, tool: ours }));
  return JSON.parse(run(`Claude Code ${job.version}`, process.execPath, ["--no-warnings", path.join(here, "claude-client.mjs"), file], { cwd: scratch, timeout: 2_400_000, maxBuffer: 1 << 30 }));
}

// client does one job in a process of the real client. Its home is never the
// user's. Jobs over many stores take longer.
export function client(job, home = scratch) {
  const timeout = job.stores ? 1_800_000 : 120_000;
  const env = { ...process.env, HOME: home, USERPROFILE: home };
  delete env.CURSOR_DATA_DIR;
  const out = run(`SDK ${job.version} ${job.do}`, process.execPath, ["--no-warnings", path.join(here, "client.mjs"), JSON.stringify(job)], { cwd: scratch, env, timeout, maxBuffer: 1 << 30 });
  return JSON.parse(out);
}

// The SQLite store of 1.0.17 has no column for these.
export const read = (version, kind, at) => client({ do: "read", version, kind, at, lacks: version === "1.0.17" ? ["requestId", "usage"] : [] });

export const cells = (at) => tables(at, fresh("cells"));

// files is every file of a folder: its mode, its time and its bytes, by a digest.
export function files(at) {
  const found = {};
  for (const name of fs.readdirSync(at, { recursive: true }).sort()) {
    const full = path.join(at, name);
    const stat = fs.statSync(full);
    const { mode, mtimeMs } = stat;
    found[name] = stat.isFile() ? { mode, mtimeMs, size: stat.size, sha256: createHash("sha256").update(fs.readFileSync(full)).digest("hex") } : { mode, mtimeMs };
  }
  return found;
}

// bytes is every file of a folder and what stands in it, a letter for a byte.
// What rehome lays beside lines for git is no part of a store.
export function bytes(at) {
  const names = fs.readdirSync(at, { recursive: true }).sort().filter((name) => name !== ".gitattributes" && fs.statSync(path.join(at, name)).isFile());
  return Object.fromEntries(names.map((name) => [name, fs.readFileSync(path.join(at, name), "latin1")]));
}

// once does its work at the first call and keeps what came of it, an error too:
// a preparation that fails fails every check that stands on it.
export function once(work) {
  let done;
  return () => {
    try {
      done ??= { value: work() };
    } catch (error) {
      done = { error };
    }
    if (done.error) throw done.error;
    return done.value;
  };
}

// same compares two values and names the first place where they differ.
export function same(got, want, what, at = "") {
  if (got !== null && want !== null && typeof got === "object" && typeof want === "object") {
    for (const key of new Set([...Object.keys(want), ...Object.keys(got)])) same(got[key], want[key], what, `${at}/${key}`);
    assert.equal(Array.isArray(got), Array.isArray(want), `${what}: ${at}`);
    return;
  }
  if (Object.is(got, want)) return;
  // Of two long texts only what surrounds the first difference is shown.
  let from = 0;
  if (typeof got === "string" && typeof want === "string") while (got[from] === want[from]) from++;
  from = Math.max(0, from - 40);
  const show = (value) => (value === undefined ? "nothing" : (from ? "…" : "") + JSON.stringify(typeof value === "string" ? value.slice(from, from + 120) : value));
  throw new Error(`${what}: ${at || "/"}: got ${show(got)}, want ${show(want)}`);
}

const counts = { passed: 0, failed: 0 };
export const failures = () => counts.failed;

// report prints the line of a check: what was compared, or why it failed.
function report(name, begun, error, compared) {
  counts[error ? "failed" : "passed"]++;
  const line = error ? `FAIL  ${name}: ${error.message.replaceAll(scratch, "$SCRATCH")}` : `ok    ${name}: ${compared}`;
  console.log(`${line} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
}

export function check(name, compare) {
  const begun = performance.now();
  try {
    report(name, begun, null, compare());
  } catch (error) {
    report(name, begun, error);
  }
}

// checked is check for what runs beside other processes.
export async function checked(name, compare) {
  const begun = performance.now();
  await compare().then((compared) => report(name, begun, null, compared), (error) => report(name, begun, error));
}

// finish ends the run.
export function finish() {
  if (counts.failed) console.log(`the stores stay in ${scratch}`);
  else fs.rmSync(scratch, { recursive: true, force: true });
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exit(counts.failed ? 1 : 0);
}

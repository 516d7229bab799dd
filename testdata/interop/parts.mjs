// Parts of the checks that run at the same time.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import { children, scratch } from "./tools.mjs";

// together runs each part in a process of its own, as many at once as there are cores, and at least
// two. It prints what they print in their order, and gives the exit status. A part must end with its
// count: one that does not, or has counted nothing, has failed.
export async function together(names, command) {
  const said = names.map(() => ""), ended = names.map(() => false), total = { passed: 0, failed: 0 };
  let shown = 0;
  const say = (i, text) => {
    said[i] += text;
    if (i === shown) process.stdout.write(text);
  };
  const next = () => {
    while (ended[shown]) if (++shown < names.length) process.stdout.write(said[shown]);
  };
  const run = (i) => new Promise((done) => {
    say(i, `${names[i]}:\n`);
    const child = spawn(process.execPath, ["--no-warnings", ...command(names[i])], { env: children, stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      out += text;
      say(i, text);
    });
    child.stderr.setEncoding("utf8").on("data", (text) => say(i, text));
    child.on("error", ({ message }) => say(i, `${message}\n`));
    child.on("close", (code, signal) => {
      const [passed, failed] = (/(\d+) passed, (\d+) failed\n$/.exec(out) ?? []).slice(1).map(Number);
      if (!(passed + failed) || code !== (failed ? 1 : 0)) {
        say(i, `FAIL  ${names[i]}: ended with ${signal ?? `exit ${code}`}, and not with its count\n`);
        total.failed++;
      }
      total.passed += passed || 0;
      total.failed += failed || 0;
      ended[i] = true;
      next();
      done();
    });
  });
  const queue = [...names.keys()];
  const worker = async () => {
    while (queue.length) await run(queue.shift());
  };
  await Promise.all(Array.from({ length: Math.max(2, os.availableParallelism()) }, worker));
  if (!total.failed) fs.rmSync(scratch, { recursive: true, force: true });
  console.log(`all parts: ${total.passed} passed, ${total.failed} failed`);
  return total.failed ? 1 : 0;
}

// A client in a process of its own that is told what to do by the Agent Client Protocol.
import { spawn } from "node:child_process";
import readline from "node:readline";

// open starts the client, and gives functions that ask it something, tell it something, and end
// it; and what it said by itself. What it wants to be allowed, it is.
export function open(name, [command, ...args], options) {
  const child = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
  const waiting = new Map(), updates = [];
  let n = 0, trouble = "";
  child.stderr.on("data", (part) => (trouble += part));
  const closed = new Promise((done) => child.on("close", () => {
    for (const { fail } of waiting.values()) fail(new Error(`${name} ended: ${trouble.slice(-600)}`));
    done();
  }));
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  readline.createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line), asked = waiting.get(message.id);
    if (message.method === "session/update") updates.push(message.params);
    else if (message.method) send({ id: message.id, result: { outcome: { outcome: "selected", optionId: "allow_once" } } });
    else if (waiting.delete(message.id)) message.error ? asked.fail(new Error(JSON.stringify(message.error))) : asked.done(message.result);
  });
  const ask = (method, params) => new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`${method}: no answer`)), 120_000);
    waiting.set(++n, { done: (result) => (clearTimeout(timer), done(result)), fail: (error) => (clearTimeout(timer), fail(error)) });
    send({ id: n, method, params });
  });
  const tell = (method, params) => send({ method, params });
  const end = async () => {
    child.stdin.end();
    const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
    await closed;
    clearTimeout(timer);
  };
  return { ask, tell, end, updates };
}

// The real Agent SDK as judge of session stores on servers: it writes to each, rehome-fleet copies
// them to one another, and the SDK continues every copy. The servers are those of `make services`.
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { unlike } from "./claude-history.mjs";
import { read } from "./claude-sources.mjs";
import { check, folder, fresh, once, root, run, same, scratch } from "./tools.mjs";

const here = path.join(root, "testdata", "interop"), need = (name) => process.env[name] || (() => { throw new Error(`${name} is not set: run \`make services\``); })();

// addresses give a store of its own at every call.
const addresses = {
  postgres: () => `claude+${need("REHOME_TEST_POSTGRES")}${need("REHOME_TEST_POSTGRES").includes("?") ? "&" : "?"}table=interop_${randomBytes(6).toString("hex")}`,
  redis: () => `claude+${need("REHOME_TEST_REDIS")}?prefix=interop-${randomBytes(6).toString("hex")}`,
  s3: () => `claude+s3://rehome-interop/${randomBytes(6).toString("hex")}`,
};
const environment = () => ({ ...process.env, HOME: scratch, AWS_ENDPOINT_URL: need("REHOME_TEST_S3") });

const fleet = once(() => {
  const binary = process.env.REHOME_INTEROP_FLEET || path.join(scratch, "rehome-fleet");
  if (!process.env.REHOME_INTEROP_FLEET) run("go build", "go", ["build", "-trimpath", "-o", binary, "./cmd/rehome-fleet"], { cwd: root, timeout: 600_000, env: { ...process.env, CGO_ENABLED: "0" } });
  return binary;
});
const convert = (...args) => run(`rehome-fleet convert`, fleet(), ["convert", ...args], { cwd: scratch, env: environment(), ok: [0, 3] });

// sdk has the SDK work in a process of its own, in a home folder that is empty.
function sdk(address, cwd, turns = []) {
  const job = `${fresh("job")}.json`, project = cwd.replace(/[^a-zA-Z0-9]/g, "-");
  fs.writeFileSync(job, JSON.stringify({ address, cwd, home: fresh("home"), project, turns }));
  return JSON.parse(run("the Agent SDK", process.execPath, ["--no-warnings", path.join(here, "session-store-client.mjs"), job], { cwd: scratch, env: environment(), timeout: 240_000, maxBuffer: 1 << 28 }));
}

// plain is what a store holds: of the descriptions of a subagent the SDK uses the last one.
const plain = (sessions) => Object.fromEntries(Object.entries(sessions).map(([id, { transcripts, messages }]) => [id, { messages, transcripts: Object.fromEntries(Object.entries(transcripts).map(([subpath, entries]) => {
  const about = ({ type }) => type === "agent_metadata";
  return [subpath, { entries: entries.filter((one) => !about(one)), meta: entries.findLast(about) }];
})) }]));

// heard is a conversation without what the client says of itself and of the time.
const heard = (messages) => messages.filter(({ role }) => role !== "system").map(({ role, content }) => ({ role, content: (typeof content === "string" ? [{ type: "text", text: content }] : content).filter(({ text }) => !text?.startsWith("<system-reminder>")).map(({ cache_control, ...block }) => block) }));

// resumed continues the one session of a store, and gives what the model was asked.
function resumed(address, cwd, id) {
  const [turn] = sdk(address, cwd, [{ prompt: "What comes next?", resume: id }]).turns;
  if (turn.failed || turn.errors.length || turn.session !== id || !turn.messages) throw new Error(`${address.split(":")[0]}: ${JSON.stringify({ ...turn, messages: undefined })}`);
  return turn.messages;
}

export function stored() {
  const names = Object.keys(addresses);
  for (const [i, name] of names.entries()) {
    const other = names[(i + 1) % names.length];
    check(`the Agent SDK's sessions, ${name} to ${other}`, () => {
      const cwd = folder("work é"), from = addresses[name](), to = addresses[other]();
      const made = sdk(from, cwd, [{ prompt: "play: tools" }, { prompt: "Second\nprompt \"é\" 🚀", resume: 0 }]), [{ session: id }] = made.turns;
      if (other === "s3") sdk(to, cwd); // makes the bucket, which rehome-fleet does not
      convert(from, to);
      const copy = sdk(to, cwd).sessions;
      same(plain(copy), plain(made.sessions), "the copy");
      const transcripts = Object.values(copy[id].transcripts), entries = transcripts.reduce((sum, all) => sum + all.length, 0);
      if (transcripts.length < 2 || entries < 40) throw new Error(`${transcripts.length} transcripts, ${entries} entries`);
      same(heard(resumed(to, cwd, id)), heard(resumed(from, cwd, id)), "what the model is asked");
      // The SDK has gone on with both; now their sessions differ.
      let refused = "";
      try {
        convert(from, to);
      } catch ({ message }) {
        refused = message;
      }
      if (!/already exists/.test(refused)) throw new Error(`a session that was continued is replaced: ${refused}`);
      return `${entries} entries in ${transcripts.length} transcripts are equal and resumed; continued, they are refused`;
    });
    check(`a chat of Cursor, to ${name}`, () => {
      const stores = ["before.db", "after.db"].map((file) => ({ kind: "chat", at: path.join(root, "testdata", "chat", file) })), held = read(stores);
      for (const [i, { at }] of stores.entries()) {
        const cwd = folder("work"), to = addresses[name](), [{ now }] = Object.values(held[i]);
        convert(at, to, "--cwd", cwd);
        const [id, ...more] = Object.keys(sdk(to, cwd).sessions);
        const lost = unlike(now, heard(resumed(to, cwd, id)));
        if (lost.length || more.length) throw new Error(`${path.basename(at)}: ${[...lost, ...more].slice(0, 3).join("; ")}`);
      }
      return `${stores.length} resumed`;
    });
  }
}

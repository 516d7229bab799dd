// One thing removed from an agent in a store of lines: a prompt, an answer or a
// call with its result, from the messages for the model or from the turns; or all
// of its subagents. Its title is changed instead.
import fs from "node:fs";
import path from "node:path";
import { parts } from "./claude-state.mjs";
import { fresh } from "./tools.mjs";
import { fields, message, sha256 } from "./wire.mjs";

// without is a record less some values of a field, or with others in their place.
const change = (bytes, number, map) => {
  const record = fields(bytes), all = record.numbers().map((n) => [n, record.all(n)]);
  return message(...all.flatMap(([n, values]) => (n === number ? values.flatMap(map) : values).map((value) => [n, typeof value === "bigint" ? Number(value) : value])));
};

const has = (content, type) => parts(content).some((part) => part.type === type);
const prompts = {
  "a prompt": ({ role, content }) => role === "user" && /<user_query>/.test(parts(content)[0].text),
  "an answer": ({ role, content }) => role === "assistant" && has(content, "text") && !has(content, "tool-call"),
  "a call": ({ role, content }) => role === "assistant" && has(content, "tool-call"),
};
const steps = { "an answer": 1, "a call": 2 };

// spoil copies a store without one thing. It gives nothing if there is no such thing.
export function spoil(at, from, what) {
  const read = (name) => fs.readFileSync(path.join(at, name), "utf8");
  const blobs = new Map(read("checkpoints.ndjson").split("\n").filter(Boolean).map((line) => JSON.parse(line)).map((line) => [line.blobId, { ...line, body: Buffer.from(line.dataBase64, "base64") }]));
  const get = (id) => blobs.get(id.toString("hex")).body, old = JSON.parse(read("agents.ndjson").split("\n")[0]).latestCheckpoint.rootBlobId;
  const put = (body) => {
    const id = sha256(body);
    blobs.set(id.toString("hex"), { ...blobs.get(old), blobId: id.toString("hex"), dataBase64: body.toString("base64"), body });
    return id;
  };
  const root = fields(blobs.get(old).body), last = (list, wanted) => list.findLast(wanted);
  let body;
  if (from === "the title") {
    body = blobs.get(old).body;
  } else if (from === "the subagents") {
    body = change(blobs.get(old).body, 31, () => []);
  } else if (from === "the model") {
    const gone = last(root.all(1), (id) => prompts[what](JSON.parse(get(id))));
    body = gone && change(blobs.get(old).body, 1, (id) => (id.equals(gone) ? [] : [id]));
  } else {
    const turns = root.all(8), step = (id) => fields(get(id)).has(steps[what]), inner = (id) => fields(get(id)).sub(1).all(2);
    const turn = last(turns, (id) => fields(get(id)).has(1) && (what === "a prompt" || inner(id).some(step)));
    const gone = turn && what !== "a prompt" && last(inner(turn), step);
    const less = () => put(change(get(turn), 1, (one) => [change(one, 2, (id) => (id.equals(gone) ? [] : [id]))]));
    body = turn && change(blobs.get(old).body, 8, (id) => (!id.equals(turn) ? [id] : what === "a prompt" ? [] : [less()]));
  }
  if (!body) return;
  const now = put(body).toString("hex"), copy = fresh("spoilt");
  fs.cpSync(at, copy, { recursive: true });
  for (const name of ["agents.ndjson", "runs.ndjson"]) fs.writeFileSync(path.join(copy, name), read(name).replaceAll(old, now).replace(from === "the title" ? /"name":"/ : /$^/, (name) => `${name}No `));
  fs.writeFileSync(path.join(copy, "checkpoints.ndjson"), [...blobs.values()].map(({ body: _, ...line }) => `${JSON.stringify(line)}\n`).join(""));
  return copy;
}

export const spoils = ["the model", "the turns"].flatMap((from) => Object.keys(prompts).map((what) => [from, what]));

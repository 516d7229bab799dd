// What a client has just written, in the eyes of `rehome check`: it is whole, and
// one fault planted in a copy of it is found. Who cries wolf is not asked again.
import fs from "node:fs";
import path from "node:path";
import { check, examine, files, fresh, same } from "./tools.mjs";

// Faults by kind of store: each takes away one thing that something else names,
// and says which rule has to miss it.
const faults = {
  sqlite(at, DatabaseSync) {
    const file = found(at, (name) => name === "store.db");
    const db = new DatabaseSync(file);
    const { changes } = db.prepare("UPDATE blobs SET data = CAST(data || x'00' AS BLOB) WHERE rowid = (SELECT max(rowid) FROM blobs)").run();
    db.close();
    if (!changes) throw new Error("there is no blob to change");
    return "RH301";
  },
  ndjson(at) {
    const file = path.join(at, "checkpoints.ndjson"); // its first blob is a message that every root names
    fs.writeFileSync(file, fs.readFileSync(file, "utf8").split("\n").slice(1).join("\n"));
    return "RH304";
  },
  codex(at) {
    const file = found(at, (name, full) => name.startsWith("rollout-") && fs.readFileSync(full, "utf8").includes('"function_call"'));
    const lines = fs.readFileSync(file, "utf8").split("\n");
    lines.splice(lines.findIndex((line) => line.includes('"type":"function_call"')), 1);
    fs.writeFileSync(file, lines.join("\n"));
    return "RH494";
  },
  claude(at) {
    const file = found(path.join(at, "projects"), (name, full) => name.endsWith(".jsonl") && fs.readFileSync(full, "utf8").includes('"tool_result"'));
    const lines = fs.readFileSync(file, "utf8").split("\n");
    lines.splice(lines.findIndex((line) => line.includes('"tool_use"')), 1);
    fs.writeFileSync(file, lines.join("\n"));
    return "RH352";
  },
};

function found(at, wanted) {
  for (const name of fs.readdirSync(at, { recursive: true }).sort()) {
    const full = path.join(at, name);
    if (fs.statSync(full).isFile() && wanted(path.basename(name), full)) return full;
  }
  throw new Error(`what the fault is planted in is not in ${at}`);
}

export const broken = ({ checked }) => checked.flatMap(({ findings }) => findings.filter(({ severity }) => severity !== "note").map(({ rule }) => rule));

export function whole(name, kind, source) {
  check(`${name}, whole`, () => {
    const at = source(), before = files(at), report = examine(at);
    if (!report.totals.stores) throw new Error("no store is found");
    same(report.totals.failed, 0, "what could not be examined");
    same(broken(report), [], "errors and warnings over what the client wrote");
    same(files(at), before, "the source was changed");
    return `no error and no warning over ${report.totals.bytes} bytes`;
  });
  check(`${name}, with one fault`, () => {
    const copy = fresh("spoilt");
    fs.cpSync(source(), copy, { recursive: true });
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    const rule = faults[kind](copy, DatabaseSync), rules = broken(examine(copy));
    if (!rules.includes(rule)) throw new Error(`${rule} is not found, only ${rules.join(", ") || "nothing"}`);
    return `found out: ${[...new Set(rules)].join(", ")}`;
  });
}

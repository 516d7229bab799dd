// Which stores are migrated: samples, what the SDK writes in this very run, and
// what is made at random; each with its kind, as claude-sources.mjs knows them.
import fs from "node:fs";
import path from "node:path";
import { execute } from "./tables.mjs";
import { fresh, root, stores } from "./tools.mjs";

// samples are the stores that lie in testdata, all that the Cursor clients wrote
// themselves among them.
export function samples() {
  const below = (...names) => path.join(root, "testdata", ...names), every = (name) => fs.readdirSync(below(name), { recursive: true }).sort();
  const found = ["before.db", "after.db"].map((name) => ({ kind: "chat", at: below("chat", name) }));
  for (const name of every("sdk")) {
    if (path.basename(name) === "index.db") found.push({ kind: "sdk", at: path.dirname(below("sdk", name)) });
    if (path.basename(name) === "agents.ndjson") found.push({ kind: "lines", at: path.dirname(below("sdk", name)) });
  }
  for (const name of ["plain", "parallel", "partial", "outcomes", "tools", "runs", "sessions", "background", "questions", "noise", "failed"]) found.push({ kind: "stream", at: below("stream", `${name}.jsonl`) });
  for (const name of every("transcript")) {
    if (/agent-transcripts.*\.txt$/.test(name)) found.push({ kind: "text", at: below("transcript", name) });
    if (/agent-transcripts.*\.jsonl$/.test(name)) found.push({ kind: "transcript", at: below("transcript", name) });
  }
  for (const name of ["heads", "global-json", "compacted"]) found.push({ kind: "ide", at: built(below("ide", "cases", `${name}.sql`)) });
  return found;
}

// foreign are the samples of Claude Code, which are migrated to others only.
export const foreign = () => ["config", "shapes"].map((name) => ({ kind: "claude", at: path.join(root, "testdata", "claude", name) }));

// built makes the user folder of the IDE that a script describes.
export function built(script) {
  const at = fresh(path.basename(script, ".sql"));
  for (const part of `\n${fs.readFileSync(script, "utf8")}`.split("\n-- file: ").slice(1)) {
    const [, name, body] = /^(.*)\n([^]*)$/.exec(part), file = path.join(at, ...name.split("/"));
    fs.mkdirSync(path.dirname(file), { recursive: true });
    if (path.basename(file) !== "state.vscdb") fs.writeFileSync(file, body);
    else execute(file, body);
  }
  return at;
}

// lived are stores that the SDK has written in this very run, with the transcripts beside some. What
// was only put into a store through its classes is there, too.
export function lived(made) {
  return made.flatMap(({ kind, source, beside }) => {
    const { at } = source(), found = [{ kind: kind === "sqlite" ? "sdk" : "lines", at }];
    if (!beside) return found;
    const folder = path.join(at, "..", "..", "agent-transcripts");
    return [...found, ...fs.readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".jsonl")).map((name) => ({ kind: "transcript", at: path.join(folder, name) }))];
  });
}

// So many of each kind are generated, in make proof more: over 16 sessions for Claude Code, which gets none of its own,
// and over 26 for the SDK. Those for Claude Code take a process each.
const { REHOME_INTEROP_SESSIONS: asked = 4, REHOME_INTEROP_SDK_SESSIONS: more = Math.ceil(asked * 1.25) } = process.env;
export const generated = () => stores(Number(asked)).filter(({ kind }) => kind !== "claude");
export const least = Math.max(1, asked * 4);
// Older versions of the clients resume the samples in each run, and what is generated or spoilt in make proof.
export const thorough = "REHOME_INTEROP_SESSIONS" in process.env;
export const many = () => stores(Number(more));
export const most = Math.max(1, Math.ceil(more * 5.3));

// mixed are as many generated sessions, of each kind, for clients that get a process or an import for each.
export const mix = 20;
export const mixed = () => stores(4);

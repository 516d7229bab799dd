// The real Claude Code as judge of what `rehome migrate` writes: it resumes each
// session, and what the API hears is held against what the source holds.
import fs from "node:fs";
import path from "node:path";
import { counts, missing } from "./claude-history.mjs";
import { items as proven, lay, place, wrong } from "./claude-proof.mjs";
import { broken } from "./claude-rules.mjs";
import { readers } from "./claude-sources.mjs";
import { check, claude, folder, migrate, once, root, stores } from "./tools.mjs";

export const clients = ["2.1.328", "2.0.77"];

// faults is all that is wrong with a session that was resumed.
function faults(session, got, seen) {
  const found = [];
  if (!got || got.failed) return [got?.failed ?? "it was not resumed"];
  if (!got.messages) return ["the API heard nothing"];
  if (got.continued !== session.id) found.push(`it goes on as ${got.continued}`);
  if (got.requests !== 1) found.push(`${got.requests} requests for one answer`);
  found.push(...missing(session.items, got.messages).map((item) => `not in its place: ${item}`));
  found.push(...broken(got.messages).map((rule) => `against the API's rules: ${rule}`));
  if (!got.appended.kept) found.push("the client changed our lines");
  if (!got.appended.parent || got.appended.parent !== got.appended.last) found.push(`the new prompt follows ${got.appended.parent}, and not the last message`);
  if (!seen) return found;
  if (!seen.listed) found.push("the Agent SDK does not list it");
  if (!seen.title) found.push("the Agent SDK has no title for it");
  if (seen.messages.at(-1) !== got.appended.shown) found.push("the Agent SDK reads it to another end");
  if (session.subagents !== undefined && seen.subagents.filter((n) => n > 0).length !== session.subagents) found.push(`${session.subagents} subagents, and the Agent SDK reads ${JSON.stringify(seen.subagents)}`);
  return found;
}

// ask has a client resume sessions, and gives for each what is wrong with it.
function ask(version, sessions) {
  const { resumed, listed } = claude({ version, list: version === clients[0], sessions: sessions.map(({ id, cwd, at }) => ({ id, cwd, at })) });
  const of = (list, { id, at }) => list.find((one) => one.id === id && one.at === at);
  return sessions.map((session) => faults(session, of(resumed, session), of(listed, session)));
}

// proof shows that the judge can say yes and no.
export function proof(version) {
  const { config, cwd } = place();
  const good = { ...lay(config, cwd), at: config, items: proven };
  const bad = Object.entries(wrong).filter(([, [, only]]) => !only || only === version).map(([name, [change, , id]]) => ({ name, ...lay(config, cwd, change, id), at: config, items: proven }));
  const heard = once(() => ask(version, [good, ...bad]));
  check(`Claude Code ${version}, a session as it should be`, () => {
    const [found] = heard();
    if (found.length) throw new Error(found.join("; "));
    return `${proven.length} blocks in their order, resumed and listed`;
  });
  check(`Claude Code ${version}, sessions with one fault each`, () => {
    const missed = bad.filter((_, i) => !heard()[i + 1].length).map(({ name }) => name);
    if (missed.length) throw new Error(`not found out: ${missed.join("; ")}`);
    return `${bad.length} found out`;
  });
}

// move migrates stores, each into a config folder of its own, and gives the sessions that came
// of them with what their sources hold.
function move(list, flags) {
  const cwd = folder("work é (1)"), sessions = [], trouble = [];
  for (const { kind, at } of list) {
    const config = folder("config");
    const held = readers[kind](at);
    let came = [];
    try {
      came = migrate(at, config, cwd, flags);
    } catch (error) {
      trouble.push(`${kind} ${path.basename(path.dirname(at))}/${path.basename(at)}: ${error.message}`);
      continue;
    }
    for (const [id, items] of Object.entries(held)) {
      if (!items.length) continue;
      const one = came.find((session) => session.id === id);
      if (!one) {
        // A subagent's session goes with its parent.
        if (!came.some(({ subagents }) => subagents)) trouble.push(`${kind} ${id}: it was not migrated`);
        continue;
      }
      if (one.error) trouble.push(`${kind} ${id}: ${one.error.message}`);
      else sessions.push({ id: one.session, cwd, at: config, items, from: `${kind} ${path.basename(path.dirname(at))}/${path.basename(at)} ${id}`, subagents: one.subagents });
    }
  }
  return { sessions, trouble };
}

const told = (sessions) => {
  const n = counts(sessions.flatMap(({ items }) => items));
  return `${n.prompts} prompts, ${n.answers} answers, ${n.calls} calls with ${n.results} results that are known, ${n.images} images`;
};

// migrated has both clients resume what came of some stores; the older one, which
// takes more than twice as long, only one in so many, if thin says so.
export function migrated(name, list, { flags, least = 1, thin = 1 } = {}) {
  const made = once(() => move(list(), flags));
  for (const version of clients) {
    const share = version === clients[0] ? 1 : thin;
    check(`Claude Code ${version}, ${name}${share > 1 ? `, one in ${share}` : ""}`, () => {
      const { sessions: every, trouble } = made();
      if (every.length < least) throw new Error(`${every.length} sessions, want ${least} at least`);
      // In the order of their ids the kinds of store are mixed, and always alike.
      const sessions = every.toSorted((a, b) => (a.id < b.id ? -1 : 1)).filter((_, i) => i % share === 0);
      const bad = ask(version, sessions).flatMap((found, i) => (found.length ? [`${sessions[i].from}: ${found.slice(0, 3).join("; ")}`] : []));
      bad.push(...trouble);
      if (bad.length) throw new Error(`${bad.length} of ${sessions.length + trouble.length} sessions: ${bad.slice(0, 8).join("\n      ")}`);
      return `${sessions.length} sessions resumed${version === clients[0] ? " and listed" : ""}: ${told(sessions)}`;
    });
  }
}

// samples are the stores that lie in testdata, all that the Cursor clients wrote
// themselves among them.
export function samples() {
  const below = (...names) => path.join(root, "testdata", ...names);
  const found = ["before.db", "after.db"].map((name) => ({ kind: "chat", at: below("chat", name) }));
  for (const name of fs.readdirSync(below("sdk"), { recursive: true }).sort()) {
    if (path.basename(name) === "index.db") found.push({ kind: "sdk", at: path.dirname(below("sdk", name)) });
    if (path.basename(name) === "agents.ndjson") found.push({ kind: "lines", at: path.dirname(below("sdk", name)) });
  }
  for (const name of ["plain", "parallel", "partial", "outcomes", "tools"]) found.push({ kind: "stream", at: below("stream", `${name}.jsonl`) });
  return found;
}

// So many of each kind are generated: with them it is 200 sessions and more.
const usual = 60, count = Number(process.env.REHOME_INTEROP_SESSIONS ?? usual);
export const generated = () => stores(count);
export const least = count < usual ? 1 : 200;

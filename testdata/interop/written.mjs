// Sessions of all clients as stores of the Cursor SDK that rehome wrote. The
// real SDK lists and reads them, and resumes each agent; what it tells, and what
// its service hears, is compared with what the sources hold.
import path from "node:path";
import { headed } from "./claude.mjs";
import { counts, unlike } from "./claude-history.mjs";
import { read } from "./claude-sources.mjs";
import { versions } from "./sdk.mjs";
import { spoil, spoils } from "./spoil.mjs";
import { reported, survived } from "./survival.mjs";
import { canonical, check, client, examine, folder, once, rehome } from "./tools.mjs";
import { broken } from "./whole.mjs";

const forms = { sqlite: "cursor-sdk", ndjson: "cursor-ndjson", chat: "cursor-chat" };
const prompt = "And now – ещё";

// form is that in which a version of the SDK gets the nth store of a kind: each store
// has two of the three.
const form = (n, version) => Object.keys(forms)[(n + versions.indexOf(version)) % 3];

// write makes those forms of each store, below one folder. A store of the SDK goes
// by canonical text, and so does a chat to a chat: their other ways are exact.
export function write(stores) {
  const at = folder("written"), cwd = folder("work é (2)"), held = read(stores), list = [], trouble = [], met = {};
  for (const [i, { kind, at: source }] of stores.entries()) {
    const lines = once(() => canonical(source)), n = (met[kind] = (met[kind] ?? -1) + 1);
    for (const into of versions.map((version) => form(n, version))) {
      const text = kind === "sdk" || kind === "lines" || kind === into, name = `${kind}${text ? " by canonical" : ""}`, to = forms[into];
      const target = path.join(at, `${i} ${into}`), one = { n, kind: into, from: name, held: held[i] };
      try {
        const { stores } = rehome([text ? lines() : source, target, "--to", to, "--cwd", cwd, "--allow", "unreadable", ...(into === "ndjson" ? ["--flat"] : [])]);
        reported(name, to, stores.flatMap(({ losses = [] }) => losses));
        list.push({ ...one, at: target, path: `${path.basename(path.dirname(source))}/${path.basename(source)}` });
      } catch (error) {
        trouble.push({ ...one, what: `${name} ${source}: ${error.message}` });
      }
    }
  }
  return { at, cwd, list, trouble };
}

// What the ways to a history have in common with the source: each function
// changes the items that one of them cannot have.
const each = (change) => (lists) => lists.map(({ items, all }) => ({ all, items: items.flatMap(change) }));
const results = (change) => each((item) => (item.result ? { ...item, result: { ...item.result, has: change(item.result.has) } } : item));

// Records of calls have the lines of a result, without the numbers that some tools put before them.
const bare = results((has) => has.flatMap((text) => text.split("\n").map((line) => line.replace(/^\s*\d+[→\t|:]/, "").trim()).filter(Boolean)));
// Where a source has both, its record of a call need not have what the model was shown.
const mute = results(() => []);
const both = /^(sdk|lines|chat|ide|codex)\b/;
// The record of a change to a file has the change, not the words in which its tool confirms it.
const unconfirmed = each((item) => (item.edits && item.result ? { ...item, result: { ...item.result, has: [] } } : item));
// Of these clients the readers tell what is sent to the model, and not what was said before a summary of theirs.
const theirs = /^(pi|copilot|opencode|gemini)\b/;
// Records of calls need not have all that its model wrote.
const recorded = each(({ asked: _, ...item }) => item);
const pictureless = each((item) => (item.kind === "image" ? [] : item));
// Codex shows the model an image that a tool read in a message of its own, which is in no turn, and
// an image of the user's before the words that go with it. In turns images come after them.
const shown = (lists) => lists.map(({ items, all }) => ({ all, items: items.flatMap((item, i) => {
  const image = ({ kind, meta } = {}) => kind === "image" && !meta, words = ({ role, kind } = {}) => role === "user" && kind === "text";
  if (item.kind === "image") return item.meta || words(items[i + 1]) ? [] : item;
  return words(item) && image(items[i - 1]) ? [item, items[i - 1]] : item;
}) }));
// 1.0.17 does not tell the ids of calls in its list of messages.
const nameless = each((item) => ({ ...item, id: undefined }));
// Cursor keeps what users ran themselves as turns, and does not send it to the model.
const typed = each((item) => (item.ran ? [] : item));
// The SDK has no events for calls of some kinds, and calls fewer results failures.
const streamed = (lists) => each((item) => (item.kind !== "call" ? item : item.has.length ? { ...item, result: item.result && { has: [] } } : []))(lists).map(({ items }) => ({ items, all: false }));

// titled reports whether an agent has the title of its source: all of it, or its first line. NULs are replaced.
const titled = (name = "", title) => [title.toWellFormed(), title].map((one) => one.replaceAll("\0", "\ufffd")).some((one) => name === one || headed(name, one));

// faults is all that is wrong with an agent that was resumed.
function faults(version, form, from, { title, now, full = now, subagents = {} }, got, id) {
  if (!got) return ["it is not listed"];
  if (got.failed) return [`it is not resumed: ${got.failed}`];
  if (!got.heard || got.heard.failed) return [`the service hears nothing of it: ${got.heard?.failed}`];
  const found = [];
  const records = both.test(from) ? mute : bare, list = recorded(mute(pictureless(full))), turns = recorded(from === "codex" ? shown(full) : unconfirmed(full));
  const ways = {
    model: [typed(now), got.heard.model], turns: [records(turns), got.heard.turns],
    "list of messages": [version === "1.0.17" ? nameless(list) : list, [...got.list, ...got.heard.pending]], events: [streamed(typed(list)), [...got.events, ...got.heard.pending]],
  };
  if (form === "chat") delete ways.events; // a chat has no runs
  if (theirs.test(from)) for (const way of Object.keys(ways)) if (way !== "model") delete ways[way];
  for (const [way, [lists, messages]] of Object.entries(ways)) found.push(...unlike(lists, messages).map((what) => `${way}: ${what}`));
  if (title && !titled(got.name, title)) found.push(`title: it is ${JSON.stringify(got.name)}, and not ${JSON.stringify(title)}`);
  const ours = Object.entries(subagents ?? {}), others = got.heard.subagents;
  if (subagents && ours.length !== others.length) found.push(`subagents: ${ours.length}, and its state has ${others.length}`);
  for (const [name, items] of ours) {
    const lost = others.map(({ model, turns }) => [...unlike(typed([{ items, all: false }]), model), ...unlike(records(recorded([{ items, all: false }])), turns)]);
    if (!lost.some((list) => !list.length)) found.push(`subagents: ${name}: ${lost[0]?.[0] ?? "not there"}`);
  }
  if (!got.kept) found.push("what was there before is changed");
  if (got.more.join() !== `${prompt} ${id}` || got.ends.join() !== "finished") found.push(`after it: ${got.more} ${got.ends}`);
  return found;
}

// ask has a version of the SDK resume all agents of some written stores, and
// gives for each session of a source what is wrong with it.
export function ask(version, cwd, list) {
  const got = client({ do: "judge", version, cwd, prompt, stores: list.map(({ kind, at }) => ({ kind, at })) });
  return list.flatMap(({ kind, held, from, path: source }, i) => Object.entries(held).filter(([, { now }]) => now.some(({ items }) => items.length)).map(([id, one]) => {
    const agent = Object.keys(got[i]).find((name) => name === id || got[i][name].origin === id);
    return { id: agent, from, kind, name: `${from} ${source} ${id}`, one, got: got[i][agent], found: faults(version, kind, from, one, got[i][agent], agent) };
  }));
}

const sum = (asked) => {
  const n = counts(asked.flatMap(({ one: { now: [{ items }] } }) => items));
  const subagents = asked.flatMap(({ one }) => Object.keys(one.subagents ?? {})).length, titles = asked.filter(({ one }) => one.title).length;
  return `${n.prompts} prompts, ${n.answers} answers, ${n.thoughts} thoughts, ${n.calls} calls with ${n.results} results that are known, ${n.images} images, ${titles} titles, ${subagents} subagents`;
};

// writing are stores that are written once, for whatever asks for them first.
export const writing = (list) => once(() => write(list()));

// accepted has versions of the SDK resume what came of some stores: each store in one
// form for each version, and each form by each.
export function accepted(name, made, least, by = versions) {
  for (const version of by) {
    check(`SDK ${version}, ${name}, written by rehome`, () => {
      const { cwd, list, trouble } = made(), turn = ({ n, kind }) => kind === form(n, version);
      const asked = ask(version, cwd, list.filter(turn)), count = (from, kind, { now }, heard) => survived(from, forms[kind], `Cursor SDK ${version}`, typed(now)[0].items, heard);
      for (const { from, kind, one, got } of asked) count(from, kind, one, got?.heard?.model);
      for (const { from, kind, held } of trouble.filter(turn)) for (const one of Object.values(held)) if (one.now.length) count(from, kind, one);
      const bad = [...asked.flatMap((one) => (one.found.length ? [`${one.name}: ${one.found.slice(0, 3).join("; ")}`] : [])), ...trouble.map(({ what }) => what)];
      if (bad.length) throw new Error(`${bad.length} of ${asked.length + trouble.length} sessions: ${bad.slice(0, 8).join("\n      ")}`);
      if (asked.length < least) throw new Error(`${asked.length} sessions, want ${least} at least`);
      return `${asked.length} sessions listed, read and resumed: ${sum(asked)}`;
    });
  }
  check(`rehome check, ${name}, written by rehome`, () => {
    // Transcripts have the arguments of calls as the source has them: numbers, too, that JavaScript cannot hold.
    const report = examine(made().at), rules = broken(report).filter((rule) => !rule.startsWith("RH141"));
    if (!report.totals.stores || report.totals.failed || rules.length) throw new Error(`${report.totals.stores} stores, ${report.totals.failed} not examined: ${[...new Set(rules)].join(", ")}`);
    return `no error and no warning in ${report.totals.stores} stores`;
  });
}

// missed shows that the judge can say no: of one store of each kind, one thing
// at a time is removed, and each removal is found where it was made.
export function missed(...made) {
  check("SDK 1.0.32, written stores with one thing removed", () => {
    const kinds = new Map(), apart = new Map(); // apart: the first store with a title, and with a subagent
    for (const { cwd, list } of made.map((one) => one())) {
      const single = list.filter(({ kind, held, from }) => kind === "ndjson" && Object.keys(held).length === 1 && !theirs.test(from));
      for (const one of single) {
        const [{ title, subagents = {} }] = Object.values(one.held);
        for (const [what, has] of [["the title", title], ["the subagents", Object.keys(subagents).length]]) if (has && !apart.has(what)) apart.set(what, { ...one, cwd });
      }
      for (const one of single.filter(({ held }) => !Object.values(held)[0].full)) {
        const n = counts(Object.values(one.held)[0].now[0].items);
        if (n.prompts > 1 && n.answers && n.calls && !kinds.has(one.from)) kinds.set(one.from, { ...one, cwd });
      }
    }
    const cases = [...kinds.values()].flatMap((one) => spoils.flatMap(([from, what]) => {
      const at = spoil(one.at, from, what);
      return at ? [{ ...one, at, way: from.slice(4), name: `${one.from}: ${what} of ${from}` }] : [];
    }));
    for (const [from, one] of apart) cases.push({ ...one, at: spoil(one.at, from), way: from.slice(4), name: `${one.from}: ${from}` });
    if (apart.size < 2 || kinds.size < 3 || cases.length < 12) throw new Error(`only ${cases.length} removals in ${kinds.size} kinds of store`);
    const asked = cases.map(() => undefined);
    for (const cwd of new Set(cases.map((one) => one.cwd))) {
      const these = cases.filter((one) => one.cwd === cwd);
      ask("1.0.32", cwd, these).forEach((one, i) => { asked[cases.indexOf(these[i])] = one; });
    }
    const unseen = cases.filter(({ way }, i) => !asked[i]?.found.some((fault) => fault.startsWith(`${way}: `))).map(({ name }) => name);
    if (unseen.length) throw new Error(`not found: ${unseen.join("; ")}`);
    return `${cases.length} found, in stores of ${kinds.size} kinds of source`;
  });
}

// The real Claude Code as judge of what `rehome migrate` writes: it resumes each
// session, and what the API hears is held against what the source holds.
import path from "node:path";
import { counts, unlike } from "./claude-history.mjs";
import { aside, items as proven, lay, place, spoil, spoils, wrong } from "./claude-proof.mjs";
import { broken } from "./claude-rules.mjs";
import { read } from "./claude-sources.mjs";
import { reported, survived } from "./survival.mjs";
import { check, claude, folder, migrate, once } from "./tools.mjs";

export const clients = ["2.1.330", "2.0.77"];

// faults is all that is wrong with a session that was resumed.
function faults(session, got, seen) {
  const found = [];
  if (!got || got.failed) return [got?.failed ?? "it was not resumed"];
  if (!got.messages) return ["the API heard nothing"];
  if (got.continued !== session.id) found.push(`it goes on as ${got.continued}`);
  if (got.requests !== 1) found.push(`${got.requests} requests for one answer`);
  found.push(...unlike(session.lists, got.messages));
  found.push(...broken(got.messages).map((rule) => `against the API's rules: ${rule}`));
  if (!got.appended.kept) found.push("the client changed our lines");
  if (!got.appended.parent || got.appended.parent !== got.appended.last) found.push(`the new prompt follows ${got.appended.parent}, and not the last message`);
  return seen ? [...found, ...unlisted(session, got, seen)] : found;
}

// unlisted is what the Agent SDK does not know of a session.
function unlisted({ cwd, title, lists, subagents }, { appended }, seen) {
  const found = [];
  if (!seen.listed) found.push("the Agent SDK does not list it");
  if (!seen.title || (title && !headed(seen.title, title))) found.push(`the Agent SDK gives it the title ${JSON.stringify(seen.title)}, and not ${JSON.stringify(title)}`);
  if (seen.cwd !== cwd) found.push(`the Agent SDK has it in ${seen.cwd}`);
  const chain = JSON.stringify(appended.chain), read = JSON.stringify(seen.messages.map(({ uuid }) => uuid));
  if (chain !== read) found.push(`the Agent SDK reads ${seen.messages.length} messages of ${appended.chain.length}`);
  // It tells nothing that the client would not show.
  const shown = lists.map(({ items, all }) => ({ items: items.filter(({ meta }) => !meta), all }));
  found.push(...unlike(shown, seen.messages.map(({ message }) => message)).map((what) => `to the Agent SDK: ${what}`));
  const ours = Object.entries(subagents ?? {});
  if (subagents && ours.length !== seen.subagents.length) found.push(`${ours.length} subagents, and the Agent SDK lists ${seen.subagents.length}`);
  for (const [id, items] of ours) {
    const lost = seen.subagents.map((messages) => unlike([{ items, all: true }], messages.map(({ message }) => message)));
    if (!lost.some((list) => !list.length)) found.push(`the subagent ${id}: ${lost[0]?.[0] ?? "not there"}`);
  }
  return found;
}

// headed reports whether a title is the first line of a source's that says something, cut or not.
// What counts for a blank at its ends, no two languages agree on.
export function headed(title, source) {
  const bare = (line) => line.replace(/^[\s\u0085]+|[\s\u0085]+$/g, "");
  const line = source.toWellFormed().split(/\r?\n|\r/).map(bare).find((one) => /[^\p{C}\s]/u.test(one)) ?? "";
  return bare(title) === line || (line.length > 150 && title.endsWith("…") && line.startsWith(bare(title.slice(0, -1))));
}

// ask has a client resume sessions, and gives for each what is wrong with it.
function ask(version, sessions) {
  const { resumed, listed } = claude({ do: "resume", version, list: version === clients[0], sessions: sessions.map(({ id, cwd, at }) => ({ id, cwd, at })) });
  const of = (list, { id, at }) => list.find((one) => one.id === id && one.at === at);
  for (const session of sessions) {
    const heard = of(resumed, session)?.messages;
    if (session.from && !session.spoilt) reached(version, session, heard);
  }
  return sessions.map((session) => faults(session, of(resumed, session), of(listed, session)));
}

const reached = (version, { from, lists: [{ items }] }, heard) => survived(from.split(" ")[0], "claude-code", `Claude Code ${version}`, items, heard);

// proof shows that the judge can say yes and no.
export function proof(version) {
  const { config, cwd } = place(), told = { at: config, title: "A wet stair", lists: [{ items: proven, all: true }], subagents: { one: aside } };
  const good = { ...lay(config, cwd), ...told };
  const bad = Object.entries(wrong).filter(([, [, only]]) => !only || only === version).map(([name, [change, , id, beside]]) => ({ name, ...lay(config, cwd, change, id, beside), ...told }));
  const heard = once(() => ask(version, [good, ...bad]));
  check(`Claude Code ${version}, a session as it should be`, () => {
    const [found] = heard();
    if (found.length) throw new Error(found.join("; "));
    return `${proven.length} blocks in their order, resumed${version === clients[0] ? " and listed, and its subagent" : ""}`;
  });
  check(`Claude Code ${version}, sessions with one fault each`, () => {
    const missed = bad.filter((_, i) => !heard()[i + 1].length).map(({ name }) => name);
    if (missed.length) throw new Error(`not found out: ${missed.join("; ")}`);
    return `${bad.length} found out`;
  });
}

// move migrates stores, each into a config folder of its own, and gives the sessions that came
// of them with what their sources hold. Of a source with a summary the client is to be told once
// what it would go on with, and once everything.
function move(stores) {
  const cwd = folder("work é (1)"), held = read(stores), moved = { sessions: [], trouble: [] };
  for (const [i, { kind, at }] of stores.entries()) {
    const name = `${kind} ${path.basename(path.dirname(at))}/${path.basename(at)}`, all = Object.entries(held[i]);
    carry({ name, at, cwd, flags: [] }, all.map(([id, { now, ...one }]) => [id, { ...one, lists: now }]), moved);
    const summed = all.filter(([, { full }]) => full);
    if (summed.length) carry({ name: `${name}, all of it`, at, cwd, flags: ["--compacted"] }, summed.map(([id, { full, ...one }]) => [id, { ...one, lists: full }]), moved);
  }
  return moved;
}

function carry({ name, at, cwd, flags }, held, { sessions, trouble }) {
  const config = folder("config");
  let came = [];
  try {
    came = migrate(at, config, cwd, flags);
  } catch (error) {
    came = held.map(([id]) => ({ id, error }));
  }
  reported(name.split(" ")[0], "claude-code", came.flatMap(({ losses = [] }) => losses));
  for (const [id, { title, lists, subagents }] of held) {
    if (!lists.some(({ items }) => items.length)) continue;
    const one = came.find((session) => session.id === id);
    if (!one || one.error) trouble.push({ from: name, lists, what: `${name} ${id}: ${one?.error.message ?? "it was not migrated"}` });
    else sessions.push({ id: one.session, cwd, at: config, title, lists, subagents, from: `${name} ${id}` });
  }
}

const sum = (sessions) => {
  const n = counts(sessions.flatMap(({ lists: [{ items }] }) => items)), subagents = sessions.flatMap((one) => Object.keys(one.subagents ?? {})).length;
  return `${n.prompts} prompts, ${n.answers} answers, ${n.thoughts} thoughts, ${n.calls} calls with ${n.results} results that are known, ${n.images} images, ${subagents} subagents`;
};

// moving are stores that are migrated once, for whatever asks for them first.
export const moving = (list) => once(() => move(list()));

// migrated has the clients resume what came of some stores; that are so many sessions at least.
export function migrated(name, made, least, versions = clients) {
  for (const version of versions) {
    check(`Claude Code ${version}, ${name}`, () => {
      const { sessions, trouble } = made();
      const different = new Set(sessions.map(({ id }) => id)).size;
      if (different < least) throw new Error(`${different} sessions, want ${least} at least`);
      const bad = ask(version, sessions).flatMap((found, i) => (found.length ? [`${sessions[i].from}: ${found.slice(0, 3).join("; ")}`] : []));
      for (const one of trouble) reached(version, one);
      bad.push(...trouble.map(({ what }) => what));
      if (bad.length) throw new Error(`${bad.length} of ${sessions.length + trouble.length} sessions: ${bad.slice(0, 8).join("\n      ")}`);
      return `${sessions.length} resumed of ${different} sessions${version === clients[0] ? ", and listed" : ""}: ${sum(sessions)}`;
    });
  }
}

// spoilt says whether the judge finds out what is missing of a session that was really migrated:
// of one session of each kind of store, a prompt, an answer and the result of a call, each gone from its file.
export function spoilt(versions, ...made) {
  const heard = once(() => {
    const kinds = new Map(made.flatMap((one) => one().sessions).filter(({ lists: [{ items }] }) => counts(items).answers > 1 && counts(items).prompts > 1).map((session) => [session.from.split(" ")[0], session]));
    const cases = [...kinds].flatMap(([kind, session]) => Object.keys(spoils).flatMap((what) => {
      const at = spoil(session, what);
      return at ? [{ ...session, at, spoilt: true, name: `${kind}: ${what}` }] : [];
    }));
    return { kinds: kinds.size, cases };
  });
  for (const version of versions) {
    check(`Claude Code ${version}, migrated sessions of which one thing is taken`, () => {
      const { kinds, cases } = heard();
      const missed = ask(version, cases).flatMap((found, i) => (found.length ? [] : [cases[i].name]));
      if (missed.length) throw new Error(`not found out: ${missed.join("; ")}`);
      return `${cases.length} found out, in sessions of ${kinds} kinds of store`;
    });
  }
}

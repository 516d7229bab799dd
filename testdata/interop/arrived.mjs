// Clients that resume what rehome wrote for them, and what of it reaches their model.
import path from "node:path";
import { counts, unlike } from "./claude-history.mjs";
import { whole } from "./claude-items.mjs";
import { read } from "./claude-sources.mjs";
import { reported, survived } from "./survival.mjs";
import { check, folder, fresh, rehome } from "./tools.mjs";

// words are the new prompt.
export const words = "And what now? – ещё";

// within is what clients say at most of a command that the user ran itself: that it ran, with the output in the same text.
export const within = (lists) => lists.map(({ items, all }) => ({ all, items: items.map((item) => (item.ran ? { ...item, whole: undefined } : item)) }));

// apart puts sessions into as few groups as there can be without one id twice: captures can have the same.
export function apart(sessions, id) {
  const groups = [];
  for (const one of sessions) {
    const free = groups.find((group) => !group.some((other) => id(other) === id(one)));
    free ? free.push(one) : groups.push([one]);
  }
  return groups;
}

// written converts stores, and gives the sessions that came of them, and those that did not: of each what its
// source holds, and the file that is to be resumed.
function written(sources, format, cwd) {
  const held = read(sources), sessions = [], missing = [];
  for (const [i, { kind, at: source }] of sources.entries()) {
    const into = fresh(format);
    const { stores } = rehome([source, into, "--to", format, "--cwd", cwd, "--allow", "unreadable"]);
    reported(kind, format, stores.flatMap(({ losses = [] }) => losses));
    const files = new Map(stores.flatMap(({ sessions = [] }) => sessions).map(({ id, file }) => [id, file && path.join(into, file)]));
    for (const [id, { now }] of Object.entries(held[i])) {
      if (!now.some(({ items }) => items.length)) continue;
      const what = `${kind} ${path.basename(path.dirname(source))}/${path.basename(source)} ${id}`, file = files.get(id);
      file ? sessions.push({ what, kind, now: whole(now), file }) : missing.push(`${what}: it was not written`);
    }
  }
  return { sessions, missing };
}

// arrived checks that a client resumes what came of some stores. A client is {name, format, as, resume}: as makes of
// histories what the client can tell at most; resume has it go on with sessions in a folder, and gives for each
// {sent, wrong}, where sent is what the service heard before the new prompt, in messages of the Messages API.
export function arrived({ name: client, format, as, resume }, name, list, least) {
  check(`${client}, ${name}`, () => {
    const cwd = folder("work é (4)"), { sessions, missing: bad } = written(list(), format, cwd), told = resume(sessions, cwd);
    for (const [i, { what, kind, now }] of sessions.entries()) {
      const { sent, wrong } = told[i], want = as(now), found = [wrong ?? [], sent ? unlike(want, sent) : "the service heard nothing"].flat();
      survived(kind, format, client, want[0].items, sent);
      if (found.length) bad.push(`${what}: ${found.slice(0, 3).join("; ")}`);
    }
    if (bad.length) throw new Error(`${bad.length} of ${sessions.length}: ${bad.slice(0, 12).join("\n      ")}`);
    if (sessions.length < least) throw new Error(`${sessions.length} sessions, want ${least} at least`);
    const n = counts(sessions.flatMap(({ now: [{ items }] }) => items));
    return `${sessions.length} resumed: ${n.prompts} prompts, ${n.answers} answers, ${n.thoughts} thoughts, ${n.calls} calls with ${n.results} results that are known, ${n.images} images`;
  });
}

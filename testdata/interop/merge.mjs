// Two copies of one store, each continued by the real client, and merged by
// `rehome merge`: the client lists and resumes everything that either has, and
// two continuations of one session are two sessions, each of them whole.
import fs from "node:fs";
import path from "node:path";
import { clients } from "./claude.mjs";
import { heard, talk as ask, version as codex } from "./codex.mjs";
import { sent, talked } from "./lives.mjs";
import { talk } from "./resume.mjs";
import { bytes, check, claude, client, examine, files, folder, fresh, inHome, once, same } from "./tools.mjs";
import { broken } from "./whole.mjs";

const [newest] = clients;
const copied = (from) => {
  const to = fresh("side");
  fs.cpSync(from, to, { recursive: true, preserveTimestamps: true });
  return to;
};
const merge = (...stores) => {
  const out = fresh("merged"), before = stores.map(files);
  inHome(folder("home"), ["merge", ...stores, out]);
  same(stores.map(files), before, "a source was changed");
  return out;
};
// A long output names a file that is kept by the id of its session.
const ordered = (list) => list.map((one) => JSON.stringify(one).replaceAll(/[0-9a-f-]{36}(?=\/tool-results)/g, "ID")).sort();

// whole compares what a client makes of the merged store with what it makes of
// each side: by what was said, because a fork has another id.
function whole(out, ...sides) {
  const want = [...new Set(sides.flatMap((side) => ordered(Object.values(side))))].sort();
  same(ordered(Object.values(out)), want, "the client makes something else of the merged store");
  return `${want.length} sessions from ${sides.map((side) => Object.keys(side).length).join(" and ")}, each resumed whole`;
}

// judged has a judgment fail where something is missing.
function judged(name, judge) {
  check(name, () => {
    try {
      judge();
    } catch (error) {
      return `found out: ${error.message.slice(0, 90)}`;
    }
    throw new Error("not found out");
  });
}

function ofClaude(version) {
  const sides = once(() => {
    const { home, cwd, config, ids } = talked(version, { turns: [{ prompt: "play: tools" }, { prompt: "And on – 雨 ☔", resume: 0 }, { prompt: "play: where" }] });
    const ana = copied(home), ben = copied(home);
    claude({ do: "talk", version, home: ana, cwd, turns: [{ prompt: "Ana asks", resume: ids[0] }, { prompt: "Ana alone", resume: ids[1] }] });
    claude({ do: "talk", version, home: ben, cwd, turns: [{ prompt: "Ben asks", resume: ids[0] }, { prompt: "Ben asks aside" }] });
    return { cwd, config, both: ids[0], stale: ids[1], sides: [ana, ben].map((one) => path.join(one, ".claude")) };
  });
  const names = (config) => fs.readdirSync(path.join(config, "projects"), { recursive: true }).filter((name) => /^[0-9a-f-]{36}\.jsonl$/.test(path.basename(name)));
  // 2.0.77 leaves a session without messages, too.
  const spoken = (config) => names(config).filter((name) => fs.readFileSync(path.join(config, "projects", name), "utf8").includes('"type":"assistant"')).map((name) => path.basename(name, ".jsonl"));
  const resumed = (config) => Object.fromEntries(Object.entries(sent(version, config, sides().cwd, spoken(config))).map(([id, { messages, listed, where, subagents }]) => [id, { listed, where, messages, subagents: subagents.map((list) => list.map(({ message }) => message)) }]));
  const out = once(() => merge(...sides().sides));
  // What only one side continued is stale on the other.
  const want = once(() => {
    const [ana, ben] = sides().sides.map(resumed);
    delete ben[sides().stale];
    return [ana, ben];
  });
  const judge = (at = out()) => whole(resumed(at), ...want());
  check(`Claude Code ${version}, two sides merged, resumed`, () => judge());
  check(`Claude Code ${version}, two sides merged, sound`, () => {
    same(broken(examine(out())), sides().sides.flatMap((side) => broken(examine(side))), "errors and warnings");
    return "rehome check finds nothing";
  });
  check(`Claude Code ${version}, two sides merged, in the other order and again`, () => {
    const [ana, ben] = sides().sides, now = bytes(path.join(out(), "projects"));
    same(bytes(path.join(merge(ben, ana), "projects")), now, "in the other order");
    same(bytes(path.join(merge(out(), ana), "projects")), now, "with one side again");
    return `${Object.keys(now).length} files byte for byte`;
  });
  if (version !== newest) return;
  judged(`Claude Code ${version}, two sides merged, less the words of one`, () => {
    const spoilt = copied(out()), at = names(spoilt).map((name) => path.join(spoilt, "projects", name)).find((name) => fs.readFileSync(name, "utf8").includes("Ben asks"));
    fs.writeFileSync(at, fs.readFileSync(at, "utf8").replaceAll("Ben asks", "Ann asks"));
    judge(spoilt);
  });
}

function ofSDK(version) {
  const prompt = "And at last";
  const sides = once(() => {
    const { at, cwd } = talk(version, "sqlite")(), ana = copied(at), ben = copied(at);
    const go = (at, prompt, only) => client({ do: "resume", version, kind: "sqlite", at, cwd, prompt, only });
    const aside = (at, name) => client({ do: "talk", version, kind: "sqlite", at, cwd, name, prompts: [[`${name} asks aside`]] });
    go(ana, "Ana asks", "Talk 0");
    aside(ana, "Ana");
    go(ben, "Ben asks", "Talk");
    aside(ben, "Ben");
    return { cwd, sides: [ana, ben] };
  });
  // What a client hears, lists and tells of each agent; the last prompt names the agent.
  const resumed = (...stores) => client({ do: "judge", version, cwd: sides().cwd, prompt, stores: stores.map((at) => ({ kind: "sqlite", at })) }).map((found) => Object.fromEntries(Object.entries(found).map(([id, { heard, list, events, was, kept, ends, failed }]) => [id, { failed, model: heard?.model, turns: heard?.turns, list, events, was, kept, ends }])));
  const out = once(() => merge(...sides().sides));
  const want = once(() => {
    const [ana, ben] = resumed(...sides().sides);
    // Ana left an agent as it was, which Ben continued.
    for (const [id, { model }] of Object.entries(ana)) if (ben[id] && model.length < ben[id].model.length && !JSON.stringify(model).includes("Ana asks")) delete ana[id];
    return [ana, ben];
  });
  const judge = (at) => whole(resumed(at)[0], ...want());
  check(`SDK ${version}, two sides merged, resumed`, () => judge(out()));
  check(`SDK ${version}, two sides merged, sound`, () => {
    same(broken(examine(out())), [], "errors and warnings");
    return "rehome check finds nothing";
  });
  judged(`SDK ${version}, one side instead of both`, () => {
    const [ana, ben] = want();
    whole(ana, ana, ben);
  });
}

function ofCodex() {
  const ids = (home) => fs.readdirSync(path.join(home, ".codex"), { recursive: true }).flatMap((name) => /^rollout-.*-([0-9a-f-]{36})\.jsonl$/.exec(path.basename(name))?.[1] ?? []);
  check(`Codex ${codex}, two sides merged, resumed`, () => {
    const home = folder("codex"), cwd = folder("work"), prompt = "And at last";
    const [both] = ask(home, cwd, [{ prompt: "Say something." }, { prompt: "Something else." }]).map(({ session }) => session);
    const [ana, ben, out] = ["ana", "ben", "out"].map(folder);
    // Its databases have the paths of this home folder. It makes them again from the rollouts.
    for (const to of [ana, ben]) fs.cpSync(path.join(home, ".codex", "sessions"), path.join(to, ".codex", "sessions"), { recursive: true });
    ask(ana, cwd, [{ prompt: "Ana asks", id: both }, { prompt: "A fork of Ana's.", fork: 0 }]);
    ask(ben, cwd, [{ prompt: "Ben asks", id: both }]);
    fs.cpSync(merge(...[ana, ben].map((one) => path.join(one, ".codex"))), path.join(out, ".codex"), { recursive: true });
    const resumed = (home) => ask(home, cwd, ids(home).map((id) => ({ prompt, id }))).map(({ heard: bodies }) => JSON.stringify(heard(bodies.at(-1).input)));
    const got = resumed(out), want = [...new Set([ana, ben].flatMap(resumed))];
    same(got.sort(), want.sort(), "the client tells its service something else");
    return `${got.length} sessions from both sides, each resumed whole`;
  });
}

export function merged(programs, versions) {
  ofCodex();
  for (const version of programs) ofClaude(version);
  for (const version of versions) ofSDK(version);
}

// A project folder moves, and `rehome mv` moves its sessions: the real clients
// list and resume all of them at the new place, with every word as it was said.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { clients } from "./claude.mjs";
import { talk as talkCodex } from "./codex.mjs";
import { sent, talked } from "./lives.mjs";
import { talk as talkPi, version as pi } from "./pi.mjs";
import { resume, talk } from "./resume.mjs";
import { bytes, check, claude, client, files, folder, fresh, inHome, ls, once, same } from "./tools.mjs";

const [newest] = clients;
const places = () => {
  const base = folder("projects é");
  return { old: path.join(base, "old (1)"), now: path.join(base, "new – 2") };
};
const projects = (home) => Object.fromEntries(ls(home).sessions.map(({ agent, id, project, turns }) => [`${agent} ${id}`, { project, turns }]));

// move renames the folder, and has rehome move its sessions.
function move(home, old, now) {
  const before = files(home), listed = projects(home), project = bytes(old);
  fs.renameSync(old, now);
  inHome(home, ["mv", old, now, "--dry-run"]);
  same([files(home), bytes(now)], [before, project], "--dry-run changed something");
  inHome(home, ["mv", old, now]);
  for (const [name, file] of Object.entries(before)) if (/[/\\](projects|chats)[/\\]/.test(name)) same(files(home)[name]?.sha256, file.sha256, `before --remove-old, ${name}`);
  return { home, now, before, project, listed };
}

// settled is what must hold of a list after --remove-old.
function settled(home, listed, old, now) {
  const moved = (project) => (project === old || project.startsWith(`${old}${path.sep}`) ? now + project.slice(old.length) : project);
  const want = Object.fromEntries(Object.entries(listed).map(([id, { project, turns }]) => [id, { project: moved(project), turns }]));
  same(projects(home), want, "other sessions are listed");
  return Object.keys(want).length;
}

// undone undoes a move, and puts the home folder and the project back as they were before that.
function undone({ home, before, project, now }) {
  const copies = [home, now].map((at) => {
    const copy = fresh("copy");
    fs.cpSync(at, copy, { recursive: true, preserveTimestamps: true });
    return [at, copy];
  });
  inHome(home, ["undo"]);
  same(said(files(home)), said(before), "after undo");
  same(bytes(now), project, "the project after undo");
  for (const [at, copy] of copies) {
    fs.rmSync(at, { recursive: true });
    fs.renameSync(copy, at);
  }
  return `${Object.keys(before).length + Object.keys(project).length} files as before`;
}

function ofClaude(version) {
  const { old, now } = places();
  const made = once(() => {
    const below = path.join(old, "below");
    fs.mkdirSync(below, { recursive: true });
    const work = talked(version, { cwd: old }), was = sent(version, work.config, old, work.ids);
    const [{ session: inner }] = claude({ do: "talk", version, home: work.home, cwd: below, turns: [{ prompt: "From below" }] });
    // A session of a folder that only has a name like it stays.
    const beside = `${old} too`;
    fs.mkdirSync(beside);
    const [{ session: other }] = claude({ do: "talk", version, home: work.home, cwd: beside, turns: [{ prompt: "From beside" }] });
    return { ...work, inner, other, beside, was, ...move(work.home, old, now) };
  });
  const removed = once(() => {
    const { home } = made();
    inHome(home, ["mv", old, now, "--remove-old"]);
  });
  // at is what the client must say of each session at the new place.
  const at = (config) => {
    const { was, ids } = made(), got = sent(version, config, now, ids);
    for (const id of ids) {
      const { where, ...rest } = was[id], { where: there, ...found } = got[id];
      same(found, rest, id);
      same(there, where && now, `${id}: the folder that is listed`);
    }
    return `${ids.length} sessions listed and resumed, ${ids.reduce((n, id) => n + got[id].messages.length, 0)} blocks and ${ids.reduce((n, id) => n + got[id].subagents.length, 0)} subagents the same`;
  };
  check(`Claude Code ${version}, folder moved, undone`, () => undone(made()));
  check(`Claude Code ${version}, folder moved, resumed`, () => {
    removed();
    const { home, config, listed } = made(), told = at(config);
    settled(home, listed, old, now);
    const { ids, inner, other, beside } = made(), list = (id, cwd) => ({ id, cwd, at: config });
    const there = claude({ do: "list", sessions: [...ids.map((id) => list(id, old)), list(inner, path.join(old, "below")), list(inner, path.join(now, "below")), list(other, beside)] });
    same(there.map(({ listed }) => listed), [...ids.map(() => false), false, true, true], "what is listed in the old folder, below the new one, and beside it");
    return told;
  });
  check(`Claude Code ${version}, folder moved, --continue`, () => {
    const { home, ids } = made(), copy = fresh("home");
    fs.cpSync(home, copy, { recursive: true, preserveTimestamps: true });
    const [{ session }] = claude({ do: "talk", version, home: copy, cwd: now, turns: [{ prompt: "And once more", last: true }] });
    if (!ids.includes(session)) throw new Error(`the client begins ${session}`);
    return "the client finds a session of the old folder";
  });
  for (const [name, spoil] of version === newest ? Object.entries(spoils) : []) {
    check(`Claude Code ${version}, folder moved, ${name}`, () => {
      const copy = fresh("config");
      fs.cpSync(made().config, copy, { recursive: true, preserveTimestamps: true });
      spoil(path.join(copy, "projects"), old, now);
      try {
        at(copy);
      } catch (error) {
        return `found out: ${error.message.slice(0, 90)}`;
      }
      throw new Error("not found out");
    });
  }
}

// What a client or rehome keeps besides sessions says nothing of them.
const said = (found) => Object.fromEntries(Object.entries(found).filter(([name, { sha256 }]) => sha256 && name.split(path.sep).some((part) => ["projects", "chats"].includes(part))));

// each changes every session below a folder.
function each(at, change) {
  let changed = 0;
  for (const name of fs.readdirSync(at, { recursive: true }).filter((name) => name.endsWith(".jsonl"))) {
    const file = path.join(at, name), was = fs.readFileSync(file, "utf8"), now = change(was);
    if (now !== was) changed++;
    fs.writeFileSync(file, now);
  }
  if (!changed) throw new Error("there is nothing to spoil");
}

const spoils = {
  "with the old folder left in it": (at, old, now) => each(at, (text) => text.replaceAll(`"cwd":${JSON.stringify(now)}`, `"cwd":${JSON.stringify(old)}`)),
  "with words changed": (at, old, now) => each(at, (text) => text.replaceAll(`${old}/note.txt`, `${now}/note.txt`)),
};

// The client keeps its stores in the home folder; a program that embeds it, also in the project.
const inside = path.join(".cursor", "agents");

function ofSDK(version) {
  const { now } = places();
  const made = once(() => {
    const source = talk(version, "sqlite")();
    client({ do: "talk", version, kind: "ndjson", at: path.join(source.cwd, inside), cwd: source.cwd, prompts: [["Kept in the project"]] }, source.home);
    return { source, ...move(source.home, source.cwd, now) };
  });
  check(`SDK ${version}, folder moved, undone`, () => undone(made()));
  check(`SDK ${version}, folder moved, resumed`, () => {
    const { source, listed } = made();
    inHome(source.home, ["mv", source.cwd, now, "--remove-old"]);
    const n = settled(source.home, listed, source.cwd, now);
    const { root } = resume(source, version, "sqlite", { cwd: now, home: source.home });
    settled(source.home, Object.fromEntries(Object.entries(listed).map(([id, one]) => [id, { ...one, turns: one.turns && one.turns + 1 }])), source.cwd, now);
    return `${n} agents found by the new folder, with every earlier prompt, in ${path.basename(path.dirname(path.dirname(root)))}`;
  });
  check(`SDK ${version}, folder moved, a store in it`, () => {
    const { found } = client({ do: "resume", version, kind: "ndjson", at: path.join(now, inside), cwd: now, prompt: "And now" }, made().source.home);
    same(Object.values(found).map(({ heard }) => heard.turns), [["Kept in the project"]], "what the service hears");
    return "found by the new folder, and resumed";
  });
}

// The client of the chats is none that can be had: the SDK reads the same states.
function ofChats(code, sdk) {
  const { old, now } = places(), md5 = (text) => createHash("md5").update(text).digest("hex");
  check(`Cursor CLI, folder moved, read by SDK ${sdk}`, () => {
    fs.mkdirSync(old);
    const { home, ids } = talked(code, { cwd: old, turns: [{ prompt: "play: tools" }, { prompt: `Look at ${old}/note.txt`, resume: 0 }] });
    for (const id of ids) inHome(home, ["migrate", id, "--to", "cursor-cli"]);
    const at = path.join(home, ".cursor", "chats"), names = () => fs.readdirSync(at).sort();
    same(names(), [md5(old)], "where the chats are");
    const judge = () => Object.values(client({ do: "judge", version: sdk, cwd: now, prompt: "And now", stores: [{ kind: "chat", at }] })[0]).map(({ origin: _, ...one }) => one);
    const was = judge(), { listed } = move(home, old, now);
    inHome(home, ["mv", old, now, "--remove-old"]);
    same(names(), [md5(now)], "where the chats are after the move");
    settled(home, listed, old, now);
    same(judge(), was, "the client makes something else of it");
    return `${was.length} chat in the folder of the new place, and every word of it`;
  });
}

// Pi finds a session by the folder in which it is asked to go on.
function ofPi() {
  const { old, now } = places();
  check(`Pi ${pi}, folder moved`, () => {
    fs.mkdirSync(old, { recursive: true });
    const home = folder("home"), said = "Remember the violet stairs", ask = (message) => [{ type: "prompt", message }];
    talkPi(home, old, [{ steps: ask(said) }]);
    const { listed } = move(home, old, now);
    const heard = (at) => {
      const copy = fresh("home");
      fs.cpSync(at, copy, { recursive: true, preserveTimestamps: true });
      const [{ heard: [messages] }] = talkPi(copy, now, [{ args: ["--provider", "messages", "--model", "loop-1", "--continue"], steps: ask("And now?") }]);
      return JSON.stringify(messages).includes(said);
    };
    const moved = heard(home);
    inHome(home, ["mv", old, now, "--remove-old"]);
    const n = settled(home, listed, old, now), removed = heard(home);
    inHome(home, ["undo"]);
    inHome(home, ["undo"]);
    same([moved, removed, heard(home)], [true, true, false], "whether --continue goes on with it: when it was moved, without the original, undone");
    return `${n} session found by the new folder, and not when that was undone`;
  });
}

// Codex goes on with the last session of the folder in which it is asked to, and tells the
// model that it is in another one now. The new path is longer: its databases count bytes.
function ofCodex() {
  const { old, now: above } = places(), now = path.join(above, "with a longer name");
  check("Codex, folder moved", () => {
    fs.mkdirSync(old, { recursive: true });
    fs.mkdirSync(above);
    const home = folder("home"), said = "Remember the violet stairs";
    talkCodex(home, old, [{ prompt: said }]);
    const listed = projects(home), before = files(home);
    fs.renameSync(old, now);
    inHome(home, ["mv", old, now]);
    inHome(home, ["undo"]);
    for (const [name, { sha256 }] of Object.entries(before)) if (name.endsWith(".jsonl")) same(files(home)[name].sha256, sha256, `after undo, ${name}`);
    inHome(home, ["mv", old, now]);
    const n = settled(home, listed, old, now), [{ heard }] = talkCodex(home, now, [{ prompt: "And now?", id: "--last" }]), text = JSON.stringify(heard);
    same([said, ...[old, now].map((at) => `<cwd>${at}</cwd>`)].map((part) => text.includes(part)), [true, true, true], "whether --last goes on with it, and the model is told of both folders");
    settled(home, Object.fromEntries(Object.entries(listed).map(([id, one]) => [id, { ...one, turns: one.turns && one.turns + 1 }])), old, now);
    return `${n} session found by the new folder, and undone`;
  });
}

export function relocated(programs, versions) {
  for (const version of programs) ofClaude(version);
  for (const version of versions) ofSDK(version);
  ofChats(programs[0], versions[0]);
  ofPi();
  ofCodex();
}

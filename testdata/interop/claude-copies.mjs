// What the real Claude Code wrote itself, in this run, carried off exactly: as a
// store of its own, and as an archive and back. Every byte must be there again,
// and the client must go on with the copy.
import fs from "node:fs";
import path from "node:path";
import { clients } from "./claude.mjs";
import { bytes, check, claude, convert, files, folder, migrate, once, same } from "./tools.mjs";

// What a config folder has besides sessions stays at home.
const carried = ["projects", "file-history", "tasks", "todos", "history.jsonl"];
export const sessions = (config) => Object.fromEntries(Object.entries(bytes(config)).filter(([name]) => carried.includes(name.split(path.sep)[0])));

// worked gives a home folder in which the client has worked: tools that run,
// fail, write much and start a subagent; a session gone on with; and one of ours.
export function worked(version, source) {
  const home = folder("home"), cwd = folder("work é (3)"), config = path.join(home, ".claude");
  const [{ session }] = migrate(source().at, config, cwd);
  const turns = [{ prompt: "play: tools" }, { prompt: "And now – 雨 ☔" }, { prompt: "And on", resume: 0 }, { prompt: "Go on with this", resume: session }];
  const said = claude({ do: "talk", version, home, cwd, turns });
  same(said.map(({ result }) => result), ["Played.", "Heard.", "Heard.", "Heard."], "the client says something else");
  return { home, cwd, config, ids: [...new Set(said.map(({ session }) => session))] };
}

const total = (found) => `${Object.keys(found).length} files, ${Object.values(found).reduce((n, one) => n + one.length, 0)} bytes`;

// copied gives the config folder that it made, for others to look at.
export function copied(version, source) {
  const made = once(() => {
    const work = worked(version, source), before = files(work.config);
    return { ...work, before, want: sessions(work.config) };
  });
  const ways = { "a copy": (config) => convert(config, "claude-code"), "an archive and back": (config) => convert(convert(config, "archive"), "claude-code") };
  for (const [name, way] of Object.entries(ways)) {
    const there = once(() => way(made().config));
    check(`Claude Code ${version}, what it wrote as ${name}`, () => {
      const { config, before, want } = made();
      same(bytes(there()), want, "the copy differs");
      same(files(config), before, "the source was changed");
      const lines = Object.entries(want).filter(([file]) => file.endsWith(".jsonl"));
      if (lines.length < 3 || !Object.values(want).some((one) => one.includes('"tool_use"')) || !Object.values(want).some((one) => one.includes('"isSidechain":true'))) throw new Error("the client did not write what this is about");
      return `${total(want)} the same`;
    });
    check(`Claude Code ${version}, what it wrote as ${name}, gone on with`, () => {
      const { cwd, ids } = made(), home = folder("home");
      fs.cpSync(there(), path.join(home, ".claude"), { recursive: true, preserveTimestamps: true });
      const said = claude({ do: "talk", version, home, cwd, turns: ids.map((id) => ({ prompt: "And once more", resume: id })) });
      same(said.map(({ session }) => session), ids, "it goes on with others");
      return `${ids.length} sessions`;
    });
  }
  check(`Claude Code ${version}, a copy with one byte changed`, () => {
    const { want } = made(), [file] = Object.keys(want).filter((name) => name.endsWith(".jsonl") && want[name].includes("a"));
    try {
      same({ ...want, [file]: want[file].replace("a", "b") }, want, "changed");
    } catch {
      return "found out";
    }
    throw new Error("not found out");
  });
  return () => made().config;
}

// A restore drill: everything that real clients wrote on a machine is backed up,
// lost, and restored. The clients must list and continue all of it.
import fs from "node:fs";
import path from "node:path";
import { sessions, worked } from "./claude-copies.mjs";
import { resume } from "./resume.mjs";
import { cells, check, claude, files, folder, fresh, inHome, ls, once, same } from "./tools.mjs";

// listing is what a list of sessions must have in common before and after.
const listing = (home) => {
  const { sessions, unread } = ls(home);
  same(unread, [], "something could not be read");
  return Object.fromEntries(sessions.map(({ agent, id, title, project, turns, sources }) => [`${agent} ${id}`, { title, project, turns, formats: sources.map(({ format }) => format).sort() }]));
};

export function drilled(version, program, source) {
  const name = `Restore drill, SDK ${version} and Claude Code ${program}`;
  const restored = once(() => {
    const work = worked(program, source), { home, config } = work, talked = source();
    fs.cpSync(path.join(talked.home, ".cursor"), path.join(home, ".cursor"), { recursive: true, preserveTimestamps: true });
    const at = path.join(home, path.relative(talked.home, talked.at)), into = fresh("backup");
    const before = { files: files(home), list: listing(home), claude: sessions(config), cells: cells(at) };
    same(inHome(home, ["backup", into]).stores.map(({ status }) => status).filter((status) => status !== "added"), [], "not everything was saved");
    same(files(home), before.files, "the backup changed the home folder");
    for (const lost of [".claude", ".cursor"]) fs.rmSync(path.join(home, lost), { recursive: true });
    same(inHome(home, ["restore", into]).stores.map(({ status }) => status).filter((status) => status !== "restored"), [], "not everything was restored");
    return { ...work, ...before, at, into };
  });
  check(`${name}, equal`, () => {
    const { home, config, at, into, list, claude: was, cells: rows } = restored();
    same(sessions(config), was, "the files of Claude Code differ");
    same(cells(at), rows, "the store of the SDK differs");
    same(listing(home), list, "other sessions are listed");
    same(inHome(home, ["backup", into]).snapshot, undefined, "a backup of what was restored differs");
    return `${Object.keys(list).length} sessions listed, ${Object.keys(was).length} files byte for byte, ${Object.keys(rows).length} databases in every cell`;
  });
  check(`${name}, continued by the SDK`, () => {
    const { home, at } = restored();
    const { root } = resume(source(), version, "sqlite", { home });
    same(fs.realpathSync(root), fs.realpathSync(at), "the client keeps its store elsewhere");
    return `${Object.keys(source().words).length} agents, with every earlier prompt`;
  });
  check(`${name}, continued by Claude Code`, () => {
    const { home, cwd, ids } = restored();
    const said = claude({ do: "talk", version: program, home, cwd, turns: ids.map((id) => ({ prompt: "And once more", resume: id })) });
    same(said.map(({ session }) => session), ids, "it goes on with others");
    return `${ids.length} sessions`;
  });
  check(`${name}, nothing newer is touched`, () => {
    const { home, into } = restored(), before = files(home);
    const states = new Set(inHome(home, ["restore", into]).stores.map(({ status }) => status));
    same(files(home), before, "something was changed");
    same([...states].sort(), ["newer", "unchanged"].filter((state) => states.has(state)), "other states");
    if (!states.has("newer")) throw new Error("nothing is newer than the backup");
    return [...states].sort().join(", ");
  });
}

// Two people share agents in git. Each restores the text into their own home,
// lets the client work, updates the text and commits. Plain git merges: no
// driver, no configuration. Then a third home continues from what was merged. If
// both continued one agent, `rehome merge --finish` makes two of it.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { check, client, examine, folder, fresh, inRepository, once, place, read, rehome, same, scratch } from "./tools.mjs";

const version = "1.0.32";

function git(at, ...args) {
  const env = { ...process.env, PATH: `${scratch}${path.delimiter}${process.env.PATH}`, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  for (const who of ["AUTHOR", "COMMITTER"]) Object.assign(env, { [`GIT_${who}_NAME`]: "team", [`GIT_${who}_EMAIL`]: "team@example.com" });
  const done = spawnSync("git", ["-C", at, "-c", "init.defaultBranch=main", ...args], { encoding: "utf8", env });
  return { ok: done.status === 0, text: `${done.stdout}${done.stderr}` };
}

function must(at, ...args) {
  const done = git(at, ...args);
  if (!done.ok) throw new Error(`git ${args.join(" ")}: ${done.text.trim().slice(-500)}`);
  return done.text;
}

// A person has a home of their own and a clone of the project, in which the
// client works.
function person(name, origin) {
  const home = folder(`${name}-home`), clone = fresh(name);
  must(path.dirname(clone), "clone", "--quiet", origin, clone);
  return { name, home, clone, text: path.join(clone, "agents"), store: undefined };
}

// restore places the store of the text where this person's client looks for it.
function restore(who) {
  place(who.text, who.clone, who.home);
}

// save brings the text up to date and commits it. The paths of two clones
// differ, so the text names a folder that everybody agrees on.
function save(who, branch) {
  rehome([who.store, who.text, "--to", "cursor-ndjson", "--update", "--cwd", "/project"]);
  must(who.clone, "checkout", "--quiet", "-B", branch);
  must(who.clone, "add", "agents");
  must(who.clone, "commit", "--quiet", "-m", `agents of ${who.name}`);
}

function create(who, prompts, name = who.name) {
  who.store = client({ do: "talk", version, cwd: who.clone, prompts, name }, who.home).root;
}

function go(who, prompt, only) {
  const done = client({ do: "resume", version, cwd: who.clone, prompt, only }, who.home);
  who.store = done.root;
  return done.found;
}

const prompts = (held) => Object.fromEntries(Object.entries(held.told).map(([agent, told]) => [agent, told.texts]));

// shared is a repository with one agent, and two people who have cloned it and
// restored its store.
function shared() {
  const origin = folder("origin");
  must(origin, "init", "--quiet", "--bare");
  const first = person("first", origin);
  create(first, [["plan the release"]]);
  save(first, "main");
  must(first.clone, "push", "--quiet", "origin", "main");
  must(origin, "symbolic-ref", "HEAD", "refs/heads/main");
  const ana = person("ana", origin), ben = person("ben", origin);
  for (const who of [ana, ben]) restore(who);
  return { origin, ana, ben };
}

// merge merges Ben's branch into Ana's clone.
function merge(ana, ben) {
  must(ana.clone, "fetch", "--quiet", ben.clone, "ben:ben");
  return git(ana.clone, "merge", "--quiet", "--no-edit", "ben");
}

function whole(text) {
  const report = examine(text), rules = report.checked.flatMap(({ findings }) => findings.filter(({ severity }) => severity !== "note").map(({ rule }) => rule));
  same({ failed: report.totals.failed, rules }, { failed: 0, rules: [] }, "rehome check");
}

export function team() {
  const apart = once(() => {
    const { origin, ana, ben } = shared();
    create(ana, [["write the changelog", "shorter, please"]]);
    create(ben, [["build the packages"]]);
    save(ana, "ana");
    save(ben, "ben");
    const merged = merge(ana, ben);
    if (!merged.ok) throw new Error(`git merge: ${merged.text}`);
    must(ana.clone, "push", "--quiet", "origin", "ana:main");
    return { origin, ana };
  });
  check("two people, different agents, merged by plain git", () => {
    const { ana } = apart();
    whole(ana.text);
    return "no conflict, and the merged text has no error and no warning";
  });
  check("two people, different agents, resumed from the merged text", () => {
    const { origin } = apart();
    const third = person("third", origin);
    restore(third);
    const found = go(third, "and now");
    const heard = Object.values(found).map(({ heard }) => heard.turns.slice().sort().join(" | ")).sort();
    same(heard, ["build the packages", "plan the release", ["shorter, please", "write the changelog"].join(" | ")], "what the service hears of each agent");
    return `${heard.length} agents resumed, each with its own earlier prompts`;
  });
  check("an agent's folder is a store of the client by itself", () => {
    const { ana } = apart();
    const text = fresh("folders");
    rehome([ana.store, text, "--to", "cursor-ndjson"]);
    const want = prompts(read(version, "sqlite", ana.store));
    for (const [agent, texts] of Object.entries(want)) {
      const at = path.join(text, agent);
      same(prompts(read(version, "ndjson", at)), { [agent]: texts }, "what the client reads in the folder");
      const { found } = client({ do: "resume", version, kind: "ndjson", at, cwd: ana.clone, prompt: "one more" }, ana.home);
      same(found[agent].heard.turns, texts, "what the service hears");
    }
    return `${Object.keys(want).length} folders, each read and resumed`;
  });
  const both = (driver) => {
    const { ana, ben } = shared();
    go(ana, "name the risks");
    go(ben, "name the owners");
    save(ana, "ana");
    save(ben, "ben");
    if (driver) inRepository(ana.clone, ["git", "setup"]);
    return { ana, merged: merge(ana, ben) };
  };
  for (const [how, driver] of [["by plain git", false], ["with the merge driver", true]]) {
    const driven = once(() => both(driver));
    check(`two people, one agent, ${how}: conflicts in its folder alone`, () => {
      const { ana, merged } = driven();
      if (merged.ok) throw new Error("git merged two histories of one agent");
      const files = must(ana.clone, "diff", "--name-only", "--diff-filter=U").trim().split("\n");
      same(new Set(files.map((file) => path.dirname(file))).size, 1, `conflicts in ${files.join(", ")}`);
      if (!files.some((file) => file.endsWith("/runs.ndjson"))) throw new Error(`git united the runs: ${files.join(", ")}`);
      const marks = files.filter((file) => fs.readFileSync(path.join(ana.clone, file), "utf8").includes("<<<<<<<"));
      same(marks.length, driver ? 0 : files.length, "files with conflict markers");
      return `${files.length} files, ${marks.length} with conflict markers`;
    });
    check(`two people, one agent, ${how}: finished and resumed`, () => {
      const { ana } = driven();
      const { sessions } = inRepository(ana.clone, ["merge", "--finish"]);
      same(sessions.map(({ outcome }) => outcome).sort(), ["forked", "kept"], "what became of the agent");
      must(ana.clone, "commit", "--quiet", "--no-edit");
      whole(ana.text);
      const next = person("next", ana.clone);
      restore(next);
      const found = go(next, "last question");
      same(Object.values(found).map(({ heard }) => heard.turns.join(" | ").replaceAll(/ agent-[0-9a-f-]{36}/g, "")).sort(), ["plan the release | name the owners", "plan the release | name the risks"], "what the service hears of each agent");
      return "the agent and its fork, each with the turns of one person";
    });
  }
  days(10);
}

// days lets two people work for so many days: each day each of them creates an
// agent or continues their own, updates the text, commits, merges what the other
// has pushed, and pushes.
function days(count) {
  const sizes = [];
  const worked = once(() => {
    const { origin, ana, ben } = shared();
    for (let day = 1; day <= count; day++) {
      for (const who of [ana, ben]) {
        const word = `day ${day} of ${who.name}`;
        if (day % 3 === 1) create(who, [[word]], `${who.name}, day ${day},`);
        else go(who, word, `${who.name}, `);
        save(who, "main");
        sizes.push(must(who.clone, "show", "--shortstat", "--format=").trim());
        must(who.clone, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main");
        must(who.clone, "push", "--quiet", "origin", "main");
      }
    }
    return { origin, ana, ben, last: person("last", origin) };
  });
  check(`${count} days of two people`, () => {
    const { origin, ana, ben, last } = worked();
    whole(last.text);
    restore(last);
    last.store = fs.readdirSync(path.join(last.home, ".cursor", "projects"), { recursive: true }).filter((name) => path.basename(name) === "index.db").map((name) => path.join(last.home, ".cursor", "projects", path.dirname(name)))[0];
    const got = prompts(read(version, "sqlite", last.store));
    const want = { ...prompts(read(version, "sqlite", ana.store)), ...prompts(read(version, "sqlite", ben.store)) };
    same(got, want, "prompts of the restored store");
    must(origin, "gc", "--quiet", "--aggressive", "--prune=now");
    const packed = must(origin, "count-objects", "-v").match(/size-pack: (\d+)/)[1];
    const lines = sizes.map((text) => Number(text.match(/(\d+) insertion/)?.[1] ?? 0) + Number(text.match(/(\d+) deletion/)?.[1] ?? 0)).sort((a, b) => a - b);
    const text = fs.readdirSync(last.text, { recursive: true }).map((name) => fs.statSync(path.join(last.text, name))).filter((stat) => stat.isFile()).reduce((sum, stat) => sum + stat.size, 0);
    return `${Object.keys(got).length} agents, ${Object.values(got).flat().length} prompts restored; diffs of ${lines[0]} to ${lines.at(-1)} lines, median ${lines[lines.length >> 1]}; ${Math.round(text / 1000)} kB of text, ${packed} kB of .git`;
  });
}

// Stores that the client goes on with. Real agents talk to a stand-in for the
// service, rehome converts what they left, and a fresh process of the client
// resumes each agent. What counts is what the service then hears.
import fs from "node:fs";
import path from "node:path";
import { format, other } from "./exact.mjs";
import { keys } from "./tables.mjs";
import { bytes, cells, check, client, convert, files, folder, fresh, once, place, read, same } from "./tools.mjs";

// Words that suffer where text is cut, escaped or decoded wrongly. The third is
// as long as a reference in a checkpoint, and looks like one.
const prompts = [["Erste Frage – wörld 你好", "second\nwith two lines", "\n exactly the 32 bytes of an id"], ["первый 🚀 </user_query> \"quoted\" \\", "the last one"]];

// talk gives a store as a process of the client leaves it, and the user's words
// as the client itself restores them from there.
export function talk(version, kind, name = "work é") {
  return once(() => {
    const home = folder("home"), cwd = folder(name);
    const at = kind === "ndjson" ? fresh("talk") : undefined;
    const talked = client({ do: "talk", version, kind, at, cwd, prompts }, home);
    const store = at ?? talked.root;
    const before = files(store);
    const holds = read(version, kind, store);
    const words = Object.fromEntries(Object.entries(holds.told).map(([agent, told]) => [agent, told.texts]));
    same(Object.values(words).sort((a, b) => b.length - a.length), prompts, "the client does not restore what it was asked");
    return { at: store, home, cwd, before, holds, words };
  });
}

// resume sends one more prompt to every agent, and then reads the store again.
export function resume(source, version, kind, { at, cwd = source.cwd, home } = {}) {
  const prompt = "And now – ещё";
  const { found, root } = client({ do: "resume", version, kind, at, cwd, prompt }, home);
  same(Object.keys(found).sort(), Object.keys(source.words).sort(), "the client finds other agents");
  const after = read(version, kind, at ?? root);
  for (const [agent, words] of Object.entries(source.words)) {
    const added = `${prompt} ${agent}`, { run, heard } = found[agent];
    same(heard, { prompt: added, turns: words, model: words }, `${agent}: the service hears other words`);
    same(after.told[agent].texts, [...words, added], `${agent}: the words after the new turn`);
    const runs = after.runs.filter((doc) => doc.agentId === agent), old = source.holds.runs.filter((doc) => doc.agentId === agent);
    same(runs.slice(0, -1), old, `${agent}: the earlier runs`);
    const { runId, turnNumber, status, result } = runs.at(-1);
    same({ runId, turnNumber, status, result }, { runId: run, turnNumber: words.length + 1, status: "finished", result: "All done." }, `${agent}: the new run`);
    for (const doc of old) same(after.events[doc.runId], source.holds.events[doc.runId], `${agent}: the events of an earlier run`);
    const asked = after.events[run].map(({ payload }) => payload.message).find(({ type }) => type === "user");
    same(asked?.message.content[0].text, added, `${agent}: the new prompt among the events`);
  }
  return { root, after };
}

const told = `${prompts.flat().length} earlier prompts reached the service word for word and in order, the new turns stand after them`;

// resumed: the other kind of store is gone on with; then it goes home again.
export function resumed(version, kind, source) {
  const name = `SDK ${version}, ${kind} to ${other[kind]}`;
  const there = once(() => convert(source().at, format[other[kind]]));
  const went = once(() => resume(source(), version, other[kind], { at: there() }));
  check(`${name}, read`, () => {
    same(read(version, other[kind], there()), source().holds, "the client reads something else");
    return "runs, events, blobs and restored conversations the same";
  });
  check(`${name}, resumed`, () => {
    went();
    return told;
  });
  check(`${name}, resumed, and home again`, () => {
    const { after } = went();
    const home = convert(there(), format[kind]);
    same(read(version, kind, home), after, "the client reads something else");
    return "the store it came from, with the new turns, reads the same";
  });
}

// hot: the client never closes its SQLite store, so all rows are in the -wal files.
export function hot(version, source) {
  const lie = (store) => Object.keys(store).filter((name) => name.endsWith(".db"));
  check(`SDK ${version}, hot WAL as a process leaves it`, () => {
    const { at, before, holds } = source();
    for (const name of lie(before)) {
      if (before[name].size !== 4096 || !(before[`${name}-wal`]?.size > 4096)) throw new Error(`${name} is not hot: ${before[name].size} bytes, -wal ${before[`${name}-wal`]?.size ?? 0}`);
    }
    for (const to of ["cursor-ndjson", "archive"]) convert(at, to);
    same(files(at), before, "the source was changed");
    return `${lie(before).length} databases of 4096 bytes, ${holds.runs.length} runs carried, no file of the source changed, none added`;
  });
  check(`SDK ${version}, hot WAL without its -shm`, () => {
    const { at, holds } = source();
    const bare = fresh("bare");
    fs.cpSync(at, bare, { recursive: true });
    for (const name of fs.readdirSync(bare, { recursive: true })) if (name.endsWith("-shm")) fs.rmSync(path.join(bare, name));
    const before = files(bare);
    const there = convert(bare, "cursor-ndjson");
    same(read(version, "ndjson", there), holds, "the client reads something else");
    same(files(bare), before, "the source was changed");
    return "db and -wal alone are read whole, no -shm appears beside them";
  });
}

// placed: with --cwd and --home the store goes where the client looks for it.
export function placed(version, source) {
  check(`SDK ${version}, ndjson placed by --cwd and --home`, () => {
    const home = folder("home"), cwd = folder("Pröjekt -- 2 (neu)");
    place(source().at, cwd, home);
    const { root } = resume(source(), version, "sqlite", { cwd, home });
    if (!root.startsWith(path.join(home, ".cursor", "projects") + path.sep)) throw new Error(`the client keeps its store in ${root}`);
    return `in a fresh process the client finds its agents by the folder it works in; ${told}`;
  });
  check(`SDK ${version}, transcripts placed by --cwd and --home`, () => {
    const from = folder("home"), cwd = folder("work 1");
    const project = path.dirname(path.dirname(client({ do: "talk", version, cwd, prompts }, from).root));
    const home = folder("home"), there = folder("Übung (2)");
    place(convert(project, "cursor-ndjson"), there, home);
    const names = (at) => fs.readdirSync(at, { recursive: true }).sort();
    const projects = path.join(home, ".cursor", "projects");
    const transcripts = path.join(projects, fs.readdirSync(projects)[0], "agent-transcripts");
    const before = bytes(transcripts);
    same(before, bytes(path.join(project, "agent-transcripts")), "the transcripts differ");
    // The client has a place for each: going on, it writes there and nowhere else.
    const placed = names(projects).filter((name) => name.endsWith(".jsonl"));
    const prompt = "One more, for the transcript";
    const { found, root } = client({ do: "resume", version, cwd: there, prompt }, home);
    same(path.join(path.dirname(path.dirname(root)), "agent-transcripts"), transcripts, "the client's project is another");
    same(names(projects).filter((name) => name.endsWith(".jsonl")), placed, "the client writes its transcripts elsewhere");
    same(Object.keys(before).length, Object.keys(found).length, "agents without a transcript");
    for (const [name, body] of Object.entries(bytes(transcripts))) {
      if (!body.includes(prompt) || before[name].includes(prompt)) throw new Error(`${name} is not the one that the client goes on with`);
    }
    return `${placed.length} transcripts lie where the client goes on writing them`;
  });
}

// archived: text for git, and a store again.
export function archived(version, source) {
  const back = once(() => convert(convert(source().at, "archive"), "cursor-sdk"));
  check(`SDK ${version}, sqlite to archive and back`, () => {
    same(cells(back()), cells(source().at), "the way back gives something else");
    return "every cell, rowid, DDL and pragma the same";
  });
  check(`SDK ${version}, sqlite to archive and back, resumed`, () => {
    resume(source(), version, "sqlite", { at: back() });
    return told;
  });
}

// keyless: what is meant for a repository holds no key, and is gone on with all
// the same. The client makes a new key when it finds none.
export function keyless(version, source) {
  const secrets = once(() => {
    const { at, holds } = source();
    const found = [...keys(cells(at)), ...holds.agents.map((agent) => agent.sdkMetadata.blobEncryptionKey).filter(Boolean)];
    if (found.length < holds.agents.length) throw new Error(`the source holds ${found.length} keys only`);
    return found;
  });
  const bare = (at) => {
    const sidecar = `${at}.sidecar.ndjson`;
    const text = { ...bytes(at), ...(fs.existsSync(sidecar) ? { sidecar: fs.readFileSync(sidecar, "latin1") } : {}) };
    for (const key of secrets()) {
      for (const [name, body] of Object.entries(text)) {
        for (const form of [key, Buffer.from(key).toString("hex"), Buffer.from(key, "hex").toString("base64")]) if (body.includes(form)) throw new Error(`${name} holds a key`);
      }
    }
    return Object.keys(text).length;
  };
  check(`SDK ${version}, sqlite to ndjson without keys, resumed`, () => {
    const there = convert(source().at, "cursor-ndjson", []);
    const n = bare(there);
    resume(source(), version, "ndjson", { at: there });
    return `none of ${secrets().length} keys in ${n} files; ${told}`;
  });
  check(`SDK ${version}, sqlite to ndjson without keys and back, resumed`, () => {
    resume(source(), version, "sqlite", { at: convert(convert(source().at, "cursor-ndjson", []), "cursor-sdk", []) });
    return told;
  });
  check(`SDK ${version}, sqlite to archive without keys and back, resumed`, () => {
    const text = convert(source().at, "archive", []);
    const n = bare(text);
    resume(source(), version, "sqlite", { at: convert(text, "cursor-sdk", []) });
    return `none of ${secrets().length} keys in ${n} files; ${told}`;
  });
}

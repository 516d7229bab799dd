// Faults in stores that a real client wrote, each of which takes history from it
// or makes it refuse the session; and what the client makes of the store after
// `rehome repair`.
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { broken as refused } from "./claude-rules.mjs";
import { clients } from "./claude.mjs";
import { spoken, talked } from "./lives.mjs";
import { talk } from "./resume.mjs";
import { bytes, check, claude, client, examine, files, folder, fresh, inHome, once, same } from "./tools.mjs";
import { broken } from "./whole.mjs";

const copied = (from) => {
  const to = fresh("faulty");
  fs.cpSync(from, to, { recursive: true, preserveTimestamps: true });
  return to;
};

// mended is what rehome makes of a store. Status 4 says that something is left.
function mended(at) {
  const out = fresh("mended"), before = files(at);
  const result = inHome(folder("home"), ["repair", at, out], [0, 4]);
  same(files(at), before, "the source was changed");
  return { out, result };
}

const is = (type, of, name) => (line) => line.type === type && [line.message?.content].flat().some((block) => (block?.type ?? "text") === of && (!name || block.name === name));
const call = is("assistant", "tool_use"), write = is("assistant", "tool_use", "Write"), result = is("user", "tool_result"), words = is("assistant", "text");
// middle is the place of such a line that is not the first of its kind.
const middle = (lines, wanted) => lines.findIndex((line, i) => wanted(line) && lines.slice(0, i).some(wanted));
const change = (wanted, values) => (lines) => void Object.assign(lines[middle(lines, wanted)], values(lines, middle(lines, wanted)));
// without takes a line out of its chain.
const without = (lines, at) => lines.toSpliced(at, 1).map((line) => (line.parentUuid === lines[at].uuid ? { ...line, parentUuid: lines[at].parentUuid } : line));
// answer is the place of the result of a call that was alone.
const answer = (lines) => lines.findIndex((line) => result(line) && line.parentUuid === lines.find(write).uuid);

// Faults of a session of Claude Code, by the rule that finds them: what is done to its lines,
// how many blocks cannot come back, and the client that it hurts.
const [newer, older] = clients;
const faults = {
  RH124: { by: newer, plant: ([...lines]) => [`\ufeff${JSON.stringify(lines.find(({ type }) => type === "user"))}`, ...lines.slice(lines.findIndex(({ type }) => type === "user") + 1)] },
  RH127: { by: newer, plant: (lines) => lines.slice(0, lines.findLastIndex(words) + 1), torn: 40, lost: 1 },
  RH131: { by: older, plant: (lines) => lines.with(middle(lines, words), JSON.stringify(lines[middle(lines, words)]).slice(0, -40)), lost: 1 },
  RH350: { by: newer, plant: change(words, () => ({ uuid: undefined })) },
  RH351: { by: newer, plant(lines) { const at = middle(lines, call); lines[at + 1].parentUuid = lines[at].uuid = lines[at - 1].uuid; } },
  RH352: { by: older, plant: change(call, () => ({ parentUuid: "00000000-0000-4000-8000-00000000dead" })) },
  RH353: { by: newer, plant: change(result, () => ({ parentUuid: null })) },
  RH354: { by: newer, plant(lines) { for (const line of lines) if ("parentUuid" in line) line.parentUuid = null; } },
  RH358: { by: older, plant: (lines) => without(lines, lines.findIndex(write)), lost: 2 },
  RH359: { by: newer, plant: (lines) => without(lines, answer(lines)), lost: 2 },
  RH366: { by: newer, plant(lines) { for (const { message } of lines.filter(({ type }) => type === "assistant")) delete message.id; } },
  RH441: { by: older, plant(lines) { delete lines.find(({ type }) => type === "user").timestamp; } },
  RH442: { by: older, plant: change(words, (lines, at) => ({ message: { ...lines[at].message, content: undefined } })), lost: 1 },
};

// less is what a history lacks of the whole one, in its order. Results of parallel calls can change theirs.
const text = (block) => JSON.stringify({ ...block, id: undefined, tool_use_id: undefined });
function less(want, got) {
  const now = got.map(text);
  let at = 0;
  return want.map(text).filter((one, i) => {
    const next = now.indexOf(one, want[i].type === "tool_result" ? 0 : at);
    if (next >= at) at = want[i].type === "tool_result" ? at : next + 1;
    return next < 0;
  });
}

function ofClaude(version) {
  const own = Object.entries(faults).filter(([, { by }]) => by === version);
  const work = once(() => {
    const { cwd, config, ids: [id] } = talked(version, { turns: [{ prompt: "play: tools" }, { prompt: "And on – 雨 ☔", resume: 0 }, { prompt: "play: where", resume: 0 }] });
    const name = fs.readdirSync(path.join(config, "projects"), { recursive: true }).find((name) => path.basename(name) === `${id}.jsonl`);
    return { cwd, config, id, name: path.join("projects", name) };
  });
  // Each fault in a copy of its own, and what repair makes of it.
  const planted = once(() => {
    const { config, id, name } = work();
    return Object.fromEntries(own.map(([rule, { plant, torn }]) => {
      const at = copied(config), file = path.join(at, name), lines = fs.readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
      const text = (plant(lines) ?? lines).map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
      fs.writeFileSync(file, torn ? text.slice(0, -torn) : `${text}\n`);
      return [rule, { at, mended: once(() => mended(at)) }];
    }));
  });
  // resumed is what the client makes of the session in each of some folders.
  const resumed = (list) => {
    const { id, cwd } = work(), sessions = list.filter((at) => fs.existsSync(path.join(at, work().name))).map((at) => ({ id, cwd, at }));
    const { resumed, listed } = claude({ do: "resume", version, list: true, sessions });
    const found = resumed.map(({ at, failed, messages }, i) => [at, { failed: failed ?? (messages ? refused(messages)[0] : "the API heard nothing"), listed: listed[i].listed, told: listed[i].messages.length, blocks: spoken(messages ?? []) }]);
    return Object.fromEntries(found);
  };
  const results = once(() => {
    const { config } = work(), list = Object.values(planted());
    const outs = list.flatMap(({ mended }) => { try { return mended().out; } catch { return []; } });
    return resumed([config, ...list.map(({ at }) => at), ...outs]);
  });
  const faulty = (got, all) => got === undefined ? "the session is not found" : got.failed ?? (!got.listed ? "it is not listed" : got.told < all.told ? `the SDK tells ${got.told} of ${all.told} messages` : less(all.blocks, got.blocks).length ? `${less(all.blocks, got.blocks).length} of ${all.blocks.length} blocks are missing` : undefined);
  for (const [rule, { lost = 0 }] of own) {
    check(`Claude Code ${version}, ${rule}, repaired and resumed`, () => {
      const { at, mended } = planted()[rule], all = results()[work().config], was = faulty(results()[at], all);
      if (!was) throw new Error("the client is not hurt");
      const found = broken(examine(at));
      if (!found.includes(rule)) throw new Error(`rehome check finds ${found}`);
      const { out } = mended(), got = results()[out];
      if (!got) throw new Error("the session is not found after repair");
      if (got.failed || !got.listed) throw new Error(`after repair: ${got.failed ?? "it is not listed"}; before: ${was}`);
      const gone = less(all.blocks, got.blocks);
      if (gone.length > lost) throw new Error(`after repair ${gone.length} blocks are missing, ${lost} are lost: ${gone.slice(0, 2)}; before: ${was}`);
      if (got.told < all.told - lost) throw new Error(`after repair the SDK tells ${got.told} of ${all.told} messages; before: ${was}`);
      const left = broken(examine(out)).filter((one) => one === rule);
      same(left, [], "errors after repair");
      return `before: ${was}; after: ${got.blocks.length} of ${all.blocks.length} blocks${lost ? `, ${gone.length} lost` : ""}`;
    });
  }
  check(`Claude Code ${version}, nothing to repair`, () => {
    const { config } = work();
    same(bytes(path.join(mended(config).out, "projects")), bytes(path.join(config, "projects")), "a whole store was changed");
    return "byte for byte";
  });
}

const db = (at, name) => fs.readdirSync(at, { recursive: true }).filter((file) => path.basename(file) === name).map((file) => path.join(at, file));
// rows runs a script in a database, whose rows are then all in one file.
function rows(file, script) {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite"), open = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  open.exec("PRAGMA journal_mode = DELETE");
  const found = script(open);
  open.close();
  return found;
}
const lines = (at, name, map) => {
  const file = path.join(at, name);
  fs.writeFileSync(file, map(fs.readFileSync(file, "utf8").trimEnd().split("\n")).join("\n"));
};

// Faults of stores of the SDK: which kind, where it lies in its folder, what is done, how many
// blocks cannot come back, and whether the runs cannot.
const stores = {
  "the newest state missing": { kind: "sqlite", lost: 1, plant(at) {
    const root = rows(db(at, "index.db")[0], (index) => JSON.parse(index.prepare("SELECT latest_checkpoint_ref_json AS root FROM agents ORDER BY rowid").get().root).blobId);
    for (const file of db(at, "store.db")) rows(file, (store) => store.prepare("DELETE FROM blobs WHERE id = ?").run(root));
  } },
  "an agent missing from the catalog": { kind: "sqlite", plant: (at) => rows(db(at, "index.db")[0], (index) => index.exec("DELETE FROM agents WHERE rowid = 1")) },
  "the catalog missing": { kind: "sqlite", runs: true, inside: (cwd) => path.join(cwd.replace(/[^a-z0-9]+/gi, "-").replace(/^-|-$/g, ""), "sdk-agent-store", crypto.createHash("md5").update(cwd).digest("hex")), plant: (at) => db(at, "index.db").forEach((file) => ["", "-wal", "-shm"].forEach((side) => fs.rmSync(file + side, { force: true }))) },
  "a damaged index page": { kind: "sqlite", plant(at) {
    const [file] = db(at, "store.db"), { page, size } = rows(file, (store) => ({ page: store.prepare("SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = 'blobs'").get().rootpage, size: store.prepare("PRAGMA page_size").get().page_size }));
    const bytes = fs.readFileSync(file);
    fs.writeFileSync(file, bytes.fill(0x5a, (page - 1) * size, page * size));
  } },
  "a torn line among others": { kind: "ndjson", plant: (at) => lines(at, "runs.ndjson", (all) => all.with(0, all[0].slice(0, -30))) },
  "a byte order mark": { kind: "ndjson", plant: (at) => lines(at, "agents.ndjson", (all) => all.with(0, `\ufeff${all[0]}`)) },
};

function ofSDK(version) {
  const work = Object.fromEntries(["sqlite", "ndjson"].map((kind) => [kind, talk(version, kind, "work")]));
  // judge is what the service hears of each agent, or why it hears nothing.
  const judge = (kind, at) => {
    try {
      const [found] = client({ do: "judge", version, cwd: work[kind]().cwd, prompt: "And at last", stores: [{ kind, at }] });
      return Object.fromEntries(Object.entries(found).map(([id, { failed, heard }]) => [id, { failed, blocks: spoken(heard?.model ?? []), turns: spoken(heard?.turns ?? []) }]));
    } catch (error) {
      return { failed: error.message.replace(/^.*?: exit \d+: /, "").slice(0, 80) };
    }
  };
  const whole = Object.fromEntries(Object.keys(work).map((kind) => [kind, once(() => judge(kind, work[kind]().at))]));
  // worse is what a store lacks of the whole one, but for some blocks of each agent.
  const worse = (kind, got, lost, runs) => {
    if (got.failed) return got.failed;
    for (const [id, { blocks, turns }] of Object.entries(whole[kind]())) {
      if (!got[id]) return `${id} is not listed`;
      if (got[id].failed) return `${id}: ${got[id].failed}`;
      for (const [way, want] of Object.entries(runs ? { blocks } : { blocks, turns })) {
        const gone = less(want, got[id][way]);
        if (gone.length > lost) return `${id}: ${gone.length} blocks are missing: ${gone[0].slice(0, 100)}`;
      }
    }
    return undefined;
  };
  for (const [name, { kind, plant, inside = () => "", lost = 0, runs }] of Object.entries(stores)) {
    check(`SDK ${version}, ${name}, repaired and resumed`, () => {
      const below = inside(work[kind]().cwd), at = below ? fresh("project") : copied(work[kind]().at);
      if (below) fs.cpSync(work[kind]().at, path.join(at, below), { recursive: true });
      plant(at);
      const before = worse(kind, judge(kind, path.join(at, below)), 0, runs);
      if (!before) throw new Error("the client is not hurt");
      const { out } = mended(at), after = worse(kind, judge(kind, path.join(out, below)), lost, runs);
      if (after) throw new Error(`after repair: ${after}; before: ${before}`);
      return `before: ${before}; after: all agents and what they said${lost ? `, but for ${lost} block` : ""}${runs ? ", but not its runs" : ""}`;
    });
  }
}

export function repaired([version]) {
  for (const one of clients) ofClaude(one);
  ofSDK(version);
}

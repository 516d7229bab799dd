// Text that others changed. What people review is what is restored, and what the real clients
// send: for one forgery of each kind that rehome accepts, the canonical lines equal what the
// SDK and Claude Code tell their models when they resume what came of the text; what is hidden
// from those who review it is not restored.
import fs from "node:fs";
import path from "node:path";
import { unlike } from "./claude-history.mjs";
import { came, deed, given, picture, say, thought } from "./claude-items.mjs";
import { bytes, canonical, check, claude, client, convert, folder, fresh, once, rehome, root } from "./tools.mjs";
import { fields } from "./wire.mjs";

const store = path.join(root, "testdata", "sdk", "play", "sqlite", "projects", "tmp-play-work", "sdk-agent-store", "8c37560ae74c932d947654aab2bb4124");
const lines = (file) => fs.readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
const write = (name, list) => {
  const file = fresh(name);
  fs.writeFileSync(file, list.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
};

// reviewed is what a person reads in canonical lines, as items, without branches.
function reviewed(list) {
  const items = [], calls = new Map();
  for (const { type, role, archived, branch, parts = [] } of list) {
    if (type !== "message" || archived || branch || role === "system") continue;
    for (const part of parts) {
      if (part.type === "text") items.push(...say(role, part.text));
      if (part.type === "thinking") items.push(...thought(part.text));
      if (part.type === "media") items.push(...picture(part.base64));
      if (part.type === "tool_call") calls.set(part.id, items[items.push(deed({ id: part.id, asked: part.input && given(part.name, part.input) })) - 1]);
      if (part.type === "tool_result" && part.content) calls.get(part.call).result = came(part.content.map(({ text }) => text ?? ""));
    }
  }
  return [{ items, all: true }];
}

// session gives the canonical lines of one session of the store.
const session = once(() => {
  const all = lines(canonical(store)), next = all.findIndex(({ type }, i) => i && type === "session");
  return all.slice(0, next);
});

const at = (list, words) => list.findIndex(({ role, parts = [] }) => role && parts.some(({ text, content }) => [text, content?.[0]?.text].includes(words)));
const hidden = "Nobody reviewed this.";
const said = (id, role, more = {}) => ({ type: "message", id, role, ...more, parts: [{ type: "text", text: "A turn that was added." }] });

// Each changes canonical lines, which rehome accepts.
const accepted = {
  "a word": (list) => { list[at(list, "Looking.")].parts.find(({ text }) => text === "Looking.").text = "Looked elsewhere."; },
  "a result": (list) => { list[at(list, "eins\nzwei\n")].parts[0].content[0].text = "drei\n"; },
  "a role": (list) => { const one = list[at(list, "Und weiter – 你好")]; one.role = "assistant"; delete one.turn; },
  "the order": (list) => { const [a, b] = [at(list, "play: failing"), at(list, "Und weiter – 你好")]; [list[a].parts, list[b].parts] = [list[b].parts, list[a].parts]; },
  "a turn": (list) => list.splice(list.findIndex(({ branch, type }) => branch && type === "message"), 0, said("added-1", "user", { turn: { number: 99 } }), said("added-2", "assistant")),
  "an extra": (list) => { list[at(list, "Looking.")].extras = [{ name: "note", raw: hidden }]; },
};

const made = once(() => Object.entries(accepted).map(([name, change]) => {
  const list = structuredClone(session()), cwd = folder("work");
  change(list);
  const file = write("forged.jsonl", list), claudeAt = fresh("claude"), sdkAt = fresh("sdk");
  rehome([file, claudeAt, "--to", "claude-code", "--cwd", cwd]);
  rehome([file, sdkAt, "--to", "cursor-ndjson", "--flat", "--cwd", cwd]);
  const [id] = fs.readdirSync(path.join(claudeAt, "projects"), { recursive: true }).filter((file) => file.endsWith(".jsonl")).map((file) => path.basename(file, ".jsonl"));
  return { name, cwd, list, claudeAt, sdkAt, id };
}));

// judge throws if what a client sends is not what was reviewed, or is what stood there before.
function judge(name, list, messages) {
  const wrong = unlike(reviewed(list), messages ?? []);
  if (wrong.length) throw new Error(`${name}: ${wrong.slice(0, 3).join("; ")}`);
  if (name !== "an extra" && !unlike(reviewed(session()), messages).length) throw new Error(`${name}: the model is sent what was there before`);
  if (JSON.stringify(messages).includes(hidden)) throw new Error(`${name}: the model is sent what no line of the conversation says`);
}

// The text of a store, in which the agent's state is one from before its last runs.
function moved() {
  const text = convert(store, "cursor-ndjson"), [heads, blobs] = ["agents.ndjson", "checkpoints.ndjson"].map((name) => path.join(text, name));
  const [first, ...others] = lines(heads), last = fields(Buffer.from(lines(blobs).find(({ blobId }) => blobId === first.latestCheckpoint.rootBlobId).dataBase64, "base64"));
  const older = lines(blobs).find(({ agentId, dataBase64 }) => {
    try {
      const state = fields(Buffer.from(dataBase64, "base64"));
      return agentId === first.agentId && state.all(8).length === 1 && state.all(8)[0].equals(last.all(8)[0]) && state.all(1).length < last.all(1).length;
    } catch {
      return false;
    }
  });
  first.latestCheckpoint.rootBlobId = older.blobId;
  fs.writeFileSync(heads, [first, ...others].map((line) => `${JSON.stringify(line)}\n`).join(""));
  return { id: first.agentId, cwd: first.cwd, text };
}

// Each hides something from those who review a text: it is refused, or nothing of it is restored.
const concealed = {
  "a row of an archive": () => {
    const text = convert(store, "archive"), files = fs.readdirSync(text, { recursive: true }).map((name) => path.join(text, name)).filter((name) => name.endsWith(".ndjson"));
    const file = files.find((name) => fs.readFileSync(name, "utf8").includes("play: stall"));
    fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace("play: stall", hidden));
    return [text];
  },
  "a run in a sidecar": () => {
    const text = fresh("parts");
    rehome([store, text, "--to", "cursor-ndjson", "--with-secrets"]);
    const part = fs.readdirSync(text).find((name) => name.startsWith("agent-")), word = (text) => ({ text });
    const cells = [word("run-1"), null, word(part), { int: "99" }, word("FINISHED"), ...Array(7).fill(null), word(hidden), word("2026-01-01"), word("2026-01-01"), ...Array(4).fill(null)];
    fs.appendFileSync(path.join(text, part, "sidecar.ndjson"), `${JSON.stringify({ at: { file: "index.db", set: "runs", rowid: 1000 }, row: cells })}\n`);
    return [text, "--to", "cursor-sdk"];
  },
};

export function forged(claudeVersion, sdkVersion) {
  check(`Claude Code ${claudeVersion}, forged text`, () => {
    const { resumed } = claude({ do: "resume", version: claudeVersion, sessions: made().map(({ id, cwd, claudeAt: at }) => ({ id, cwd, at })) });
    for (const [i, { name, list }] of made().entries()) judge(name, list, resumed[i].messages);
    return `${made().length} forgeries that were accepted: the model is sent what the lines say`;
  });
  check(`SDK ${sdkVersion}, forged text`, () => {
    const { id, cwd, text } = moved(), restored = convert(text, "cursor-sdk");
    const stores = [...made().map(({ cwd, sdkAt: at }) => ({ kind: "ndjson", cwd, at })), { kind: "sqlite", cwd, at: restored }];
    const got = client({ do: "judge", version: sdkVersion, prompt: "And now?", cwd, stores });
    for (const [i, { name, list }] of made().entries()) judge(name, list, Object.values(got[i])[0].heard?.model);
    const held = lines(canonical(text)), from = held.findIndex((line) => line.id === id), to = held.findIndex(({ type }, i) => i > from && type === "session");
    judge("the state", held.slice(from, to < 0 ? undefined : to), got.at(-1)[id].heard?.model);
    return `${stores.length} forgeries that were accepted: the model is sent what the lines say`;
  });
  check("forged text, concealed", () => {
    const found = Object.entries(concealed).map(([name, make]) => {
      const [text, ...to] = make(), target = fresh("store");
      try {
        rehome([text, target, ...to]);
      } catch {
        return `${name}: refused`;
      }
      if (Object.values(bytes(target)).some((one) => one.includes(hidden))) throw new Error(`${name} is restored`);
      return `${name}: not restored`;
    });
    if (!found[0].endsWith("refused")) throw new Error(found[0]);
    return found.join(", ");
  });
}

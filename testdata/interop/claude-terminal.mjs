// The client as a person meets it: a session that was migrated is resumed in
// front of a terminal, and what stands on the screen is held against what the
// session's own plays said and did.
import { createHash, randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { clients } from "./claude.mjs";
import { check, claude, folder, fresh, inFront, migrate, once, root, same } from "./tools.mjs";

// What there is to be seen of the plays, in their order: prompts, answers,
// commands with their output, an edit as lines that went and came, what failed.
const phrases = [
  "❯ play: parallel", "Looking.", "Read(a.txt", "Bash(printf one)", "⎿ one", "And once more.", "Update(b.go)", "Added 1 line, removed 1 line", "1 - a", "1 + é", "All done.",
  "❯ play: failing", "This will fail.", "Read(nowhere)", "⎿ Error: no such file: nowhere", "Bash(printf bad", "Web Search(\"weather\")", "⎿ Error: Rejected: not allowed here", "All done.",
  "❯ plain – wörds", "你好", "I will run a command. 🚀", "Bash(printf hi)", "⎿ hi", "All done.",
  "❯ and on", "Bash(printf hi)", "⎿ hi", "❯ Resumed", "Bash(printf hi)", "⎿ hi", "All done.",
];

// taken are three things that are no more to be seen once they are taken from the file: what the edit
// did, a prompt, and what a command wrote.
const taken = ["❯ play: failing", "⎿ one", "Added 1 line, removed 1 line", "1 - a", "1 + é"];
const take = (line) => {
  if (line.toolUseResult?.structuredPatch) delete line.toolUseResult;
  if (line.message?.content === "play: failing") line.isMeta = true;
  if (line.toolUseResult?.stdout === "one") line.toolUseResult.stdout = "two";
};

export function drawn(source) {
  const cwd = folder("work é (2)");
  const moved = once(() => {
    const config = folder("config"), { at, holds } = source();
    const { agentId } = holds.agents.find(({ name }) => name === "Play 0");
    const { session: id, file } = migrate(at, config, cwd).find((one) => one.id === agentId);
    return { id, at: config, file: path.relative(config, file), phrases };
  });
  const spoilt = once(() => {
    const { at, file, ...show } = moved(), config = fresh("spoilt");
    fs.cpSync(at, config, { recursive: true, preserveTimestamps: true });
    const lines = fs.readFileSync(path.join(config, file), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
    lines.forEach(take);
    fs.writeFileSync(path.join(config, file), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    return { ...show, at: config };
  });
  for (const version of clients) {
    const screens = once(() => claude({ do: "screen", version, cwd, shows: [moved(), spoilt()] }));
    check(`Claude Code ${version}, on a terminal`, () => {
      const [{ missing, text }] = screens();
      if (missing.length) throw new Error(`not to be seen, each behind those in front of it: ${JSON.stringify(missing)}, of\n${text}`);
      return `${phrases.length} phrases in their order: prompts, answers, commands and what they wrote, what an edit did`;
    });
    check(`Claude Code ${version}, on a terminal, with three things taken`, () => {
      const { missing } = screens()[1];
      same(missing.toSorted(), taken.toSorted(), "not to be seen are others");
      return "found out, and nothing else";
    });
  }
}

// many is a home folder with so many sessions: chats of the Cursor CLI, and copies
// of one of them that Claude Code has, in other folders. The newest belongs to cwd.
function many(count, cwd) {
  const home = folder("home"), chat = fs.readFileSync(path.join(root, "cmd/internal/demochat/login.db"));
  for (let n = 0; n < count / 2; n++) {
    const dir = n === 0 ? cwd : path.join(home, `project${n % 20}`), at = path.join(home, ".cursor/chats", createHash("md5").update(dir).digest("hex"), randomUUID());
    fs.mkdirSync(at, { recursive: true });
    fs.writeFileSync(path.join(at, "store.db"), chat);
    const time = 1791792000000 - n * 60_000;
    fs.writeFileSync(path.join(at, "meta.json"), JSON.stringify({ schemaVersion: 1, createdAtMs: time, updatedAtMs: time, hasConversation: true, title: `Chat ${n}`, cwd: dir, isSubagent: false }));
  }
  const [{ session, file }] = migrate(path.join(root, "cmd/internal/demochat/login.db"), path.join(home, ".claude"), folder("elsewhere"));
  const lines = fs.readFileSync(file, "utf8");
  for (let n = 1; n < count / 2; n++) {
    const id = randomUUID();
    fs.writeFileSync(path.join(path.dirname(file), `${id}.jsonl`), lines.replaceAll(session, id));
  }
  return home;
}

const most = 10; // seconds, on a busy machine

// picked: rehome without a command, and one key.
export function picked(count) {
  const cwd = folder("work é (3)");
  check(`Claude Code ${clients[0]}, from a list of ${count} sessions`, () => {
    const job = { version: clients[0], cwd, home: many(count, cwd), keys: [{ after: `of ${count.toLocaleString("en")} sessions`, type: "\r" }] };
    // The banner tells the client's screen from the preview of the list.
    const { missing, text, millis } = inFront([], { ...job, phrases: [`Claude Code v${clients[0]}`, "❯ TestLogin fails about one run in ten.", "A session stayed valid during the second in which it expires. Fixed."] });
    if (missing.length) throw new Error(`not to be seen: ${JSON.stringify(missing)}, of\n${text}`);
    if (millis > most * 1000) throw new Error(`the answer is there after ${millis} ms`);
    return `one key, and ${(millis / 1000).toFixed(1)} s after the start the client shows the last answer`;
  });
}

// What the real Claude Code makes of attachments when it resumes a session. One session
// has each kind twice, without and with text beside the record, each in a turn of its own.
// The results are those that testdata/claude-attachments records, and the client is
// started again with what rehome wrote from the canonical text of the session: it must be
// told the same in each turn.
import fs from "node:fs";
import path from "node:path";
import { blocksOf } from "./claude-rules.mjs";
import { canonical, check, claude, convert, folder, once, root, same } from "./tools.mjs";

const id = "11111111-2222-4333-8444-555555555555";
const kinds = () => fs.readFileSync(path.join(root, "testdata", "claude-attachments", "kinds.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));

// session writes the file, and returns its config folder and working folder.
function session() {
  const at = folder("config"), cwd = folder("work"), lines = [];
  const add = (type, members) => {
    const n = lines.length + 1, uuid = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
    const envelope = { isSidechain: false, userType: "external", entrypoint: "cli", cwd, sessionId: id, version: "2.1.330", gitBranch: "", timestamp: new Date(Date.UTC(2026, 0, 2, 3, 4, n)).toISOString() };
    lines.push({ parentUuid: lines.at(-1)?.uuid ?? null, ...envelope, type, ...members, uuid });
  };
  const usage = { input_tokens: 1, output_tokens: 1 };
  for (const [i, { attachment }] of kinds().entries()) {
    for (const beside of [{}, { rendered: [{ content: `Rendered ${i}.` }], renderedRole: "user" }]) {
      const turn = lines.length;
      add("user", { message: { role: "user", content: `Ask ${turn}.` } });
      add("attachment", { attachment, ...beside });
      add("assistant", { message: { id: `msg_${turn}`, type: "message", role: "assistant", model: "claude-opus-4-5", content: [{ type: "text", text: `Answer ${turn}.` }], stop_reason: "end_turn", stop_sequence: null, usage } });
    }
  }
  const project = path.join(at, "projects", cwd.replaceAll(/[^A-Za-z0-9]/g, "-"));
  fs.mkdirSync(project, { recursive: true });
  fs.writeFileSync(path.join(project, `${id}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return { at, cwd };
}

// told resumes a session, and gives what the model is told in each turn besides its
// prompt. 2.0.77 puts it before the prompt, 2.1.330 after it.
function told(version, at, cwd) {
  const { resumed: [{ failed, messages }] } = claude({ do: "resume", version, sessions: [{ id, cwd, at }] });
  if (failed) throw new Error(failed);
  const turns = [];
  let words = [];
  for (const { role, content } of messages) {
    for (const block of blocksOf(content)) {
      if (role === "assistant") {
        turns.push(words.join("\n").trim());
        words = [];
      } else if (!/^Ask \d+\.\n?$/.test(block.text ?? "")) words.push(block.type === "text" ? block.text.replace(/^Ask \d+\.\n/, "").trim() : JSON.stringify(block));
    }
  }
  return turns;
}

export function attachments(clients) {
  const made = once(() => {
    const source = session(), [id] = fs.readdirSync(path.join(source.at, "projects"));
    return { ...source, again: convert(canonical(path.join(source.at, "projects", id)), "claude-code", ["--sidecar", "none"]) };
  });
  for (const version of clients) {
    const before = once(() => told(version, made().at, made().cwd));
    if (version === clients[0]) {
      check(`Claude Code ${version}, attachments, sent as recorded`, () => {
        const want = kinds().flatMap(({ record, rendered, attachment: { type } }) => [`${type}: ${record}`, `${type} with text: ${rendered}`]);
        same(want.map((line, i) => line.replace(/(true|false)$/, String(before()[i] !== ""))), want, "the client sends others than recorded");
        return `${want.length} attachments`;
      });
    }
    check(`Claude Code ${version}, attachments, the same by way of canonical text`, () => {
      const { again, cwd } = made(), after = told(version, again, cwd);
      let sent = 0;
      for (const [i, { record, rendered, attachment: { type } }] of kinds().entries()) {
        for (const [form, is] of [[0, record], [1, rendered]]) {
          const name = `${type}${form ? " with text" : ""}`, was = before()[2 * i + form];
          if (after[2 * i + form] !== "") sent++;
          // What rehome does not know, and what the newest client does not send, is not written.
          if (type === "a_kind_of_tomorrow" || !is) same(after[2 * i + form], "", name);
          else same(after[2 * i + form], was, name);
        }
      }
      if (sent < 50) throw new Error(`only ${sent} attachments are sent`);
      return `${sent} of ${2 * kinds().length} attachments sent`;
    });
  }
}

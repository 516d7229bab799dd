// A session that Claude Code 1.0.5x compacted: the summary is a second root, and no line
// before it says so. The real client sends the summary and what follows; after `rehome
// repair`, and by way of canonical text, it must send the same.
import fs from "node:fs";
import path from "node:path";
import { blocksOf } from "./claude-rules.mjs";
import { canonical, check, claude, convert, folder, inHome, once, same } from "./tools.mjs";

const id = "22222222-2222-4333-8444-555555555555";

function session() {
  const at = folder("config"), cwd = folder("work"), lines = [];
  const add = (type, parent, content, more = {}) => {
    const n = lines.length + 1, role = type, message = type === "user" ? { role, content } : { id: `msg_${n}`, type: "message", role, model: "claude-opus-4-5", content: [{ type: "text", text: content }], stop_reason: "end_turn", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
    lines.push({ parentUuid: parent ? lines.at(-1).uuid : null, isSidechain: false, userType: "external", cwd, sessionId: id, version: "1.0.53", gitBranch: "", type, message, ...more, uuid: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`, timestamp: new Date(Date.UTC(2026, 0, 2, 3, 4, n)).toISOString() });
  };
  add("user", false, "Before.");
  add("assistant", true, "Old answer.");
  add("user", false, [{ type: "text", text: "The summary." }], { isCompactSummary: true });
  add("assistant", true, "First answer.");
  add("user", true, "After.");
  add("assistant", true, "Last answer.");
  const project = path.join(at, "projects", cwd.replaceAll(/[^A-Za-z0-9]/g, "-"));
  fs.mkdirSync(project, { recursive: true });
  fs.writeFileSync(path.join(project, `${id}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return { at, cwd, project };
}

// sent is what the model is told, without the context that each start of the client adds.
function sent(version, at, cwd) {
  const { resumed: [{ failed, messages }] } = claude({ do: "resume", version, sessions: [{ id, cwd, at }] });
  if (failed) throw new Error(failed);
  const words = messages.filter(({ role }) => role !== "system").flatMap(({ role, content }) => blocksOf(content).map(({ text }) => `${role}: ${text.trim()}`));
  return words.filter((line) => !line.includes("<system-reminder>") && !line.includes("Go on "));
}

export function compactions(clients) {
  const made = once(session);
  for (const version of clients) {
    const before = once(() => sent(version, made().at, made().cwd));
    check(`Claude Code ${version}, a compaction of 1.0.5x, repaired`, () => {
      const { at, cwd } = made(), to = folder("repaired");
      inHome(folder("home"), ["repair", path.join(at, "projects"), path.join(to, "projects")]);
      same(sent(version, to, cwd), before(), "the repaired session");
      if (!before().includes("user: The summary.") || before().includes("user: Before.")) throw new Error(`the client sends ${before()}`);
      return `${before().length} blocks`;
    });
    check(`Claude Code ${version}, a compaction of 1.0.5x, by way of canonical text`, () => {
      const { project, cwd } = made();
      same(sent(version, convert(canonical(project), "claude-code", ["--sidecar", "none"]), cwd), before(), "the converted session");
      return `${before().length} blocks`;
    });
  }
}

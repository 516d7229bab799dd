// Sessions that a real client wrote, for commands that move, redact, mend or
// merge them; and what the client makes of them before and after.
import path from "node:path";
import { blocksOf } from "./claude-rules.mjs";
import { claude, folder, same } from "./tools.mjs";

// talked has Claude Code work in a home folder of its own: tools that run and fail, a
// subagent, a session that is continued, and another one.
export function talked(version, { cwd = folder("work é (7)"), turns = [{ prompt: "play: tools" }, { prompt: `Look at ${cwd}/note.txt – 雨 ☔`, resume: 0 }, { prompt: "play: where" }] } = {}) {
  const home = folder("home"), said = claude({ do: "talk", version, home, cwd, turns });
  return { home, cwd, config: path.join(home, ".claude"), ids: [...new Set(said.map(({ session }) => session))] };
}

// sent is what the client sends to its model when it resumes sessions of a folder, each in a copy,
// and what it lists there.
export function sent(version, config, cwd, ids) {
  const { resumed, listed } = claude({ do: "resume", version, list: true, sessions: ids.map((id) => ({ id, cwd, at: config })) });
  const found = {};
  for (const [i, { id, failed, messages, continued, appended }] of resumed.entries()) {
    const { title, cwd: where, messages: told, subagents, listed: there } = listed[i];
    if (failed || !messages) throw new Error(`${id}: ${failed ?? "the API heard nothing"}`);
    same(continued, id, "the client continues another session");
    found[id] = { messages: spoken(messages), kept: appended.kept, listed: there, title, where, told, subagents };
  }
  return found;
}

// spoken is what was said, without the context that the client adds anew to each
// request, and without the prompt that asks for it.
export const spoken = (messages) => messages.flatMap(({ role, content }) => blocksOf(content).map((block) => ({ role, ...block, cache_control: undefined })))
  .filter(({ role, type, text }) => role !== "system" && !(type === "text" && role === "user" && /^\s*(<system-reminder>|Go on [0-9a-f-]+ \d+\.$)/.test(text)));

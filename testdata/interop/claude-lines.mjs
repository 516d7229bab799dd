// What a session of Claude Code holds, as items: its lines, from the last one up
// by their parents.
import { came, deed, given, picture, say, thought } from "./claude-items.mjs";
import { blocksOf } from "./claude-rules.mjs";

const spoken = ({ type, isSidechain }) => (type === "user" || type === "assistant") && !isSidechain;

// chain are the lines that the client goes on from. Of parallel calls only the
// last stands above its successor: the others have the same message.
function chain(all) {
  const byId = new Map(all.map((line) => [line.uuid, line])), lines = new Set(), messages = new Set();
  for (let one = all.findLast(spoken); one && !lines.has(one); one = byId.get(one.parentUuid ?? one.logicalParentUuid)) {
    lines.add(one);
    if (one.type === "assistant" && one.message.id) messages.add(one.message.id);
  }
  return all.filter((line) => spoken(line) && (lines.has(line) || messages.has(line.message.id)));
}

const shown = (content) => blocksOf(content).filter(({ type }) => type === "text").map(({ text }) => text);
// What names a call: which command, which file.
const named = (input) => ["command", "file_path", "pattern"].map((name) => input?.[name]).filter((value) => typeof value === "string" && value.trim());

// session is the history in full, and if there is a summary, what follows it.
export function session(all) {
  const results = new Map(all.filter(({ type }) => type === "user").flatMap(({ message }) => blocksOf(message.content)).filter(({ type }) => type === "tool_result").map((one) => [one.tool_use_id, one]));
  const items = [];
  let summary;
  for (const { type, message, isMeta, isCompactSummary } of chain(all)) {
    if (isCompactSummary) {
      summary = items.length;
      items.push({ role: "user", kind: "text", has: shown(message.content), summary: true });
      continue;
    }
    for (const block of blocksOf(message.content)) {
      // What stands in tags is the client's own.
      if (block.type === "text" && (type === "assistant" || !(isMeta || block.text.startsWith("<")))) items.push(...say(type, block.text));
      if (block.type === "thinking") items.push(...thought(block.thinking));
      if (block.type === "image" && block.source.data) items.push(...picture(block.source.data));
      if (block.type !== "tool_use") continue;
      const result = results.get(block.id);
      const edits = ["Edit", "Write", "MultiEdit", "NotebookEdit"].includes(block.name);
      items.push({ edits, ...deed({ id: block.id, has: named(block.input), asked: given(block.name, block.input), result: result && came(shown(result.content).filter((text) => text.trim()), result.is_error ? true : undefined) }) });
    }
  }
  const told = (list) => ({ items: list, all: false });
  if (summary === undefined) return { now: [told(items)] };
  return { now: [told(items.slice(summary))], full: [told(items.filter((item) => !item.summary))] };
}

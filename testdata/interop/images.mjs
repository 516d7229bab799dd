// Images in the results of calls of another client: the real one strips them from results that failed, so
// rehome puts those after the results. Each image must reach the model once, behind the
// result that it belongs to, and the result must still say what it said.
import fs from "node:fs";
import path from "node:path";
import { blocksOf } from "./claude-rules.mjs";
import { check, claude, convert, folder, fresh, once, same } from "./tools.mjs";

const pixels = [
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
];

// session is canonical text: two calls at once, one of which failed, or both.
function session(failed) {
  const cwd = folder("work"), id = `33333333-2222-4333-8444-55555555555${failed.filter(Boolean).length}`, file = `${fresh("images")}.jsonl`;
  const call = (n) => ({ type: "tool_call", id: `t${n}`, name: "Bash", kind: "shell", input: { command: `draw ${n}` } });
  const result = (n) => ({ type: "message", id: `r${n}`, role: "tool", parts: [{ type: "tool_result", call: `t${n}`, error: failed[n], content: [{ type: "text", text: `Drawn ${n}.` }, { type: "media", mime: "image/png", base64: pixels[n] }] }] });
  const lines = [
    { type: "session", version: 1, id, agent: "codex", workspace: cwd },
    { type: "message", id: "p", role: "user", turn: { number: 1 }, parts: [{ type: "text", text: "Draw." }] },
    { type: "message", id: "a", role: "assistant", parts: [call(0), call(1)] }, result(0), result(1),
    { type: "message", id: "z", role: "assistant", parts: [{ type: "text", text: "Done." }] },
  ];
  fs.writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const at = convert(file, "claude-code", ["--sidecar", "none"]);
  const [written] = fs.readdirSync(path.join(at, "projects"), { recursive: true }).filter((name) => name.endsWith(".jsonl"));
  return { id: path.basename(written, ".jsonl"), cwd, at };
}

export function images(version) {
  for (const failed of [[true, false], [true, true]]) {
    const made = once(() => session(failed));
    check(`Claude Code ${version}, images in ${failed.filter(Boolean).length} failed results of 2`, () => {
      const { id, at, cwd } = made();
      const { resumed: [{ failed: why, messages }] } = claude({ do: "resume", version, sessions: [{ id, cwd, at }] });
      if (why) throw new Error(why);
      const seen = messages.flatMap(({ content }) => blocksOf(content)).flatMap((block) => [block, ...(block.type === "tool_result" ? blocksOf(block.content) : [])]);
      for (const [n, pixel] of pixels.entries()) {
        const where = seen.flatMap((block, i) => (block.source?.data === pixel ? [i] : [])), result = seen.findIndex(({ tool_use_id: call }) => call === `t${n}`);
        same(where.length, 1, `image ${n} arrives`);
        if (where[0] < result) throw new Error(`image ${n} is before its result`);
        same([seen[result].is_error ?? false, blocksOf(seen[result].content).filter(({ type }) => type === "text").map(({ text }) => text.includes(`Drawn ${n}.`))], [failed[n], [true]], `result ${n}`);
      }
      return `${pixels.length} images, each behind its result`;
    });
  }
}

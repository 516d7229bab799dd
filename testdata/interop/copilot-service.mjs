// A stand-in for a service of chat completions, as Copilot CLI uses one. A prompt that names a
// play is answered as the play says; any other one with its own words.
import { call, said, start as listen, text, thought } from "./pi-service.mjs";

const plays = {
  "play: tools": [
    ({ cwd }) => [thought("Read the file first."), text("I will look."), call("call_1", "view", { path: `${cwd}/stairs.txt` })],
    () => [call("call_2", "bash", { command: "echo bad >&2; exit 3", description: "Fail" })],
    ({ cwd }) => [call("call_3", "view", { path: `${cwd}/nowhere.txt` })],
    ({ cwd }) => [call("call_4", "edit", { path: `${cwd}/stairs.txt`, old_str: "dry", new_str: "wet" })],
    ({ cwd }) => [call("call_5", "view", { path: `${cwd}/dot.png` })],
    ({ cwd }) => [
      text("Two at once."),
      call("call_6", "grep", { pattern: "wet", path: cwd }),
      { tool_calls: [{ index: 1, id: "call_7", type: "function", function: { name: "create", arguments: JSON.stringify({ path: `${cwd}/new.txt`, file_text: "neu – 你好\n" }) } }] },
    ],
    () => [thought("Done."), text("Played. – 你好")],
  ],
  "play: helper": [
    () => [text("I send somebody."), call("call_h", "task", { agent_type: "general-purpose", name: "stairs", description: "Look at the stairs", prompt: "play: look", mode: "sync" })],
    () => [text("They are there.")],
  ],
  "play: look": [({ cwd }) => [thought("A small thing."), text("I look."), call("call_l", "view", { path: `${cwd}/stairs.txt` })], () => [text("The stairs are wet.")]],
};

// spoken is what the user typed, without what the client puts around it.
export const spoken = (content) => said(content).replace(/^<current_datetime>.*<\/current_datetime>\s*/, "").replace(/\s*<(reminder|system_reminder)>[^]*$/, "").trim();

// start listens. How far a play has come, the results after its prompt tell.
export const start = (cwd) => listen(({ messages }, response) => {
  const at = messages.findLastIndex(({ role }) => role === "user"), prompt = at < 0 ? "" : spoken(messages[at].content);
  if (prompt === "play: stall") return response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: text("Half of a sen"), finish_reason: null }] })}\n\n`), undefined;
  if (/summary/i.test(prompt) && /<overview>/.test(prompt)) return [text("<overview>The stairs were dry.</overview><checkpoint_title>Stairs</checkpoint_title>")];
  const gone = messages.slice(at).filter(({ role }) => role === "tool").length;
  return plays[prompt]?.[Math.min(gone, plays[prompt].length - 1)]({ cwd }) ?? [text(`Heard: ${prompt}`)];
});

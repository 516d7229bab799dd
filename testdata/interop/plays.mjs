// Turns that the stand-in plays when a prompt names one: several tools at once,
// tools that fail, a long output, images, a turn that is broken off and one
// that ends in an error. Shell commands run for real, through the client; of
// the other tools the service tells what came of them, as it does of its own.
import { message, sha256, shellArgs, shellCall, turn, thinking, saying, state, toolStep } from "./wire.mjs";

// A tool by the number of its field in a ToolCall, by the model's name for it,
// with arguments and result by field number.
const read = (path, content) => ({ number: 8, name: "Read", input: { path }, args: [[1, path], [3, 20]], result: [[1, [[1, content], [4, 3], [5, content.length], [7, path]]]], shown: content });
const missing = (path) => ({ number: 8, name: "Read", input: { path }, args: [[1, path]], result: [[2, [[1, `no such file: ${path}`]]]], shown: `Error: no such file: ${path}`, failed: true });
const grep = (pattern) => ({
  number: 5, name: "Grep", input: { pattern, path: "src" }, args: [[1, pattern], [2, "src"], [8, true]], shown: "src/a.go:7:match ü",
  result: [[1, [[1, pattern], [3, "content"], [4, [[1, "/work"], [2, [[3, [[1, [[1, "src/a.go"], [2, [[1, 7], [2, "match ü"]]]]], [2, 1]]]]]]]]]],
});
const edit = (path) => ({
  number: 12, name: "StrReplace", input: { path, old_string: "a", new_string: "é" }, args: [[1, path], [6, "é"]], shown: "The file was changed.",
  result: [[1, [[1, path], [3, 1], [4, 1], [5, "@@ -1 +1 @@\n-a\n+é\n"], [6, "a\n"], [7, "é\n"]]]],
});
const denied = (path) => ({ number: 12, name: "StrReplace", input: { path }, args: [[1, path]], result: [[7, [[1, path], [2, "old_string not found"]]]], shown: "Error: old_string not found", failed: true });
const todos = () => ({ number: 9, name: "TodoWrite", input: { merge: false }, args: [[1, [[1, "t1"], [2, "Do it ✓"], [3, 2]]]], result: [[1, [[1, [[1, "t1"], [2, "Do it ✓"], [3, 2]]], [2, 1]]]], shown: "ok" });
const search = (term) => ({ number: 18, name: "WebSearch", input: { search_term: term }, args: [[1, term]], result: [[3, [[1, "not allowed here"]]]], shown: "Rejected: not allowed here", failed: true });
const run = (command) => ({ number: 1, name: "Shell", input: { command }, command });

const plays = {
  "play: parallel": { responses: [{ thought: "three at once", text: "Looking.", calls: [read("a.txt", "eins\nzwei\n"), grep("mätch"), run("printf one")] }, { text: "And once more.", calls: [edit("b.go"), todos()] }, { text: "All done." }] },
  "play: failing": { responses: [{ text: "This will fail.", calls: [missing("nowhere"), run("printf bad >&2; exit 3"), denied("c.go"), search("weather")] }, { thought: "all failed", text: "All done." }] },
  "play: long": { responses: [{ text: "Long.", calls: [run("seq 1 1500")] }, { text: "All done." }] },
  "play: look": { responses: [{ text: "I see it.", calls: [] }, { text: "All done." }] },
  "play: stall": { responses: [{ thought: "slow", text: "Begun.", calls: [run("printf begun")] }, { text: "Half of a sen", stall: true }] },
  "play: break": { responses: [{ text: "It will break.", calls: [], fail: "that will not do", code: "permission_denied" }] },
  // The client tries such an error again, four times in all, and tells each try.
  "play: retry": { responses: [{ text: "It will not last.", calls: [], fail: "the service is out of order", code: "internal" }] },
};

// secret is a turn that says a word in every place it has. Its texts come in pieces that cut the word.
const secret = (word) => ({ cut: /(?<=^(?:[^]{7})+)/, responses: [
  { thought: `I think of ${word}.`, text: `I say ${word}.`, calls: [run(`printf %s '${nested(word)}'`), run(`printf %s '${word}' | base64 | tr -d '\\n'`), run(`printf %s '${word}' | od -An -v -tx1 | tr -d ' \\n'`), read(`${word}.txt`, `key = ${word}\n`), { ...edit("b.go"), input: { path: "b.go", old_string: "a", new_string: nested(word) } }] },
  { text: "All done." },
] });

// nested is a word in JSON in JSON.
export const nested = (word) => JSON.stringify({ outer: JSON.stringify({ key: word, list: [word] }) });

// play is the turn that a prompt names, if it names one.
export const play = (prompt) => plays[prompt] ?? (prompt.startsWith("play: secret ") ? secret(prompt.slice("play: secret ".length)) : undefined);

// perform plays a turn. It gives nothing; what it threw ends the stream.
export async function perform(play, stage) {
  const { update, put, json, server, before, user, request, wait, shell } = stage;
  const prompts = stage.prompts, steps = [];
  const spoken = await put(user);
  const checkpoint = async () => server(3, state({ prompts, todos: before.all(3), turns: [...before.all(8), await put(turn(spoken, steps, request))] }));
  const pieces = (text) => text.split(play.cut ?? /(?= )/);
  let count = 0;
  for (const response of play.responses) {
    const content = [], results = [];
    if (response.thought) {
      for (const piece of pieces(response.thought)) update(4, [1, piece]);
      update(5, [1, 1234]);
      steps.push(await put(thinking(response.thought)));
      content.push({ type: "reasoning", text: response.thought, signature: "c2ln", providerOptions: { cursor: { modelName: "stand-in" } } });
    }
    for (const piece of pieces(response.text)) update(1, [1, piece]);
    if (response.stall) return wait();
    if (response.fail) throw Object.assign(new Error(response.fail), { service: response.code });
    steps.push(await put(saying(response.text)));
    content.push({ type: "text", text: response.text });
    const calls = (response.calls ?? []).map((tool) => ({ ...tool, id: `toolu_${sha256(`${request}/${++count}`).toString("hex").slice(0, 20)}` }));
    const whole = (call, result) => (call.command ? shellCall(call.sent, result, call.id) : message([call.number, [[1, call.args], result && [2, result]]], [57, call.id]));
    for (const call of calls) {
      if (call.command) call.sent = shellArgs(call.command, call.id);
      update(2, [1, call.id], [2, whole(call)], [3, "m"]);
      content.push({ type: "tool-call", toolCallId: call.id, toolName: call.name, args: call.input, providerOptions: { cursor: { modelName: "stand-in" } } });
    }
    // Results come in the other order: so it is when tools run side by side.
    for (const call of calls.toReversed()) {
      const result = call.command ? await shell(call) : call.result;
      const done = whole(call, result);
      update(3, [1, call.id], [2, done], [3, "m"]);
      call.done = done;
      results.unshift({ role: "tool", id: call.id, content: [{ type: "tool-result", toolName: call.name, toolCallId: call.id, result: call.shown ?? `shell: ${call.command}`, ...(call.failed ? { isError: true } : {}) }] });
    }
    for (const call of calls) steps.push(await put(toolStep(call.done)));
    for (const part of [{ role: "assistant", id: "1", content }, ...results]) prompts.push(await json(part));
    await checkpoint();
  }
  update(14, [1, 100], [2, 20], [3, 5], [4, 0]);
  await checkpoint();
}

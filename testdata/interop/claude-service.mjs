// A stand-in for the Messages API, on 127.0.0.1. It answers every prompt with
// one word, or as the play says that the prompt names, in the stream that the
// client asks for, and hands on what it was asked. Each prompt ends with a word of its own: so it is known whose request
// one is, however many clients talk at once.
import http from "node:http";
import { randomUUID } from "node:crypto";
import { nested } from "./plays.mjs";

export const answer = "Heard.";

const call = (name, input) => ({ type: "tool_use", id: `toolu_${randomUUID().replaceAll("-", "")}`, name, input });
const text = (words) => ({ type: "text", text: words });
const bash = (command) => call("Bash", { command, description: "Say it" });

// A play is an answer of several rounds, each some blocks. The tool that starts a
// subagent has another name since 2.1.
const plays = {
  "play: tools": [
    () => [text("Two at once. – 你好"), call("Bash", { command: "printf 'one\\ntwo\\n'", description: "Say two words" }), call("Bash", { command: "printf bad >&2; exit 3", description: "Fail" })],
    () => [call("Bash", { command: "seq 1 30000", description: "Say much" })],
    () => [call("Write", { file_path: "note.txt", content: "eins\n" })],
    ({ tools }) => [call(tools.some(({ name }) => name === "Agent") ? "Agent" : "Task", { description: "Look", prompt: "Look aside.", subagent_type: "general-purpose" })],
    () => [text("Played.")],
  ],
  "play: where": [() => [call("Bash", { command: "pwd", description: "Say where" })], () => [text("There.")]],
};

// secret says a word in every place that an answer has.
const secret = (word) => [
  () => [{ type: "thinking", thinking: `I think of ${word}.`, signature: Buffer.from(`signed ${word.length}`).toString("base64") }, text(`I say ${word}.`), bash(`printf %s '${nested(word)}'`)],
  () => [bash(`printf %s '${word}' | base64 | tr -d '\\n'`), bash(`printf %s '${word}' | od -An -v -tx1 | tr -d ' \\n'`)],
  () => [bash(`seq 1 30000; printf %s '${word}'`)],
  () => [call("Write", { file_path: `${word}.txt`, content: `key = ${word}\n` })],
  () => [call("Read", { file_path: "shot.png" })],
  () => [text("Played.")],
];

// round is the blocks that answer a request: how far a play has come, the results
// behind its prompt tell.
function round(body) {
  const said = body.messages.filter(({ role }) => role === "user" || role === "assistant").flatMap(({ role, content }) => (typeof content === "string" ? [{ role, ...text(content) }] : content.map((one) => ({ role, ...one }))));
  // The client puts context of its own beside a prompt, in tags.
  const at = said.findLastIndex((one) => one.role === "user" && one.type === "text" && !one.text.trimStart().startsWith("<"));
  const prompt = said[at]?.text.trim(), word = /^play: secret ([^]*)/.exec(prompt)?.[1];
  const rounds = body.tools?.length ? (word ? secret(word) : plays[prompt]) : undefined;
  const gone = said.slice(at).filter((one, i, list) => one.type === "tool_use" && list[i - 1]?.type !== "tool_use").length;
  return rounds?.[gone]?.(body) ?? [text(answer)];
}

// pieces are a block as it is streamed.
const pieces = {
  text: ({ text }) => ({ empty: { type: "text", text: "" }, deltas: [{ type: "text_delta", text }] }),
  tool_use: ({ input, ...rest }) => ({ empty: { ...rest, input: {} }, deltas: [{ type: "input_json_delta", partial_json: JSON.stringify(input) }] }),
  thinking: ({ thinking, signature }) => ({ empty: { type: "thinking", thinking: "", signature: "" }, deltas: [{ type: "thinking_delta", thinking }, { type: "signature_delta", signature }] }),
};

// events are an answer as server-sent events.
function* events({ model }, blocks) {
  const usage = { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  yield { type: "message_start", message: { id: `msg_${randomUUID()}`, type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage } };
  for (const [index, block] of blocks.entries()) {
    const { empty, deltas } = pieces[block.type](block);
    yield { type: "content_block_start", index, content_block: empty };
    for (const delta of deltas) yield { type: "content_block_delta", index, delta };
    yield { type: "content_block_stop", index };
  }
  yield { type: "message_delta", delta: { stop_reason: stop(blocks), stop_sequence: null }, usage };
  yield { type: "message_stop" };
}

const stop = (blocks) => (blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn");

function whole(request, blocks) {
  const [{ message }] = events(request, blocks);
  return { ...message, content: blocks, stop_reason: stop(blocks) };
}

// start listens. heard is called with the body of each request for an answer.
export async function start(heard) {
  const server = http.createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const { pathname } = new URL(request.url, "http://localhost");
      const json = (code, value) => response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(value));
      if (request.method !== "POST") return json(200, {});
      if (pathname === "/v1/messages/count_tokens") return json(200, { input_tokens: 1 });
      if (pathname !== "/v1/messages") return json(404, { type: "error", error: { type: "not_found_error", message: "not here" } });
      const body = JSON.parse(Buffer.concat(parts).toString("utf8"));
      heard(body);
      const blocks = round(body);
      if (!body.stream) return json(200, whole(body, blocks));
      response.writeHead(200, { "content-type": "text/event-stream", "request-id": randomUUID() });
      for (const event of events(body, blocks)) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
    });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { port: server.address().port, close: () => { server.closeAllConnections(); server.close(); } };
}

// A stand-in for a service of chat completions, and for the Messages API, on 127.0.0.1. It
// answers a prompt with its own words, or the first one as the play says that the prompt names,
// in the stream that Pi asks for, and keeps the body of each request. Other clients have
// plays of their own.
import http from "node:http";

export const text = (words) => ({ content: words });
export const thought = (words) => ({ reasoning_content: words });
export const call = (id, name, input) => ({ tool_calls: [{ index: 0, id, type: "function", function: { name, arguments: JSON.stringify(input) } }] });

const plays = {
  "play: tools": [
    () => [thought("Read the file first."), text("I will look."), call("call_1", "read", { path: "stairs.txt" })],
    () => [call("call_2", "bash", { command: "echo bad >&2; exit 3" })],
    () => [call("call_3", "edit", { path: "stairs.txt", edits: [{ oldText: "dry", newText: "wet" }] })],
    () => [call("call_4", "read", { path: "dot.png" })],
    () => [thought("Done."), text("Played. – 你好")],
  ],
};

export const said = (content) => (typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("")).trim();

// answer is what is said to a request. How far a play has come, the results after its prompt tell.
function answer({ messages }) {
  const at = messages.findLastIndex(({ role, content }) => role === "user" && !said(content).startsWith("Attached image"));
  const prompt = at < 0 ? "" : said(messages[at].content);
  if (/summar/i.test(said(messages[0]?.content)) && /<conversation>/.test(prompt)) return [text("The stairs were dry. Now they are wet.")];
  const gone = messages.slice(at).filter(({ role }) => role === "tool").length;
  return plays[prompt]?.[gone]?.() ?? [text(`Heard: ${prompt}`)];
}

// message is the stream of an answer of the Messages API.
function message({ model, messages }) {
  const usage = { input_tokens: 80, output_tokens: 7, cache_read_input_tokens: 20, cache_creation_input_tokens: 0 };
  return [
    { type: "message_start", message: { id: `m${messages.length}`, type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: `Heard: ${said(messages.at(-1).content)}` } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
    { type: "message_stop" },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

// start listens, and answers as it is told. bodies are those of all requests.
export async function start(answers = answer) {
  const bodies = [];
  const server = http.createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString("utf8"));
    bodies.push(body);
    if (said(body.messages.at(-1)?.content) === "play: refused") {
      return response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error: { message: "The prompt is refused." } }));
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (request.url.includes("/messages")) return response.end(message(body));
    const send = (more) => response.write(`data: ${JSON.stringify({ id: `r${bodies.length}`, object: "chat.completion.chunk", created: 1, model: body.model, ...more })}\n\n`);
    const parts = answers(body, response);
    if (!parts) return;
    for (const delta of parts) send({ choices: [{ index: 0, delta, finish_reason: null }] });
    send({ choices: [{ index: 0, delta: {}, finish_reason: parts.some(({ tool_calls }) => tool_calls) ? "tool_calls" : "stop" }] });
    send({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107, prompt_tokens_details: { cached_tokens: 20 } } });
    response.end("data: [DONE]\n\n");
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { port: server.address().port, bodies, close: () => { server.closeAllConnections(); server.close(); } };
}

// A stand-in for the Messages API, on 127.0.0.1. It answers every prompt with
// one word, in the stream that the client asks for, and hands on what it was
// asked. Each prompt ends with a word of its own: so it is known whose request
// one is, however many clients talk at once.
import http from "node:http";
import { randomUUID } from "node:crypto";

export const answer = "Heard.";

// events are the answer as server-sent events.
function* events({ model }) {
  const usage = { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  yield { type: "message_start", message: { id: `msg_${randomUUID()}`, type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage } };
  yield { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
  yield { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: answer } };
  yield { type: "content_block_stop", index: 0 };
  yield { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage };
  yield { type: "message_stop" };
}

function whole(request) {
  const [{ message, }] = events(request);
  return { ...message, content: [{ type: "text", text: answer }], stop_reason: "end_turn" };
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
      if (!body.stream) return json(200, whole(body));
      response.writeHead(200, { "content-type": "text/event-stream", "request-id": randomUUID() });
      for (const event of events(body)) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
    });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { port: server.address().port, close: () => { server.closeAllConnections(); server.close(); } };
}

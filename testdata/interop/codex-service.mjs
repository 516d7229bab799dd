// A stand-in for the Responses API, on 127.0.0.1. It answers a prompt with its
// own words, or as the play says that the prompt names, in the stream that
// Codex asks for, and keeps the body of each request.
import http from "node:http";
import { setTimeout as later } from "node:timers/promises";

let made = 0;
const id = (kind) => `${kind}_${String(++made).padStart(4, "0")}`;

const text = (words) => ({ type: "message", role: "assistant", id: id("msg"), content: [{ type: "output_text", text: words }] });
const thought = (words) => ({ type: "reasoning", id: id("rs"), summary: [{ type: "summary_text", text: words }], encrypted_content: Buffer.from(`sealed: ${words}`).toString("base64") });
const call = (name, input) => ({ type: "function_call", id: id("fc"), call_id: id("call"), name, arguments: JSON.stringify(input) });

// The tool that runs a command has had three names, and patches a tool of their own.
const commands = {
  exec_command: (cmd) => call("exec_command", { cmd }),
  shell_command: (command) => call("shell_command", { command }),
  shell: (cmd) => call("shell", { command: ["bash", "-lc", cmd] }),
};
const shell = (tools, cmd) => commands[Object.keys(commands).find((name) => tools.some((tool) => tool.name === name)) ?? "shell"](cmd);
const change = "*** Begin Patch\n*** Update File: stairs.txt\n@@\n-dry\n+wet\n*** End Patch\n";
const patch = (tools) => (tools.some(({ type, name }) => type === "custom" && name === "apply_patch")
  ? { type: "custom_tool_call", id: id("ct"), call_id: id("call"), name: "apply_patch", input: change, status: "completed" }
  : shell(tools, `apply_patch <<'EOF'\n${change}EOF`));

// A play is an answer of several rounds, each some output items.
const plays = {
  "play: tools": [
    (tools) => [thought("**Looking**\n\nRead the file first."), text("I will look."), shell(tools, "cat stairs.txt"), shell(tools, "echo bad >&2; exit 3")],
    (tools) => [patch(tools)],
    () => [call("view_image", { path: "dot.png" }), call("no_such_tool", { a: 1 })],
    () => [thought("Done."), text("Played. – 你好")],
  ],
  "play: wait": [(tools) => [text("This takes a while."), shell(tools, "sleep 60")]],
};

// refused is a prompt that the service fails on; full is one whose answer fills
// the context window, so that the client compacts before the next prompt.
const refused = "play: refused", full = "play: full";
const summary = "The stairs were dry. Now they are wet.";

const said = ({ content }) => (typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("")).trim();

// answer is the output items for a request. How far a play has come, the
// results after its prompt tell.
function answer({ input, tools }) {
  const at = input.findLastIndex((item) => item.role === "user" && !/^(<|# AGENTS)/.test(said(item)));
  const prompt = at < 0 ? "" : said(input[at]);
  if (prompt.includes("CHECKPOINT COMPACTION")) return [text(summary)];
  const gone = input.slice(at).filter(({ type }, i, list) => /_output$/.test(type ?? "") && !/_output$/.test(list[i - 1]?.type ?? "")).length;
  return plays[prompt]?.[gone]?.(tools) ?? [text(`Heard: ${prompt}`)];
}

// start listens. bodies are those of all requests for an answer.
export async function start() {
  const bodies = [];
  const server = http.createServer(async (request, response) => {
    const parts = await request.toArray();
    if (request.method !== "POST" || !request.url.endsWith("/responses")) return response.writeHead(404, { "content-type": "application/json" }).end("{}");
    const body = JSON.parse(Buffer.concat(parts).toString("utf8")), last = said(body.input.at(-1));
    bodies.push(body);
    const send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const reply = id("resp");
    send({ type: "response.created", response: { id: reply } });
    if (last === refused) return response.end(`event: response.failed\ndata: ${JSON.stringify({ type: "response.failed", response: { id: reply, error: { code: "invalid_prompt", message: "The prompt is refused." } } })}\n\n`);
    for (const item of answer(body)) {
      send({ type: "response.output_item.added", item });
      send({ type: "response.output_item.done", item });
      await later(1);
    }
    const tokens = last === full ? 300_000 : 100;
    send({ type: "response.completed", response: { id: reply, usage: { input_tokens: tokens, input_tokens_details: { cached_tokens: 20 }, output_tokens: 7, output_tokens_details: { reasoning_tokens: 3 }, total_tokens: tokens + 7 } } });
    response.end();
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { port: server.address().port, bodies, close: () => { server.closeAllConnections(); server.close(); } };
}

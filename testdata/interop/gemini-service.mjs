// A stand-in for the Gemini API on 127.0.0.1. It answers a prompt with its own words, or as the
// play says that the prompt names, and keeps the body of each request of a conversation.
import http from "node:http";

const text = (words) => ({ text: words });
const thought = (words) => ({ text: words, thought: true });
const call = (name, args) => ({ functionCall: { name, args } });

const plays = {
  "play: tools": [
    () => [thought("**Look first** Read the file."), text("I will look."), call("read_file", { file_path: "stairs.txt" })],
    () => [call("run_shell_command", { command: "echo bad >&2; exit 3" }), call("read_file", { file_path: "none.txt" })],
    () => [call("replace", { file_path: "stairs.txt", old_string: "dry", new_string: "wet", instruction: "Make it wet." })],
    () => [call("read_file", { file_path: "dot.png" })],
    () => [thought("**Done** It is wet."), text("Played. – 你好")],
  ],
  "play: agent": [() => [text("I ask another one."), call("invoke_agent", { agent_name: "codebase_investigator", prompt: "Where are the stairs?" })], () => [text("Asked.")]],
};

const said = ({ parts }) => parts.map((part) => part.text ?? "").join("").trim();

// answer is what is said to a request. How far a play has come, the turns of the model after its prompt tell.
function answer({ contents, systemInstruction, tools }) {
  const own = systemInstruction ? said(systemInstruction) : "", names = (tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []).map(({ name }) => name);
  if (/state_snapshot/.test(own) || /state_snapshot/.test(said(contents.at(-1)))) return [text("<state_snapshot>\nThe stairs were dry. Now they are wet.\n</state_snapshot>")];
  if (names.includes("complete_task")) {
    const report = { SummaryOfFindings: "The stairs are in stairs.txt.", ExplorationTrace: [], RelevantLocations: [] };
    return contents.length < 3 ? [call("read_file", { file_path: "stairs.txt" })] : [call("complete_task", { report })];
  }
  const at = contents.findLastIndex(({ role, parts }) => role === "user" && parts.some((part) => part.text && !part.text.startsWith("<")) && !parts.some((part) => part.functionResponse));
  const prompt = at < 0 ? "" : contents[at].parts.map((part) => part.text ?? "").find((words) => words && !words.startsWith("<")).trim();
  return plays[prompt]?.[contents.slice(at).filter(({ role }) => role === "model").length]?.() ?? [text(`Heard: ${prompt.slice(0, 200)}`)];
}

// start listens. bodies are those of all requests that go on with a conversation.
export async function start() {
  const bodies = [];
  const server = http.createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString("utf8") || "{}");
    const reply = (type, words) => response.writeHead(200, { "content-type": type }).end(words);
    if (request.url.includes(":countTokens")) return reply("application/json", JSON.stringify({ totalTokens: 100 }));
    if (process.env.GEMINI_LOG) (await import("node:fs")).appendFileSync(process.env.GEMINI_LOG, JSON.stringify({ url: request.url, body }) + "\n");
    bodies.push(body);
    const parts = answer(body), last = body.contents.at(-1), full = /play: full/.test(said(last));
    if (/play: refused/.test(said(last))) return response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error: { code: 400, message: "The prompt is refused.", status: "INVALID_ARGUMENT" } }));
    const usageMetadata = { promptTokenCount: full ? 900_000 : 100, candidatesTokenCount: 7, totalTokenCount: full ? 900_007 : 107, cachedContentTokenCount: 20, thoughtsTokenCount: 3 };
    const whole = { candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }], usageMetadata };
    if (!request.url.includes(":streamGenerateContent")) return reply("application/json", JSON.stringify(whole));
    const chunks = parts.map((part, i) => ({ candidates: [{ content: { role: "model", parts: [part] }, index: 0, ...(i === parts.length - 1 ? { finishReason: "STOP" } : {}) }], usageMetadata }));
    reply("text/event-stream", chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { port: server.address().port, bodies, close: () => { server.closeAllConnections(); server.close(); } };
}

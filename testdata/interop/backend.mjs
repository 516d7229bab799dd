// A stand-in for the service that the client talks to, on 127.0.0.1. It plays
// one fixed turn for each prompt (think, speak, run one harmless command, speak),
// or the one that the prompt names, and keeps what it was told. The history a
// client sends is a list of ids; the texts behind them are asked back from the
// client, one by one, as the service would: so they come from the store, and a
// blob that is missing there is missing here.
import http from "node:http";
import { heard as told } from "./history.mjs";
import { perform, play } from "./plays.mjs";
import { fields, message, saying, sha256, shellArgs, shellCall, state, thinking, toolStep, turn, userMessage } from "./wire.mjs";

const models = [{ id: "stand-in", displayName: "Stand-in" }];

const frame = (flag, body) => {
  const head = Buffer.alloc(5, 0);
  head[0] = flag;
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
};

// A mailbox: what the client posts, taken in order or by kind.
function mailbox() {
  const held = [];
  let wake = () => {};
  return {
    put: (item) => { held.push(item); wake(); },
    async take(wanted) {
      for (;;) {
        const i = held.findIndex(wanted);
        if (i >= 0) return held.splice(i, 1)[0];
        await new Promise((resolve) => { wake = resolve; });
      }
    },
  };
}

// What the client posts, by field number: a run, the result of a command, the
// answer to a question about a blob, and that a command's stream is closed.
const isRun = (m) => m.has(1), isResult = (m) => m.has(2), isAnswer = (m) => m.has(3);

async function converse(id, box, send, heard, stalled, { whole, raw }) {
  const server = (number, body) => send(frame(0, message([number, body])));
  const update = (number, ...body) => server(1, message([number, body]));
  let asked = 0;
  const ask = async (body) => {
    const n = ++asked;
    server(4, message([1, n], body));
    return (await box.take((m) => isAnswer(m) && m.sub(3).number(1) === n)).sub(3);
  };
  const get = async (blob) => {
    const bytes = (await ask([2, [[1, blob]]])).sub(2).bytes(1);
    if (bytes && !sha256(bytes).equals(blob)) throw new Error(`the blob ${blob.toString("hex")} has other bytes than its id says`);
    return bytes;
  };
  const put = async (bytes) => {
    const blob = sha256(bytes);
    await ask([3, [[1, blob], [2, bytes]]]);
    return blob;
  };
  const json = (value) => put(Buffer.from(JSON.stringify(value)));

  const run = (await box.take(isRun)).sub(1);
  const before = run.sub(1);
  const user = run.sub(2).sub(1).bytes(1);
  const prompt = fields(user).text(1);
  heard.push({ prompt, ...(await history(before, get)), ...(whole && { told: await told(before, get).catch(({ message }) => ({ failed: message })) }), ...(raw && { sent: await sent(before, get) }) });

  const prompts = before.all(1), turns = before.all(8), todos = before.all(3);
  if (!prompts.length) prompts.push(await json({ role: "system", content: "You are a stand-in." }), await json({ role: "user", content: [{ type: "text", text: "<user_info>\nlinux\n</user_info>" }] }));
  const seen = fields(user).sub(3).all(1).map(imagePart);
  prompts.push(await json({ role: "user", content: [{ type: "text", text: `<user_query>\n${prompt}\n</user_query>` }, ...seen] }));

  update(6, [1, user]);
  const played = play(prompt);
  if (played) {
    const wait = () => { stalled(); return new Promise(() => {}); };
    const shell = async (call) => {
      server(2, message([1, ++asked], [15, call.id], [2, call.sent]));
      return (await box.take(isResult)).sub(2).bytes(2);
    };
    return perform(played, { update, put, json, server, before, user, request: id, wait, shell, prompts });
  }
  update(4, [1, "hmm 深い"]);
  update(5, [1, 1234]);
  update(1, [1, "I will run "]);
  update(1, [1, "a command. 🚀"]);
  const call = `toolu_${sha256(id).toString("hex").slice(0, 20)}`;
  const command = "printf hi";
  const args = shellArgs(command, call);
  update(2, [1, call], [2, shellCall(args, undefined, call)], [3, "m"]);
  server(2, message([1, 1], [15, "command"], [2, args]));
  const result = (await box.take(isResult)).sub(2).bytes(2);
  const done = shellCall(args, result, call);
  update(3, [1, call], [2, done], [3, "m"]);
  prompts.push(await json({ role: "assistant", id: "1", content: [{ type: "reasoning", text: "hmm 深い" }, { type: "text", text: "I will run a command. 🚀" }, { type: "tool-call", toolCallId: call, toolName: "Shell", args: { command } }] }));
  prompts.push(await json({ role: "tool", id: call, content: [{ type: "tool-result", toolName: "Shell", toolCallId: call, result: "hi" }] }));

  const spoken = await put(user);
  const steps = [await put(thinking("hmm 深い")), await put(saying("I will run a command. 🚀")), await put(toolStep(done))];
  const checkpoint = async () => server(3, state({ prompts, todos, turns: [...turns, await put(turn(spoken, steps, id))] }));
  await checkpoint();
  update(1, [1, "All done."]);
  steps.push(await put(saying("All done.")));
  prompts.push(await json({ role: "assistant", id: "1", content: [{ type: "text", text: "All done." }] }));
  update(14, [1, 100], [2, 20], [3, 5], [4, 0]);
  await checkpoint();
}

// imagePart is an image of the user's as the model's message holds it.
function imagePart(bytes) {
  const image = fields(bytes), data = image.has(8) ? image.bytes(8) : image.sub(9).bytes(2);
  return { type: "image", image: { __type: "Uint8Array", hex: data.toString("hex") }, mimeType: image.text(7) };
}

// history follows the ids of a checkpoint down to the user's words, on both
// ways that lead there: the turns, and the messages meant for the model.
async function history(before, get) {
  const turns = [], model = [];
  for (const id of before.all(8)) {
    const body = await get(id);
    if (!body) { turns.push(null); continue; }
    if (!fields(body).has(1)) continue;
    const user = await get(fields(body).sub(1).bytes(1));
    turns.push(user ? fields(user).text(1) : null);
  }
  for (const id of before.all(1)) {
    const body = await get(id);
    if (!body) { model.push(null); continue; }
    const { role, content } = JSON.parse(body.toString("utf8"));
    const query = role === "user" && /^<user_query>\n([^]*)\n<\/user_query>$/.exec(content[0].text);
    if (query) model.push(query[1]);
  }
  return { turns, model };
}

async function sent(before, get) {
  const messages = [];
  for (const id of before.all(1)) messages.push(await get(id));
  return [...messages, ...before.all(4)].map((bytes) => JSON.parse(bytes.toString("utf8")));
}

const body = async (request) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
};

// start listens, and points the client of this process here. What it hears is
// the user's words, with whole everything that was said before, too, and with raw the
// messages for the model as the client keeps them.
export async function start({ whole = false, raw = false } = {}) {
  const boxes = new Map(), heard = [], trouble = [];
  let stalls = 0, told = () => {};
  const stalled = () => { stalls++; told(); };
  const box = (id) => boxes.get(id) ?? boxes.set(id, mailbox()).get(id);
  const server = http.createServer(async (request, response) => {
    const bytes = await body(request);
    const answer = (type, out) => { response.setHeader("content-type", type); response.end(out); };
    switch (request.url) {
      case "/auth/exchange_user_api_key": {
        const claims = Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) + 86400 })).toString("base64url");
        return answer("application/json", JSON.stringify({ accessToken: `x.${claims}.y` }));
      }
      // 1.0.17 asks here for its models, newer ones take them from the environment.
      case "/v1/models":
        return answer("application/json", JSON.stringify({ items: models }));
      case "/aiserver.v1.BidiService/BidiAppend": {
        const post = fields(bytes);
        const raw = post.has(4) ? post.bytes(4) : Buffer.from(post.text(1), "hex");
        box(post.sub(2).text(1)).put(fields(raw));
        return answer("application/proto", "");
      }
      case "/agent.v1.AgentService/RunSSE": {
        const id = fields(bytes.subarray(5)).text(1);
        response.writeHead(200, { "content-type": request.headers["content-type"] });
        // An error that a play asks for is the service's own; the stream ends with it.
        let end = {};
        const failed = (error) => (error.service ? (end = { error: { code: error.service, message: error.message } }) : trouble.push(error));
        await converse(id, box(id), (out) => response.write(out), heard, stalled, { whole, raw }).catch(failed);
        return response.end(frame(2, Buffer.from(JSON.stringify(end))));
      }
    }
    // The client may fail at everything else, except at asking for its team.
    if (request.url.includes("GetTeam")) return answer("application/proto", "");
    response.statusCode = 404;
    answer("application/json", JSON.stringify({ code: "unimplemented", message: request.url }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.env.CURSOR_BACKEND_URL = `http://127.0.0.1:${server.address().port}`;
  process.env.CURSOR_SDK_LOCAL_MODEL_CATALOG_JSON = JSON.stringify(models);
  const settle = () => { if (trouble.length) throw trouble[0]; };
  // stall waits until a play has come to its halt.
  const stall = async () => { while (stalls === 0) await new Promise((resolve) => { told = resolve; }); stalls--; };
  return { heard, settle, stall };
}

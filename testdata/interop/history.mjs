// The history of an agent, as its service and its own client tell it. Each way
// to it gives messages of the shape that claude-history.mjs compares.
//
// A turn and its calls are protobuf, read by the numbers of the fields. Kinds
// of calls have records of different shapes: every text in one of them counts.
import { parts, text, typed } from "./claude-state.mjs";
import { fields } from "./wire.mjs";

const say = (role, words) => ({ role, content: [{ type: "text", text: words ?? "" }] });
const image = (data) => ({ type: "image", source: { data } });
const ran = (id, name, input) => ({ role: "assistant", content: [{ type: "tool_use", id, name, input }] });
const came = (id, content, failed) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content, is_error: failed }] });

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// strings are the texts in a record of any shape.
function strings(bytes, found = []) {
  let record;
  try {
    record = fields(bytes);
  } catch {
    return found;
  }
  for (const value of record.values()) {
    if (!Buffer.isBuffer(value)) continue;
    try {
      found.push(strict.decode(value));
    } catch {
      // not a text
    }
    strings(value, found);
  }
  return found;
}

// common are the fields of calls of all kinds: what hooks added, its id and its times.
const common = [54, 57, 59, 60];

// called is a step that is a call: its kind is the number of the field that has
// its arguments and its result, of which the first kind is success.
function called(call) {
  const id = call.text(57), [kind] = call.numbers().filter((n) => call.all(n).some(Buffer.isBuffer) && !common.includes(n));
  const { has, bytes, sub } = kind ? call.sub(kind) : fields(Buffer.alloc(0));
  const list = [ran(id, `kind ${kind}`, has(1) ? strings(bytes(1)) : [])];
  if (has(2)) list.push(came(id, strings(bytes(2)).map((one) => ({ type: "text", text: one })), !sub(2).has(1)));
  return list;
}

// turned are the messages of a turn. What users ran themselves is a turn, too.
async function turned(turn, get) {
  if (turn.has(2)) {
    const shell = turn.sub(2), [command, output] = [await get(shell.bytes(1)), await get(shell.bytes(2))];
    return [say("user", fields(command).text(1)), say("user", strings(output).join("\n"))];
  }
  const user = fields(await get(turn.sub(1).bytes(1))), list = [];
  const pictures = [];
  for (const one of user.sub(3).all(1).map(fields)) {
    const data = one.bytes(8) ?? one.sub(9).bytes(2) ?? (await get(one.bytes(1)));
    pictures.push(image(data.toString("base64")));
  }
  list.push({ role: "user", content: [...say("user", user.text(1)).content, ...pictures] });
  for (const id of turn.sub(1).all(2)) {
    const step = fields(await get(id));
    if (step.has(1)) list.push(say("assistant", step.sub(1).text(1)));
    if (step.has(3)) list.push(say("assistant", step.sub(3).text(1)));
    if (step.has(2)) list.push(...called(step.sub(2)));
  }
  return list;
}

// prompted is a message for the model.
function prompted({ role, content }) {
  if (role === "tool") return content.map(({ toolCallId, result, isError }) => came(toolCallId, parts(result).map((part) => ({ type: "text", text: part.text ?? JSON.stringify(part) })), isError ?? false));
  if (role !== "user" && role !== "assistant") return [];
  const whole = parts(content).flatMap((part) => {
    if (part.type === "image") return image(Buffer.from(part.image.hex, "hex").toString("base64"));
    if (part.type === "tool-call") return ran(part.toolCallId, part.toolName, part.args).content[0];
    if (typeof part.text !== "string") return []; // reasoning that its provider encrypted
    return { type: "text", text: role === "user" ? typed(part.text) : part.text };
  });
  return [{ role, content: whole }];
}

// heard follows the ids of a state to all that stands behind them, on both ways:
// the turns, and the messages for the model.
export async function heard(state, get) {
  const need = async (id) => (await get(id)) ?? Promise.reject(new Error(`the blob ${id.toString("hex")} is missing`));
  const turns = [], model = [];
  for (const id of state.all(8)) turns.push(...(await turned(fields(await need(id)), need)));
  for (const id of state.all(1)) model.push(...prompted(JSON.parse(text(await need(id)))));
  // An answer whose calls have no results yet is in no turn.
  const pending = state.all(4).flatMap((body) => prompted(JSON.parse(text(body))));
  // The states of subagents, inline or by their ids.
  const subagents = [];
  for (const [number, body] of [[16, (value) => value], [31, need]]) {
    for (const pair of state.all(number)) subagents.push(await heard(fields(await body(fields(pair).bytes(2))).sub(1), get));
  }
  return { turns: [...turns, ...pending], model: [...model, ...pending], pending, subagents };
}

// listed are the turns of the client's own list, as its public JSON.
export function listed(turns) {
  const list = [];
  for (const { userMessage, steps = [], shellConversationTurn: shell } of turns.map((one) => one.agentConversationTurn ?? one)) {
    if (!userMessage) {
      list.push(say("user", shell.shellCommand?.command), say("user", shell.shellOutput?.stdout));
      continue;
    }
    list.push(say("user", userMessage.text)); // its images are known by their ids only
    for (const { assistantMessage, thinkingMessage, toolCall } of steps) {
      if (assistantMessage) list.push(say("assistant", assistantMessage.text));
      if (thinkingMessage) list.push(say("assistant", thinkingMessage.text));
      if (!toolCall) continue;
      const { toolCallId, ...kinds } = toolCall, known = Object.entries(kinds).filter(([, value]) => value && typeof value === "object" && !Array.isArray(value));
      // Of a kind that the client does not know, it tells nothing else.
      const [name, { args, result }] = known.find(([, value]) => value.args || value.result) ?? known[0] ?? ["unknown", { result: { success: [] } }];
      const id = toolCallId ?? `${list.length}`; // 1.0.17 does not tell it
      list.push(ran(id, name, args));
      if (result) list.push(came(id, result, !result.success));
    }
  }
  return list;
}

// streamed are the events of runs. Pieces of one text follow each other.
export function streamed(runs) {
  const list = [], calls = new Map();
  for (const event of runs.flatMap(({ events }) => events)) {
    if (event.type === "assistant" && !event.message.content.some((part) => part.text)) continue;
    if (event.type === "user" || event.type === "assistant") list.push(say(event.type, event.message.content.map((part) => part.text ?? "").join("")));
    if (event.type === "thinking") list.push(say("assistant", event.text));
    if (event.type !== "tool_call") continue;
    if (!calls.has(event.call_id)) {
      calls.set(event.call_id, ran(event.call_id, event.name, event.args));
      list.push(calls.get(event.call_id));
    }
    calls.get(event.call_id).content[0].input = event.args;
    if (event.result) list.push(came(event.call_id, event.result, event.result.status === "error"));
  }
  return list;
}

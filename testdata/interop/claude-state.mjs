// What an agent's state holds, by the blobs that it consists of: JSON of the
// messages that a model was shown, and turns, which are protobuf and read by the
// numbers of its fields.
import { came, deed, given, picture, say, thought } from "./claude-items.mjs";
import { fields } from "./wire.mjs";

export const text = (value) => (typeof value === "string" ? value : Buffer.from(value ?? []).toString("utf8"));
export const parts = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []));
const hex = (bytes) => Buffer.from(bytes).toString("hex");

// What a user typed stands in a tag among others, which hold context.
export const typed = (all) => /(?:^|\n)<user_query>\n?([^]*?)\n?<\/user_query>\s*$/.exec(all)?.[1] ?? all;

// shown is what the model was shown of calls, by their ids.
function shown(list) {
  const results = new Map();
  for (const { role, content } of list) {
    if (role !== "tool") continue;
    for (const { toolCallId, result, isError } of content) results.set(toolCallId, came(parts(result).filter(({ type }) => type === "text").map((part) => part.text), isError ? true : undefined));
  }
  return results;
}

// named are the arguments of the model's that every client has: which command, which file.
const named = (args) => ["command", "path"].map((name) => args?.[name]).filter((value) => typeof value === "string" && value.trim());

// prompted are messages that the model was shown, as Cursor keeps them for it:
// JSON of one message each.
function prompted(list, results, summaries = true) {
  const items = [];
  for (const { role, content, providerOptions } of list) {
    if (role === "user") {
      const whole = parts(content).filter(({ type }) => type === "text").map((part) => part.text).join("");
      if (providerOptions?.cursor?.isSummary) items.push(...(summaries ? say("user", whole).map(({ whole: _, ...item }) => item) : []));
      else if (/<user_query>/.test(whole)) items.push(...say("user", typed(whole)));
      for (const part of parts(content)) if (part.type === "image") items.push(...picture(Buffer.from(part.image.hex, "hex").toString("base64")));
    }
    if (role !== "assistant") continue;
    for (const part of parts(content)) {
      if (part.type === "text") items.push(...say(role, part.text));
      if (part.type === "reasoning") items.push(...thought(part.text));
      if (part.type === "tool-call") items.push(deed({ id: part.toolCallId, has: named(part.args), asked: given(part.toolName, part.args), result: results.get(part.toolCallId) }));
    }
  }
  return items;
}

// stepped are turns as the client shows them. Of a call only its id is looked
// at, and what the model was shown of it.
function stepped(turns, get, results) {
  const items = [];
  for (const id of turns) {
    const turn = fields(get(id));
    if (!turn.has(1)) continue;
    items.push(...say("user", fields(get(turn.sub(1).bytes(1))).text(1)));
    for (const step of turn.sub(1).all(2)) {
      const one = fields(get(step));
      if (one.has(1)) items.push(...say("assistant", one.sub(1).text(1)));
      if (one.has(3)) items.push(...thought(one.sub(3).text(1)));
      if (one.has(2)) items.push(deed({ id: one.sub(2).text(57), result: results.get(one.sub(2).text(57)) }));
    }
  }
  return items;
}

// conversation is a history as it would go on now, told by its messages and by
// its turns; in full, with what stands in archives, if there is a summary; and
// its subagents.
export function conversation(state, blobs) {
  const get = (id) => blobs.get(hex(id)), messages = (list) => list.all(1).map((id) => JSON.parse(text(get(id))));
  const prompts = messages(state), turns = state.all(8), unsent = state.all(4).map((blob) => JSON.parse(text(blob)));
  const archives = [...state.all(11), ...state.all(13)].map((id) => messages(fields(get(id))));
  const results = shown([...archives.flat(), ...prompts]);
  const seen = { items: stepped(turns, get, results), all: false }; // it leaves out what users ran themselves
  const subagents = {};
  for (const [number, body] of [[16, (value) => value], [31, get]]) {
    for (const pair of state.all(number)) {
      const child = fields(body(fields(pair).bytes(2))).sub(1);
      subagents[fields(pair).text(1)] = conversation(child, blobs).now[0].items;
    }
  }
  const sent = { items: [...prompted(prompts, results), ...prompted(unsent, results)], all: !turns.some((id) => fields(get(id)).has(2)) };
  if (!archives.length) return { now: [...(prompts.length ? [sent] : []), ...(turns.length ? [seen] : [])], subagents, results };
  const whole = { items: prompted([...archives.flat(), ...prompts], results, false), all: false };
  return { now: [{ ...sent, all: false }], full: [whole, ...(turns.length ? [seen] : [])], subagents, results };
}

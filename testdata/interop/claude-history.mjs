// Whether a history arrived: what a source holds, against what the API heard.
//
// A source is a list of items in their order, each
//
//	{role, kind: "text" | "image" | "call", has: [text, …], result: {has, error}}
//
// drawn from it by readers that are not ours. An item has arrived if a block of
// its kind, behind that of the item before, holds each of these texts. A result
// belongs to a call, not to a place in the order: results of parallel calls
// come as they come.
import { blocksOf } from "./claude-rules.mjs";

// flat is a message list as blocks in a row, results apart by their calls.
function flat(messages) {
  const blocks = [], results = new Map();
  for (const { role, content } of messages) {
    if (role === "system") continue;
    for (const one of blocksOf(content)) {
      if (one.type === "tool_result") results.set(one.tool_use_id, one);
      else blocks.push({ role, ...one });
    }
  }
  return { blocks, results };
}

// words are all texts inside a value, as they are, not as JSON spells them.
const words = (value) => {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [String(value)];
  return Object.values(value).flatMap(words);
};
// The client puts a line end between what it joins, and cuts blanks at the ends;
// half of a surrogate pair cannot be sent.
const plain = (text) => text.toWellFormed().replaceAll("\r\n", "\n").trim();
const holds = (value, texts) => {
  const inside = words(value).map(plain).join("\n");
  return texts.every((text) => inside.includes(plain(text)));
};
const kinds = { text: "text", image: "image", call: "tool_use" };
const body = { text: (one) => one.text, image: (one) => one.source, call: (one) => [one.name, one.input] };
const cut = (item) => JSON.stringify(item).slice(0, 200);

// missing lists the items that did not arrive in their order.
export function missing(items, messages) {
  const { blocks, results } = flat(messages), lost = [];
  let from = 0;
  for (const item of items) {
    const at = blocks.findIndex((one, i) => i >= from && one.role === item.role && one.type === kinds[item.kind] && holds(body[item.kind](one), item.has));
    if (at < 0) {
      lost.push(cut(item));
      continue;
    }
    // Two texts can arrive as one block; two calls cannot.
    from = item.kind === "text" ? at : at + 1;
    if (item.kind !== "call" || !item.result) continue;
    const came = results.get(blocks[at].id);
    if (!came || !holds(came.content, item.result.has)) lost.push(`the result of ${cut(item)}: ${came ? `it is ${cut(came.content ?? "")}` : "none"}`);
    else if (item.result.error !== undefined && (came.is_error ?? false) !== item.result.error) lost.push(`whether it failed: ${cut(item)}`);
  }
  return lost;
}

// counts is what a history comes to.
export function counts(items) {
  const n = { prompts: 0, answers: 0, calls: 0, results: 0, images: 0 };
  for (const { role, kind, result } of items) {
    if (kind === "call") n.calls++;
    else if (kind === "image") n.images++;
    else n[role === "user" ? "prompts" : "answers"]++;
    if (result) n.results++;
  }
  return n;
}

// Whether a history arrived: what a source holds, against what the API heard.
//
// A source is a list of items in their order, each
//
//	{role, kind: "text" | "image" | "call", has: [text, …], whole, thinking, meta, id, asked, result: {has, error}}
//
// drawn from it by readers that are not ours. An item has arrived if a block of
// its kind, behind that of the item before, holds each of these texts; one that
// is told whole must be all that its block says. Of a call, asked counts if it is known. A result belongs to a call, not
// to a place in the order: results of parallel calls come as they come.
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

// Thinking that cannot be sent as such stands in a text, in its envelope.
const bare = (text) => plain(text).replace(/^<thinking>\n([^]*)\n<\/thinking>$/, "$1");
// An id that the API takes is kept.
const same = (item, block) => !/^[a-zA-Z0-9_-]{1,64}$/.test(item.id ?? "") || block.id === item.id;

function says(item, block) {
  if (item.kind === "call") return same(item, block) && holds(body.call(block), item.asked ?? item.has);
  if (item.whole === undefined) return holds(body[item.kind](block), item.has);
  return plain(item.thinking ? bare(block.text) : block.text) === plain(item.whole);
}

// missing lists the items that did not arrive in their order. used takes the
// blocks that are one of them, and places which block an item is.
function missing(items, { blocks, results }, used, places = new Map(), from = 0) {
  const lost = [];
  for (const item of items) {
    const at = blocks.findIndex((one, i) => i >= from && one.role === item.role && one.type === kinds[item.kind] && says(item, one));
    if (at < 0) {
      lost.push({ item, what: `not in its place: ${cut(item)}` });
      continue;
    }
    used.add(at);
    places.set(item, at);
    // Two texts of which only parts are known can arrive as one block.
    from = item.kind === "text" && item.whole === undefined ? at : at + 1;
    if (item.kind !== "call" || !item.result) continue;
    const came = results.get(blocks[at].id);
    if (!came || !holds(came.content, item.result.has)) lost.push({ item: { result: item.result }, what: `the result of ${cut(item)}: ${came ? `it is ${cut(came.content ?? "")}` : "none"}` });
    else if (item.result.error !== undefined && (came.is_error ?? false) !== item.result.error) lost.push({ item: { result: item.result }, what: `whether it failed: ${cut(item)}` });
  }
  return lost;
}

// The client's own words where a session does not end with an answer.
const fillers = ["(no content)", "No response requested."];

// surplus is what nobody said: an answer or a call that is no item, and a prompt
// that stands there once more. What else there is of a user's is context.
function surplus(items, { blocks }, used) {
  const prompts = new Set(items.filter(({ role, whole }) => role === "user" && whole).map(({ whole }) => plain(whole)));
  const strange = (one) => (one.role === "assistant" ? !(one.type === "text" && fillers.includes(one.text)) : one.type === "text" && prompts.has(plain(one.text)));
  return blocks.flatMap((one, i) => (!used.has(i) && strange(one) ? [`nobody said: ${cut(one)}`] : []));
}

// unlike is what a conversation has less, and more, than the histories that
// sources tell of it, each by itself in its order. Of more is only spoken where
// one of them tells all.
export function unlike(histories, messages) {
  const heard = flat(messages), used = new Set();
  const lost = histories.flatMap(({ items }) => missing(items, heard, used)).map(({ what }) => what);
  return histories.some(({ all }) => all) ? [...lost, ...surplus(histories.flatMap(({ items }) => items), heard, used)] : lost;
}

// lost are the items of a history that a conversation lacks. A call that is
// there without its result is an item with the result alone.
export const lost = (items, messages) => missing(items, flat(messages), new Set()).map(({ item }) => item);

// unmissed are the items that arrived and that, taken out of the conversation one at a time, would
// not be missed. A result is taken out by itself, too.
export function unmissed(items, messages) {
  const heard = flat(messages), places = new Map(), gaps = missing(items, heard, new Set(), places).length;
  const missed = (rest, item, at) => {
    const less = { ...heard, ...rest };
    // If nothing else is missing, it is enough that this item is: those after it need not be looked for.
    return (!gaps && missing([item], less, new Set(), new Map(), at).length) || missing(items, less, new Set()).length > gaps;
  };
  return [...places].flatMap(([item, at]) => {
    const { result, ...part } = item, results = new Map(heard.results);
    const left = missed({ blocks: heard.blocks.toSpliced(at, 1) }, item, at) ? [] : [part];
    return !result || !results.delete(heard.blocks[at].id) || missed({ results }, item, at) ? left : [...left, { result }];
  });
}

// counts is what a history comes to.
export function counts(items) {
  const n = { prompts: 0, answers: 0, thoughts: 0, calls: 0, results: 0, images: 0 };
  for (const { role, kind, thinking, result } of items) {
    if (kind === "call") n.calls++;
    else if (kind === "image") n.images++;
    else if (kind) n[role === "user" ? "prompts" : thinking ? "thoughts" : "answers"]++;
    if (result) n.results++;
  }
  return n;
}

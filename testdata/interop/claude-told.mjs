// What an agent of the Cursor SDK holds, as items: drawn from what the SDK's own
// reader says of it, its list of messages and the events of its runs, and from
// nothing else. The list has the turns that reached the state. A run that was broken
// off or failed and has events alone is not sent again, unless there is no turn at all.
import { deed, picture, say, thought } from "./claude-items.mjs";

// What names a call of a kind among its arguments, as the client's JSON has
// them, and what came of it that the model was shown, too.
const named = { shell: ["command"], read: ["path"], edit: ["path"], delete: ["path"], grep: ["pattern"] };
const outcomes = { shell: "stdout", read: "content" };
const filled = (list) => list.filter((text) => typeof text === "string" && text.trim());

// What the model itself was shown of a call, shown knows: no list of the client's tells it.
function called({ toolCallId: id, ...rest }, shown) {
  const key = Object.keys(rest).find((name) => name.endsWith("ToolCall"));
  if (!key) return deed({ id, result: shown.get(id) }); // a tool that the client does not know yet
  const kind = key.slice(0, -"ToolCall".length), { args = {}, result } = rest[key];
  const ended = Object.keys(result ?? {}).find((name) => result[name] !== null && typeof result[name] === "object");
  const item = deed({ id, has: filled((named[kind] ?? []).map((name) => args[name])) });
  if (ended) item.result = { has: filled([ended === "success" ? result[ended][outcomes[kind]] : undefined]), error: !["success", "async"].includes(ended) };
  item.result = shown.get(id) ?? item.result;
  return item;
}

function stepped({ userMessage, steps = [] }, shown) {
  const items = say("user", userMessage.text);
  for (const { data } of userMessage.selectedContext?.selectedImages ?? []) if (data) items.push(...picture(data));
  for (const step of steps) {
    if (step.assistantMessage) items.push(...say("assistant", step.assistantMessage.text));
    if (step.thinkingMessage) items.push(...thought(step.thinkingMessage.text));
    if (step.toolCall) items.push(called(step.toolCall, shown));
  }
  return items;
}

// streamed are the items that events tell: what comes in pieces is put together. A run that the
// client tried again tells its prompt again; what counts is the last try.
function streamed(events) {
  const items = [], calls = new Map(), tried = events.findLastIndex(({ type }) => type === "user");
  let piece, held = "";
  const flush = () => {
    if (piece) items.push(...(piece === "thinking" ? thought(held) : say("assistant", held)));
    [piece, held] = [undefined, ""];
  };
  const take = (kind, text) => {
    if (piece !== kind) flush();
    [piece, held] = [kind, held + text];
  };
  for (const said of events.slice(Math.max(tried, 0))) {
    if (said.type === "assistant") take(said.type, said.message.content.map(({ text }) => text).join(""));
    else if (said.type === "thinking") take(said.type, said.text);
    if (!["assistant", "thinking"].includes(said.type) || said.thinking_duration_ms !== undefined) flush();
    if (said.type === "user") items.push(...say("user", said.message.content.map(({ text }) => text ?? "").join("")));
    if (said.type !== "tool_call") continue;
    if (!calls.has(said.call_id)) {
      calls.set(said.call_id, deed({ id: said.call_id }));
      items.push(calls.get(said.call_id));
    }
    if (said.result) calls.get(said.call_id).result = { has: [], error: said.result.status === "error" || undefined };
  }
  flush();
  return items;
}

const join = (items) => items.filter(({ role, kind, thinking }) => role === "assistant" && kind === "text" && !thinking).map(({ whole }) => whole).join("");

// further is what events tell of a turn behind what the state has of it: so it is where a run was
// broken off. It is nothing known if they tell something else altogether, as made-up ones do.
function further(turn, events) {
  const had = join(turn), ids = new Set(turn.map(({ id }) => id)), out = [];
  let seen = "";
  for (const item of streamed(events)) {
    if (item.role === "user" || (item.kind === "call" && ids.has(item.id))) continue;
    if (item.kind === "call") out.push(item);
    else if (item.thinking) {
      if (!turn.some(({ whole }) => whole === item.whole)) out.push(item);
    } else {
      seen += item.whole;
      if (had.startsWith(seen)) continue;
      if (!seen.startsWith(had)) return;
      out.push(...say("assistant", seen.slice(Math.max(had.length, seen.length - item.whole.length))));
    }
  }
  return out;
}

// told is the history of an agent; shown is what its model was shown of calls.
export function told({ turns, runs }, shown) {
  const left = turns.map((one) => one.agentConversationTurn ?? one), items = [], sent = left.length > 0;
  let all = true;
  const commands = () => {
    while (left.length && !left[0].userMessage) {
      const { shellCommand, shellOutput } = left.shift().shellConversationTurn;
      const [command, out] = [shellCommand?.command ?? "", shellOutput?.stdout ?? ""];
      items.push(...say("user", command).map((item) => ({ ...item, ran: true })));
      // A user's own command has no call that its output could be the result of: that stands in a text, as JSON.
      if (out.trim()) items.push({ role: "user", kind: "text", has: out.match(/\w+/g) ?? [], meta: true, ran: true });
    }
  };
  for (const { status, events } of runs) {
    const asked = events.find(({ type }) => type === "user")?.message.content.map(({ text }) => text ?? "").join("");
    const next = left.find(({ userMessage }) => userMessage);
    if (asked !== undefined && next?.userMessage.text !== asked) {
      if (!sent) items.push(...streamed(events));
      continue;
    }
    if (!next) continue; // a run that never began
    commands();
    const turn = stepped(left.shift(), shown), more = further(turn, events);
    // Of a run that came to its end the state has everything; events that tell more are made up.
    const broken = status === "cancelled";
    all &&= more !== undefined && (broken || !more.length);
    items.push(...turn, ...(broken ? (more ?? []) : []));
  }
  while (left.length) {
    commands();
    if (left.length) items.push(...stepped(left.shift(), shown));
  }
  return { items, all };
}

// What the Messages API refuses for good and the client forwards all the same.
// The stand-in answers everything; these rules speak for the real service.
const fields = {
  text: ["text", "citations"], image: ["source"], document: ["source", "title", "context", "citations"],
  thinking: ["thinking", "signature"], redacted_thinking: ["data"],
  tool_use: ["id", "name", "input", "caller"], tool_result: ["tool_use_id", "content", "is_error"],
};
export const blocksOf = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []));
const plainObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function source(value) {
  if (value?.type === "url" || value?.type === "file" || value?.type === "text" || value?.type === "content") return;
  if (value?.type !== "base64" || !value.media_type) return "a source of no known kind";
  if (!value.data || !base64.test(value.data)) return "a source that is no base64";
}

// block says what is wrong with one block of a role's.
function block(role, one, ids) {
  if (!fields[one.type]) return `a block of type ${one.type}`;
  const strange = Object.keys(one).filter((name) => !["type", "cache_control", ...fields[one.type]].includes(name));
  if (strange.length) return `${one.type} with ${strange.join(", ")}`;
  switch (one.type) {
    case "text":
      return one.text?.trim() ? undefined : "an empty text";
    case "image":
    case "document":
      return source(one.source);
    case "thinking":
      return one.signature ? undefined : "thinking without a signature";
    case "tool_use":
      if (role !== "assistant") return "a call by the user";
      if (!/^[a-zA-Z0-9_-]+$/.test(one.id ?? "")) return `a call named ${JSON.stringify(one.id)}`;
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(one.name ?? "")) return `a tool named ${JSON.stringify(one.name)}`;
      if (!plainObject(one.input)) return "an input that is no object";
      if (ids.has(one.id)) return `two calls named ${one.id}`;
      ids.add(one.id);
      return;
    case "tool_result":
      if (role !== "user") return "a result by the assistant";
      if (one.content !== undefined && typeof one.content !== "string" && !Array.isArray(one.content)) return "a result that is neither text nor blocks";
      for (const part of blocksOf(one.content)) {
        if (!["text", "image", "document", "search_result", "tool_reference"].includes(part.type)) return `a result with a block of type ${part.type}`;
        const bad = ["text", "image", "document"].includes(part.type) && part.type !== "text" ? source(part.source) : undefined;
        if (bad) return bad;
      }
  }
}

// broken lists the rules that an array of messages breaks.
export function broken(messages) {
  const found = [], ids = new Set(), turns = [];
  for (const [at, { role, content }] of messages.entries()) {
    if (role === "system") continue; // the client's own
    if (!["user", "assistant"].includes(role)) found.push(`message ${at}: role ${role}`);
    const list = blocksOf(content);
    if (!list.length) found.push(`message ${at}: nothing in it`);
    for (const one of list) {
      const bad = block(role, one, ids);
      if (bad) found.push(`message ${at}: ${bad}`);
    }
    // The API takes neighbours of one role for one turn.
    if (turns.at(-1)?.role === role) turns.at(-1).list.push(...list);
    else turns.push({ role, list: [...list] });
  }
  if (turns[0]?.role !== "user") found.push("it does not begin with the user");
  if (turns.at(-1)?.role !== "user") found.push("it does not end with the user");
  const calls = (turn) => (turn?.role === "assistant" ? turn.list.filter(({ type }) => type === "tool_use").map(({ id }) => id) : []);
  const results = (turn) => (turn?.role === "user" ? turn.list.filter(({ type }) => type === "tool_result").map((one) => one.tool_use_id) : []);
  for (const [at, turn] of turns.entries()) {
    const came = results(turns[at + 1]), asked = calls(turns[at - 1]), here = results(turn);
    for (const id of calls(turn)) if (!came.includes(id)) found.push(`the call ${id} is not answered`);
    for (const id of here) if (!asked.includes(id)) found.push(`the result ${id} answers nothing`);
    if (new Set(here).size !== here.length) found.push("a call is answered twice");
    const first = turn.list.findIndex(({ type }) => type !== "tool_result");
    if (here.length && first >= 0 && turn.list.slice(first).some(({ type }) => type === "tool_result")) found.push("a result behind other things");
  }
  return found;
}

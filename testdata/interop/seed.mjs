// Made-up agents, the same for the same seed, and put into a store through the
// client's own public calls. Each seed meets another mix of what a store can
// hold: every status, absent and present optionals, hard text, big payloads,
// agents without runs, runs without events.
import { createHash } from "node:crypto";
import { sha256, message, saying, shellArgs, shellCall, shellDone, state, thinking, todo, toolStep, turn, userMessage } from "./wire.mjs";

const hard = [
  "plain", "módulo", "テスト", "файл", "مرحبا", "𝒳", "emoji 👩‍👩‍👧‍👦", "tab\there", "two\nlines", "crlf\r\n", "quote\" and \\",
  "separators \u2028\u2029", "control \u0001\u001f\u007f", "\ufeffmark", "</user_query>", "<b>&amp;</b>", "%00 ' -- ;",
];
// Only inside JSON: the client itself reads a column up to its first NUL, and
// SQLite text cannot hold half a surrogate pair.
const harder = [...hard, "nul \u0000 byte", "half \ud83d pair", "other half \udc00"];
const numbers = [0, -0, -1, 1.5, 1e21, 1e-7, 2 ** 53 - 1, 2 ** 53 + 2, 5e-324, 1.7976931348623157e308];

function chance(seed) {
  let state = (seed * 0x9e3779b1) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n) => Math.floor(next() * n);
  const of = (list) => list[below(list.length)];
  const words = (list, n) => Array.from({ length: n }, () => of(list)).join(" ");
  const tree = (depth) => {
    if (depth === 0) return of([null, true, false, "", of(harder), of(numbers), [], {}]);
    return below(2) ? [tree(depth - 1), tree(0)] : { k: tree(depth - 1), "ключ": tree(0), "": tree(0), z: 1, a: [tree(0)] };
  };
  return { below, of, words, tree };
}

const hex = (label) => createHash("sha256").update(label).digest("hex");
const uuid = (label) => hex(label).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-8$4-$5");

function conversation(rnd, prompts) {
  const blobs = new Map();
  const put = (bytes) => {
    const id = sha256(bytes);
    blobs.set(id.toString("hex"), Buffer.from(bytes));
    return id;
  };
  const json = (value) => put(JSON.stringify(value));
  const history = [json({ role: "system", content: "You are made up." })];
  const turns = [];
  const roots = prompts.map(({ text, answer, request }, i) => {
    const call = `toolu_${hex(request).slice(0, 20)}`;
    history.push(json({ role: "user", content: [{ type: "text", text: `<user_query>\n${text}\n</user_query>` }] }));
    history.push(json({ role: "assistant", id: "1", content: [{ type: "reasoning", text: "réfléchir", signature: "c2ln" }, { type: "text", text: answer }] }));
    if (i === 0) history.push(json({ role: "assistant", id: "1", content: rnd.words(harder, 2000) }));
    const args = shellArgs("echo hi", call);
    const steps = [thinking("réfléchir"), saying(answer), toolStep(shellCall(args, shellDone("echo hi", "hi\n"), call))].map(put);
    turns.push(put(turn(put(userMessage(text, uuid(request))), steps, request)));
    // The client skips a turn of another kind; the bytes must travel all the same.
    if (i === 1) turns.push(put(message([2, [[1, put(message([1, "ls"]))], [2, put(message([1, "total 0\n"], [3, 1]))]]])));
    return put(state({ prompts: history, turns, todos: [put(todo("t1", rnd.of(hard), 1 + (i % 4)))] })).toString("hex");
  });
  return { blobs, roots };
}

function events(rnd, agentId, runId, { text, request }, status, count) {
  const stamp = ({ type, ...rest }) => ({ type, agent_id: agentId, run_id: runId, ...rest });
  const tool = (i) => {
    const head = { type: "tool_call", call_id: `toolu_${hex(`${runId}/${i}`).slice(0, 20)}`, name: rnd.of(["shell", "read", "edit", "mcp", "updateTodos"]) };
    const args = { command: rnd.words(harder, 2), nested: rnd.tree(4) };
    const good = { status: "success", value: { stdout: rnd.words(harder, i % 5 ? 4 : 3000), exitCode: 0 } };
    const bad = { status: "error", error: { message: rnd.of(harder) } };
    return [{ ...head, status: "running", args: {} }, { ...head, status: "running", args }, { ...head, status: "completed", args, result: rnd.below(4) ? good : bad }];
  };
  const list = [{ type: "request", request_id: request }, { type: "status", status: "RUNNING" }, { type: "user", message: { role: "user", content: [{ type: "text", text }] } }];
  for (let i = 0; list.length < count; i++) {
    list.push({ type: "thinking", text: rnd.of(harder) }, { type: "assistant", message: { role: "assistant", content: [{ type: "text", text: rnd.words(harder, 3) }] } }, ...tool(i));
  }
  list.push({ type: "usage", usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 5, cacheWriteTokens: 0, totalTokens: 125 } });
  if (status !== "running") list.push({ type: "status", status: status.toUpperCase(), ...(status === "error" ? { message: "böom" } : {}) });
  return list.map(stamp);
}

const ids = [(u) => `agent-${u}`, (u) => `agent-${u}`, (u) => u, (u) => `my/agent %2F ${u.slice(0, 8)} é`];
const endings = ["finished", "running", "cancelled", "error", "expired", "queued"];

function made(seed, a, workspace) {
  const rnd = chance(seed * 100 + a);
  const name = `${seed}/${a}`;
  const agentId = ids[(seed + a) % ids.length](uuid(`agent ${name}`));
  const start = Date.UTC(2026, 5, 4, 10 + a) + seed;
  const count = a === 4 ? 0 : 1 + ((seed + a) % 3);
  const prompts = Array.from({ length: count }, (_, r) => ({
    text: `${rnd.words(harder.slice(0, -2), 4)} #${name}.${r}`, answer: `${rnd.words(hard, 3)} ✓`, request: uuid(`request ${name}.${r}`),
  }));
  const talk = conversation(rnd, prompts);
  const ref = (i) => (i < 0 ? null : { schemaVersion: 1, rootBlobId: talk.roots[i] });
  const runs = prompts.map((prompt, r) => {
    const status = r < count - 1 ? "finished" : endings[(seed + a) % endings.length];
    const runId = `run-${uuid(`run ${name}.${r}`)}`;
    const created = start + r * 60_000;
    const ended = ["running", "queued"].includes(status) ? null : created + 5000;
    return {
      doc: {
        runId, requestId: r % 4 === 3 ? null : prompt.request, agentId, turnNumber: r + 1, status,
        model: rnd.of([null, { id: "m" }, { id: "m", params: [{ id: "effort", value: "high" }, { id: "ünï", value: "" }] }]),
        result: status === "finished" ? prompt.answer : null, error: status === "error" ? rnd.of(hard) : null, usageRef: null,
        usage: ended && rnd.below(2) ? { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, totalTokens: 3, reasoningTokens: 0 } : null,
        createdAt: created, updatedAt: ended ?? created + 10, startedAt: status === "queued" ? null : created + 5, endedAt: ended,
        startCheckpointRef: ref(r - 1), latestCheckpointRef: status === "queued" ? ref(r - 1) : ref(r),
      },
      events: status === "queued" ? [] : events(rnd, agentId, runId, prompt, status, 4 + rnd.below(10)),
    };
  });
  const last = runs.at(-1)?.doc;
  const busy = last && ["running", "queued"].includes(last.status);
  const agent = {
    agentId, cwd: workspace, status: a === 3 ? "archived" : { running: "running", error: "error" }[last?.status] ?? "idle", activeRunId: busy ? last.runId : null,
    name: a === 2 ? null : `Agent ${name} ${rnd.of(hard)}`, createdAt: start, updatedAt: last?.updatedAt ?? start,
    sdkMetadata: { blobEncryptionKey: hex(`key ${name}`), ...(a % 2 ? { initialMode: "plan", custom: rnd.tree(3) } : {}) },
    latestCheckpoint: last?.latestCheckpointRef ?? null,
  };
  return { agent, runs, blobs: talk.blobs };
}

// fill writes a seed's agents in the order a live client would: agent, blobs,
// run, events, the run's end, the agent's end.
export async function fill(store, seed, workspace, setClock) {
  for (let a = 0; a < 5; a++) {
    const { agent, runs, blobs } = made(seed, a, workspace);
    const { agentId } = agent;
    setClock(agent.createdAt);
    await store.agents.create({ agent: { ...agent, activeRunId: null, latestCheckpoint: null, status: "idle", updatedAt: agent.createdAt } });
    for (const [blobId, data] of blobs) await store.checkpoints.create({ agentId, blobId, data: new Uint8Array(data) });
    for (const { doc, events: list } of runs) {
      const fresh = { status: "queued", result: null, error: null, usage: null, startedAt: null, endedAt: null, updatedAt: doc.createdAt, latestCheckpointRef: doc.startCheckpointRef };
      await store.runs.create({ run: { ...doc, ...fresh } });
      for (const [i, said] of list.entries()) {
        setClock(doc.createdAt + 10 + i * 3);
        const payload = { schemaVersion: 1, type: "sdk_message", agentId, runId: doc.runId, message: said };
        await store.runEvents.append({ runId: doc.runId, eventType: "run_stream_event", payload, ...(i % 5 === 4 ? { idempotencyKey: `once-${i}` } : {}) });
      }
      await store.runs.update({ run: doc });
    }
    await store.agents.update({ agent });
  }
}

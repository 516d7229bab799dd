// Sessions of all clients as Parquet tables: DuckDB reads in them what the lines of
// canonical text hold, which these checks read by themselves.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { samples } from "./claude-stores.mjs";
import { check, files, fresh, root, run, same, scratch, stores } from "./tools.mjs";

const here = path.dirname(fileURLToPath(import.meta.url)), testdata = path.join(root, "testdata");
const fleet = path.join(scratch, "rehome-fleet");

// build makes rehome-fleet; REHOME_INTEROP_FLEET is one to check instead of it.
function build() {
  const given = process.env.REHOME_INTEROP_FLEET;
  if (given) fs.copyFileSync(given, fleet);
  else run("go build", "go", ["build", "-trimpath", "-o", fleet, "./cmd/rehome-fleet"], { cwd: root, timeout: 600_000, env: { ...process.env, CGO_ENABLED: "0" } });
}

const tables = (source, flags = []) => {
  const target = fresh("tables");
  const report = JSON.parse(run("rehome-fleet parquet", fleet, ["parquet", source, target, "--json", "--machine", "machine 1", ...flags], { cwd: scratch, env: { ...process.env, HOME: scratch } }));
  return { target, report };
};
const ask = (queries) => JSON.parse(run("DuckDB", process.execPath, ["--no-warnings", path.join(here, "parquet-client.mjs"), JSON.stringify(queries)], { cwd: scratch }));
const table = (at, name) => `read_parquet('${path.join(at, name)}.parquet')`;

const bytes = (text) => Buffer.byteLength(text ?? "");
// What a string of Parquet can hold.
const utf8 = (text) => (text === undefined || text === "" ? null : text.toWellFormed());
const millis = (stamp) => {
  if (stamp === undefined) return null;
  const at = Date.parse(stamp.replace(/^~/, ""));
  return Number.isNaN(at) || stamp.replace(/^~/, "").startsWith("0000") ? null : at;
};
// JSON in a text has other escapes once it was parsed and written again.
const plain = (text) => text?.replaceAll(/\\u([0-9a-fA-F]{4})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16))) ?? null;
const joined = (parts, type, of = (part) => part.text) => {
  const texts = parts.filter((part) => part.type === type).map(of).filter(Boolean);
  return { text: utf8(texts.join("\n\n")), size: texts.reduce((sum, text) => sum + bytes(text), 0) };
};

// expected are the rows that the lines of a folder of canonical text stand for.
function expected(at) {
  const out = { sessions: [], turns: [], messages: [], tool_calls: [], tool_results: [] };
  for (const file of Object.keys(files(at)).filter((name) => name.endsWith(".jsonl"))) {
    const lines = fs.readFileSync(path.join(at, file), "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
    const [head] = lines.splice(0, 1), session = head.id, waiting = new Map(), calls = [];
    const sum = { session, agent: head.agent, title: utf8(head.title), workspace: utf8(head.workspace), created: millis(head.created), model: utf8(head.model), parent: head.parent?.session ?? null, turns: 0, messages: 0, tool_calls: 0, input: null, output: null, files: 0 };
    let turn = null, branch = "";
    for (const line of lines) {
      if (line.type === "file") {
        sum.files++;
        continue;
      }
      const seq = sum.messages++, parts = line.parts ?? [];
      if (line.turn || (line.branch ?? "") !== branch) turn = null;
      branch = line.branch ?? "";
      if (line.turn) {
        const { usage = {}, ...of } = line.turn;
        turn = { session, turn: of.number, id: utf8(of.id), model: utf8(of.model), status: utf8(of.status), started: millis(of.start), ended: millis(of.end), input: usage.input ?? null, output: usage.output ?? null, messages: 0, tool_calls: 0 };
        turn.duration = turn.started !== null && turn.ended !== null && turn.ended >= turn.started ? turn.ended - turn.started : null;
        out.turns.push(turn);
        sum.turns++;
        if (turn.input !== null) sum.input += turn.input;
        if (turn.output !== null) sum.output += turn.output;
      }
      if (turn) turn.messages++;
      const text = joined(parts, "text"), thinking = joined(parts, "thinking"), context = joined(parts, "context", (part) => part.text || (part.data === undefined ? "" : JSON.stringify(part.data)));
      out.messages.push({ session, seq, turn: turn?.turn ?? null, id: line.id, role: line.role, model: utf8(line.model), sent: millis(line.at), address: line.origin?.[0] ?? null, parts: parts.map((part) => part.type), text: text.text, text_bytes: text.size, thinking: thinking.text, context: plain(context.text) });
      for (const [part, one] of parts.entries()) {
        if (one.type === "tool_call") {
          const call = { session, seq, part, call: utf8(one.id), name: utf8(one.name), kind: utf8(one.kind), args: one.args ?? one.input ?? null, answered: false, status: null, error: null, result_bytes: null };
          calls.push(call);
          waiting.set(one.id, [...(waiting.get(one.id) ?? []), call]);
          sum.tool_calls++;
          if (turn) turn.tool_calls++;
        } else if (one.type === "tool_result") {
          const { text, size } = joined(one.content ?? [], "text"), call = waiting.get(one.call)?.shift();
          if (call) Object.assign(call, { answered: true, status: utf8(one.status), error: one.error ?? false, result_bytes: size });
          out.tool_results.push({ session, seq, part, call: utf8(one.call), status: utf8(one.status), error: one.error ?? false, text, value: one.value ?? null });
        }
      }
    }
    out.tool_calls.push(...calls);
    out.sessions.push(sum);
  }
  return out;
}

// got are the rows that DuckDB reads, in the names of expected.
function got(at) {
  const [sessions, turns, messages, tool_calls, tool_results] = ask([
    `SELECT session_id AS session, agent, title, workspace, epoch_ms(created_at) AS created, model, parent_session AS parent, turns, messages, tool_calls, input_tokens AS input, output_tokens AS output, file_snapshots AS files FROM ${table(at, "sessions")}`,
    `SELECT session_id AS session, turn, turn_id AS id, model, status, epoch_ms(started_at) AS started, epoch_ms(ended_at) AS ended, input_tokens AS input, output_tokens AS output, messages, tool_calls, duration_ms AS duration FROM ${table(at, "turns")}`,
    `SELECT session_id AS session, seq, turn, message_id AS id, role, model, epoch_ms(sent_at) AS sent, address, parts, text, text_bytes, thinking, context FROM ${table(at, "messages")}`,
    `SELECT session_id AS session, seq, part, call_id AS call, name, kind, args, answered, status, error, result_bytes FROM ${table(at, "tool_calls")}`,
    `SELECT session_id AS session, seq, part, call_id AS call, status, error, text, value FROM ${table(at, "tool_results")}`,
  ]);
  const number = (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, numbers.has(name) && value !== null ? Number(value) : value]));
  const json = (row, name) => ({ ...row, [name]: row[name] === null ? null : JSON.parse(row[name]) });
  return {
    sessions: sessions.map(number), turns: turns.map(number),
    messages: messages.map((row) => ({ ...number(row), context: plain(row.context) })), tool_calls: tool_calls.map((row) => json(number(row), "args")), tool_results: tool_results.map((row) => json(number(row), "value")),
  };
}
const numbers = new Set(["created", "turns", "messages", "tool_calls", "input", "output", "files", "turn", "started", "ended", "duration", "seq", "sent", "text_bytes", "part", "result_bytes"]);

// Subagents of several stores can have ids in common.
const sorted = (rows) => rows.map((row) => [JSON.stringify([row.session, row.seq ?? row.turn ?? 0, row.part ?? 0]), JSON.stringify(row), row]).sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] < b[1] ? -1 : 1)).map(([, , row]) => row);

// read checks the tables of one source.
function read(what, source) {
  check(`${what} as tables, read by DuckDB`, () => {
    const { target, report } = tables(source), text = fresh("text");
    run("rehome", fleet, ["convert", source, text, "--to", "canonical", "--allow", "unreadable", "--json"], { cwd: scratch, env: { ...process.env, HOME: scratch } });
    const want = expected(text), have = got(target), counts = {};
    for (const [name, rows] of Object.entries(want)) {
      same(have[name].length, rows.length, `rows of ${name}`);
      same(sorted(have[name]), sorted(rows), name);
      counts[name] = rows.length;
    }
    const [lost, codecs, order] = ask([
      `SELECT sum(count)::BIGINT AS n FROM ${table(target, "losses")}`,
      `SELECT DISTINCT compression FROM parquet_metadata('${target}/*.parquet')`,
      `SELECT count(*) AS n FROM (SELECT session_id < lag(session_id) OVER () AS back FROM ${table(target, "messages")}) WHERE back`,
    ]);
    same(Number(lost[0].n ?? 0), report.losses.reduce((sum, one) => sum + one.count, 0), "losses");
    same(codecs, [{ compression: "ZSTD" }], "compression");
    same(Number(order[0].n), 0, "sessions out of order");
    same(Object.fromEntries(report.tables.map((one) => [one.table, one.rows])), { ...counts, losses: Number(ask([`SELECT count(*) AS n FROM ${table(target, "losses")}`])[0][0].n) }, "report");
    return Object.entries(counts).map(([name, n]) => `${n} ${name}`).join(", ");
  });
}

// numbersOnly checks that --no-text leaves nothing of what was said.
function numbersOnly(what, source) {
  check(`${what} as tables without text`, () => {
    const [full, bare] = [tables(source), tables(source, ["--no-text"])].map(({ target }) => target);
    const columns = { sessions: ["title", "workspace", "git_branch", "store", "address"], turns: ["error"], messages: ["text", "thinking", "context", "summary"], tool_calls: ["args", "input"], tool_results: ["text", "value"], losses: ["what", "address"] };
    let gone = 0;
    for (const [name, list] of Object.entries(columns)) {
      const counted = list.map((column) => `count(${column})`).join(" + ");
      const [[was], [is]] = ask([`SELECT ${counted} AS n, count(*) AS rows FROM ${table(full, name)}`, `SELECT ${counted} AS n, count(*) AS rows FROM ${table(bare, name)}`]);
      same(Number(is.n), 0, name);
      same(is.rows, was.rows, `rows of ${name}`);
      gone += Number(was.n);
    }
    if (gone === 0) throw new Error("there was no text");
    return `${gone} values are NULL`;
  });
}

// parquet is the part.
export function parquet() {
  build();
  for (const name of ["chat/after.db", "claude/config", "codex/home", "stream", "transcript/projects", "sdk", "canonical"]) read(`testdata/${name}`, path.join(testdata, name));
  numbersOnly("testdata/claude/config", path.join(testdata, "claude/config"));
  for (const { at, kind } of samples().filter(({ kind }) => kind === "ide")) read(`testdata, ${kind}`, at);
  for (const { at, kind } of stores(2)) read(`generated ${kind}`, at);
}

// How many of how many parts of a source reached the model of the next client, and what rehome
// reported as unseen by it: docs/survival.md.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { counts, lost, unmissed } from "./claude-history.mjs";
import { check, children, failures, folder, root, scratch } from "./tools.mjs";

const parts = { prompts: "prompts", answers: "answers", thoughts: "thinking", calls: "calls", results: "results", images: "images" };
const formats = {
  chat: "cursor-chat", sdk: "cursor-sdk", lines: "cursor-ndjson", ide: "cursor-ide", stream: "stream-json", transcript: "cursor-transcript", text: "cursor-transcript (text)", claude: "claude-code", codex: "codex", pi: "pi", copilot: "copilot", opencode: "opencode", gemini: "gemini",
  "sdk by canonical": "canonical (of cursor-sdk)", "lines by canonical": "canonical (of cursor-ndjson)", "chat by canonical": "canonical (of cursor-chat)",
};

const zero = () => ({ sessions: 0, of: counts([]), less: counts([]), blind: counts([]) });
const edges = new Map(), clients = new Map(), unseen = new Map();
const entry = (map, key, make) => map.get(key) ?? map.set(key, make()).get(key);
const all = (n) => Object.keys(parts).reduce((sum, part) => sum + n[part], 0);

// survived enters a session, and what was sent to the model of a client that resumed it: nothing if
// it could not be resumed.
export function survived(source, target, client, items, messages = []) {
  const told = { of: counts(items), less: counts(lost(items, messages)), blind: counts(unmissed(items, messages)) };
  for (const sum of [entry(edges, `${formats[source]}\n${target}`, zero), entry(clients, client, zero)]) {
    sum.sessions++;
    for (const [name, n] of Object.entries(told)) for (const part of Object.keys(parts)) sum[name][part] += n[part];
  }
}

// reported enters what rehome reported of a conversion.
export function reported(source, target, losses) {
  for (const { code, consequence, count } of losses) {
    if (consequence === "unseen") entry(unseen, code, () => []).push({ source: formats[source], target, count });
  }
}

const total = () => [...clients.values()].reduce((sum, { sessions, of, less, blind }) => ({ sessions: sum.sessions + sessions, of: sum.of + all(of), less: sum.less + all(less), blind: sum.blind + all(blind) }), { sessions: 0, of: 0, less: 0, blind: 0 });

// sensitive shows that the count can fail: of each conversation, one part after the other is taken out.
export function sensitive() {
  check("what survives: each part that arrived, taken out", () => {
    const { of, less, blind } = total();
    if (blind) throw new Error(`${blind} of ${of - less} would not be missed: ${JSON.stringify([...edges].filter(([, edge]) => all(edge.blind)).map(([edge, sums]) => [edge, sums.blind]))}`);
    return `${of - less} of ${of - less} would be missed`;
  });
}

const number = (n) => n.toLocaleString("en-US");
// Cut, not rounded: one part of a million that is missing is not 100 %.
const percent = (n, of) => `${(Math.floor((n / of) * 100_000) / 1000).toFixed(3)} %`;
const cell = (of, less) => (of ? (less ? `${number(of - less)} of ${number(of)}` : number(of)) : "-");
const table = (head, rows) => [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
const sums = ({ sessions, of, less }) => [number(sessions), ...Object.keys(parts).map((part) => cell(of[part], less[part])), percent(all(of) - all(less), all(of))];
const sorted = (map) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

// described is what docs/losses.md says of a code.
function described(code) {
  const line = fs.readFileSync(path.join(root, "docs", "losses.md"), "utf8").split("\n").find((one) => one.startsWith(`| ${code} |`));
  return line.split(" | ")[3];
}

function page(failed) {
  const { sessions, of, less, blind } = total(), head = ["sessions", ...Object.values(parts), "arrived"];
  const names = (list, part) => [...new Set(list.map((one) => one[part]))].sort().join(", ");
  return `# What survives

**${percent(of - less, of)}: ${number(of - less)} of ${number(of)} parts reached the model of the next client.**

\`make survival\` writes this page. It converts sessions, lets the real clients resume them, ${number(sessions)} times in all, and looks at
what they send to their model. Programs that share no code with rehome read the sources: all samples in \`testdata\`, sessions
that the clients wrote in this run, and generated ones.
${failed ? `\nChecks that failed in this run: ${failed}.\n` : ""}
A part has arrived if it is in its place in the order, and

- a prompt, an answer or thinking has the same text, as a whole; of a source that has only pieces of it, each piece is there
- a call has the same id, if the client accepts it, and each text and number of the arguments that the model gave, but for those
  that L223 reports; of a source that tells no arguments of the model's, the same command, path or pattern
- a result belongs to its call, has the same text (if it is long: the first and the last 1,000 characters), and failed or not as before
- an image has the same bytes.

Could it say anything else? Each part that arrived was then taken out of what the client sent, one at a time: ${number(of - less - blind)} of
${number(of - less)} were missed. [The tests with the real clients](../testdata/interop/README.md) do the same with files, and say more.

## From format to format

A number alone means: all of them.

${table(["from", "to", ...head], sorted(edges).map(([key, edge]) => [...key.split("\n").map((one) => `**${one}**`), ...sums(edge)]))}

Each session counts once for each version of a client that resumes it. For the SDK, rehome writes it in two of three
formats, one for each version; Claude Code resumes a session with a summary twice, with the summary and with
\`--compacted\`. The SDK resumes a \`cursor-chat\` in one of its own stores, because the CLI keeps the same blobs there.
From a format with the same kind of records, which would convert exactly, a session goes through canonical text.

## Client by client

${table(["resumed by", ...head], sorted(clients).map(([name, sum]) => [name, ...sums(sum)]))}

## What is not counted

What no client is sent, or no source tells: damaged images, the parts before a summary unless they are sent again, commands that
users ran themselves in Cursor, which its model is not sent either, and context that the client adds. Images in results are
reported where they do not arrive.

For these conversions rehome reported the following losses that the model does not see. ${less ? "What is missing above is among them, or a defect." : "None of them is a part that is counted above."}

${table(["code", "loss", "from", "to", "times"], sorted(unseen).map(([code, list]) => [`[${code}](losses.md)`, described(code), names(list, "source"), names(list, "target"), number(list.reduce((n, { count }) => n + count, 0))]))}
`;
}

// save writes what this process counted; load adds it to what another did.
export const save = (file) => fs.writeFileSync(file, JSON.stringify({ edges: [...edges], clients: [...clients], unseen: [...unseen], failed: failures() }));

function load(file) {
  const saved = JSON.parse(fs.readFileSync(file, "utf8"));
  for (const [map, list] of [[edges, saved.edges], [clients, saved.clients]]) {
    for (const [key, { sessions, ...rest }] of list) {
      const sum = entry(map, key, zero);
      sum.sessions += sessions;
      for (const [name, n] of Object.entries(rest)) for (const part of Object.keys(parts)) sum[name][part] += n[part];
    }
  }
  for (const [code, list] of saved.unseen) entry(unseen, code, () => []).push(...list);
  return saved.failed;
}

// publish counts in processes of their own, writes the page, and gives the exit status.
export async function publish(command) {
  const at = folder("counted"), list = ["claude", "samples", "generated"].map((part) => ({ part, out: path.join(at, part) }));
  const run = ({ part, out }) => new Promise((done) => { spawn(process.execPath, ["--no-warnings", ...command(part, out)], { env: children, stdio: "inherit" }).on("exit", done); });
  const ends = await Promise.all(list.map(run));
  if (list.every(({ out }) => fs.existsSync(out))) {
    const failed = list.map(({ out }) => load(out)).reduce((sum, n) => sum + n);
    fs.writeFileSync(path.join(root, "docs", "survival.md"), page(failed));
  }
  fs.rmSync(scratch, { recursive: true });
  return ends.every((end) => end === 0) ? 0 : 1;
}

// How many of how many parts of a source reached the model of the next client.
// REHOME_INTEROP_SURVIVAL names the page that is written at the end.
import fs from "node:fs";
import { counts, lost } from "./claude-history.mjs";

const edges = new Map();
const sources = {
  chat: "Cursor CLI (`cursor-chat`)", sdk: "Cursor SDK (`cursor-sdk`)", lines: "Cursor SDK (`cursor-ndjson`)", ide: "Cursor IDE (`cursor-ide`)", stream: "`stream-json`",
  transcript: "`cursor-transcript`, lines", text: "`cursor-transcript`, text", claude: "Claude Code (`claude-code`)", codex: "Codex (`codex`)",
  "sdk by canonical": "`canonical`, of `cursor-sdk`", "lines by canonical": "`canonical`, of `cursor-ndjson`", "chat by canonical": "`canonical`, of `cursor-chat`",
};
const parts = { prompts: "prompts", answers: "answers", thoughts: "thinking", calls: "calls", results: "results", images: "images" };

// survived enters a session that the model of a client was sent.
export function survived(source, client, items, messages) {
  const key = JSON.stringify([sources[source] ?? source, client]), edge = edges.get(key) ?? edges.set(key, { sessions: 0, of: counts([]), less: counts([]) }).get(key);
  const of = counts(items), less = counts(lost(items, messages));
  edge.sessions++;
  for (const part of Object.keys(parts)) {
    edge.of[part] += of[part];
    edge.less[part] += less[part];
  }
}

const number = (n) => n.toLocaleString("en-US");
const cell = (of, less) => (of ? `${number(of - less)} of ${number(of)}` : "-");

// page is the table as Markdown.
export function page() {
  const rows = [...edges].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, { sessions, of, less }]) => [...JSON.parse(key), number(sessions), ...Object.keys(parts).map((part) => cell(of[part], less[part]))]);
  const total = Object.keys(parts).flatMap((part) => [...edges.values()].map(({ of, less }) => [of[part], less[part]])).reduce(([n, m], [of, less]) => [n + of, m + less], [0, 0]);
  const head = ["source", "resumed by", "sessions", ...Object.values(parts)], line = (list) => `| ${list.join(" | ")} |`;
  return `# What survives

\`make proof\` writes this page. It converts sessions to another client, lets the real client resume each of them, and
counts the parts that reach the client's model: in the right order, with the text that the source has. Programs that share
no code with rehome read the sources. [The tests with the real clients](../testdata/interop/README.md) say how.

${number(total[0] - total[1])} of ${number(total[0])} parts arrived.

${[head, head.map(() => "---"), ...rows].map(line).join("\n")}

A session that both versions of a client resumed counts for each. If a source has a summary, the parts before it count
only where they are sent again.
`;
}

export function publish() {
  if (process.env.REHOME_INTEROP_SURVIVAL) fs.writeFileSync(process.env.REHOME_INTEROP_SURVIVAL, page());
}

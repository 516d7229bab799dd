// Chromium opens pages of `rehome show --format html`, made from sessions whose
// every field is hostile, and says what they did. axe-core reads pages of real
// sessions.
import fs from "node:fs";
import path from "node:path";
import { built } from "./claude-stores.mjs";
import { acted, misread } from "./page-faults.mjs";
import { check, folder, fresh, once, rehome, root, run, same, shown } from "./tools.mjs";

const here = path.join(root, "testdata", "interop"), data = path.join(root, "testdata", "page");
const unpacked = once(() => folder("chromium"));
let version;

// browse opens pages in one browser.
function browse(pages) {
  const file = `${fresh("pages")}.json`, out = `${fresh("found")}.json`;
  fs.writeFileSync(file, JSON.stringify({ out, pages }));
  run("Chromium", process.execPath, ["--no-warnings", path.join(here, "page-browser.mjs"), file], { timeout: 1_200_000, env: { ...process.env, TMPDIR: unpacked(), HOME: unpacked() } });
  const { results, version: found } = JSON.parse(fs.readFileSync(out, "utf8"));
  version = found;
  return results;
}

// page is what rehome makes of a session.
function page(source, flags = ["--yes", "--full"]) {
  const file = `${fresh("page")}.html`;
  shown([source, "--format", "html", "--out", file, ...flags]);
  return file;
}
const everything = ["--yes", "--full", "--all", "--thinking", "--history", "--tools", "full"];

const vectors = JSON.parse(fs.readFileSync(path.join(data, "vectors.json"), "utf8")).map(({ name, text, repeat = 1, then = "", large }) => ({ name, large, text: text.repeat(repeat) + then }));
const template = fs.readFileSync(path.join(data, "session.jsonl"), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const small = vectors.filter(({ large }) => !large);

// Fields whose words only are compared, because they are Markdown or lines of a diff; fields
// that no page shows; and those that get giants.
const reading = {
  loose: ["prompt", "answer", "thinking", "plan", "summary", "subprompt", "subanswer", "abandoned", "taskprompt", "taskresult", "old", "new", "before", "after", "context"],
  hidden: ["parentcall", "parenttitle", "parentstatus", "repo", "repobranch", "todostatus", "childtitle", "childkind", "childstatus", "childid", "extraname", "extrakey", "extra", "messageid", "turnid", "request",
    "datakey", "data", "messagemodel", "toolname", "callid", "opaquekey", "opaque", "exitcode", "resultpath", "root", "record", "savedbefore", "savedafter", "sublink", "subkind"],
};
const wide = ["title", "prompt", "answer", "command", "stdout", "new"];

const filled = (text, value, fields) => text.replace(/\{\{(block )?(\w+)\}\}/g, (_, block, field) => {
  fields.add(field);
  const [before, after] = block ? ["\n\n", "\n\n"] : [" ", " "];
  return `${field}Begins${before}${value(field)}${after}${field}Ends`;
});
function fill(node, value, fields) {
  if (typeof node === "string") return filled(node, value, fields);
  if (Array.isArray(node)) return node.map((one) => fill(one, value, fields));
  if (node === null || typeof node !== "object") return node;
  return Object.fromEntries(Object.entries(node).map(([name, one]) => [filled(name, value, fields), fill(one, value, fields)]));
}

// session is the template with a text in each field, or in some.
function session(text, only) {
  const file = `${fresh("session")}.jsonl`, fields = new Set();
  fs.writeFileSync(file, template.map((line) => `${JSON.stringify(fill(line, (field) => (!only || only.includes(field) ? text : "plain words"), fields))}\n`).join(""));
  return { file, fields: [...fields].filter((field) => !only || only.includes(field)) };
}

const list = (faults) => {
  const all = Object.entries(faults).filter(([, found]) => found.length);
  if (all.length) throw new Error(`${all.length} pages: ${all.slice(0, 12).map(([name, found]) => `\n        ${name}: ${found.length}: ${found.slice(0, 6).join("\n          ")}`).join("")}`);
};
const titled = (text) => (text.length > 300 ? "titleBegins" : `titleBegins ${text} titleEnds`);

function injected() {
  const pages = once(() => vectors.map(({ name, text, large }) => {
    const { file, fields } = session(text, large && wide);
    return { name, text, fields, large, file: page(file, large ? ["--yes"] : everything) };
  }));
  for (const bypass of [false, true]) {
    check(`Page, ${vectors.length} texts in every field${bypass ? ", without the policy" : ""}`, () => {
      const results = browse(pages().map(({ file }) => ({ file, bypass })));
      list(Object.fromEntries(results.map((facts, i) => {
        const { name, text, fields, large } = pages()[i];
        const read = large || bypass ? [] : misread(facts, fields, text, reading);
        return [name, [...acted(facts, large ? undefined : titled(text)), ...read]];
      })));
      return `${version}: nothing ran, moved or was asked for; ${pages()[0].fields.length - reading.hidden.length} fields read as written`;
    });
  }
  check("Page, the policy alone", () => {
    const made = fs.readFileSync(page(session("plain words").file, everything), "utf8");
    const files = vectors.filter(({ large }) => !large).map(({ text }) => {
      const file = `${fresh("raw")}.html`;
      fs.writeFileSync(file, made.replace("</main>", () => `${text}</main>`));
      return { file };
    });
    const found = browse(files).map((facts) => [...facts.dialogs.map((text) => `dialog: ${text}`), ...facts.hosts.filter(() => facts.moves.length < 2).map((host) => `request: ${host}`), ...(facts.marked === undefined ? [] : ["marker"])]);
    list(Object.fromEntries(found.map((faults, i) => [small[i].name, faults])));
    return `${small.length} texts as markup: no script ran, nothing was loaded`;
  });
}

// A conversation of which each turn has another of the texts, as a canonical session
// and as a capture of the Cursor CLI's output.
const spoken = small.map(({ text }, i) => ({ prompt: `prompt${i}Begins\n\n${text}\n\nprompt${i}Ends`, answer: `answer${i}Begins\n\n${text}\n\nanswer${i}Ends`, command: `command${i}Begins ${text} command${i}Ends`, stdout: `stdout${i}Begins ${text} stdout${i}Ends` }));
const canonical = () => [{ type: "session", version: 1, id: "0a1b", agent: "cursor-cli", title: small[0].text, workspace: "/home/ann/app" }, ...spoken.flatMap(({ prompt, answer, command, stdout }, i) => [
  { type: "message", id: `u${i}`, role: "user", turn: { number: i + 1 }, parts: [{ type: "text", text: prompt }] },
  { type: "message", id: `a${i}`, role: "assistant", parts: [{ type: "text", text: answer }, { type: "tool_call", id: `c${i}`, name: "Shell", kind: "shell", args: { command } }] },
  { type: "message", id: `r${i}`, role: "tool", parts: [{ type: "tool_result", call: `c${i}`, status: "success", content: [{ type: "text", text: stdout }], value: { success: { exitCode: 0, stdout } } }] },
])];
const stream = () => [{ type: "system", subtype: "init", cwd: "/home/ann/app", session_id: "s", model: small[1].text, permissionMode: "default" }, ...spoken.flatMap(({ prompt, answer, command, stdout }, i) => [
  { type: "user", message: { role: "user", content: [{ type: "text", text: prompt }] }, session_id: "s" },
  { type: "assistant", message: { role: "assistant", content: [{ type: "text", text: answer }] }, session_id: "s" },
  { type: "tool_call", subtype: "completed", call_id: `c${i}`, tool_call: { shellToolCall: { args: { command }, result: { success: { exitCode: 0, stdout, stderr: "" } } } }, session_id: "s" },
])];

function others() {
  check("Page, the texts in stores of other clients", () => {
    const lines = (list) => {
      const file = `${fresh("spoken")}.jsonl`;
      fs.writeFileSync(file, list.map((line) => `${JSON.stringify(line)}\n`).join(""));
      return file;
    };
    const from = lines(canonical()), sources = { "stream-json": lines(stream()) };
    for (const to of ["cursor-chat", "cursor-sdk", "cursor-ide", "claude-code"]) {
      sources[to] = fresh(to);
      rehome([from, sources[to], "--to", to]);
    }
    const names = Object.keys(sources), results = browse(names.map((name) => ({ file: page(sources[name], everything), bypass: true })));
    list(Object.fromEntries(results.map((facts, n) => [names[n], [...acted(facts), ...small.flatMap(({ name, text }, i) => {
      const faults = misread(facts, [`prompt${i}`, `answer${i}`, `command${i}`, `stdout${i}`], text, { loose: [`prompt${i}`, `answer${i}`], hidden: [] });
      return faults.map((fault) => `${name}: ${fault}`);
    })]])));
    return `${names.length} formats, ${small.length} turns each, without the policy`;
  });
}

// Faults planted in a page, by what must be found.
const raw = (html) => (text) => text.replace("</main>", () => `${html}</main>`);
const planted = [
  ["dialog", raw("<script>alert(1)</script>")], ["dialog", raw("<p onmouseover=alert(1)>x</p>")], ["dialog", raw("<details ontoggle=alert(1)><summary>x</summary></details>")],
  ["dialog", raw("<input onfocus=alert(1)>")], ["marker", raw("<script>window.marked=1</script>")], ["title", raw("<script>document.title='x'</script>")],
  ["request", raw("<img src=https://evil.invalid/a.png>")], ["request", raw("<style>body{background:url(https://evil.invalid/b.png)}</style>")], ["request", raw("<script>fetch('https://evil.invalid/')</script>")],
  ["request", raw("<link rel=stylesheet href=https://evil.invalid/c.css>")], ["navigation", raw("<meta http-equiv=refresh content='0;url=https://evil.invalid/'>")], ["navigation", raw("<iframe srcdoc=x></iframe>")],
  ["popup", raw("<script>window.open('about:blank')</script>")], ["element", raw("<marquee>x</marquee>")], ["element", raw("<p style=color:red>x</p>")], ["element", raw("<svg></svg>")], ["element", raw("<!-- x -->")],
  ["element", raw("<link rel=dns-prefetch href=//evil.invalid>")], ["id", raw("<p id=title>x</p>")], ["id", raw("<p id='x y'>x</p>")], ["id twice", raw("<p id=turn-999>x</p><p id=turn-999>x</p>")],
  ["link", raw("<a href='javascript:alert(1)'>x</a>")], ["link", raw("<a href='JaVa\tscript:alert(1)'>x</a>")], ["link", raw("<a href='//evil.invalid'>x</a>")], ["link", raw("<a href='data:text/html,x'>x</a>")],
  ["relation", raw("<a href='https://example.com/'>x</a>")], ["image", raw("<img src='data:image/svg+xml,<svg xmlns=\"http://www.w3.org/2000/svg\"/>'>")], ["image", raw("<img src='data:image/png;base64,AAAA'>")],
  ["other text in command", (text) => text.replace(/(commandBegins) some /g, "$1 ")], ["other text in stdout", (text) => text.replace(/(stdoutBegins\s+)some/g, "$1Some")],
  ["not shown: model", (text) => text.replaceAll("modelEnds", "")], ["not shown: pattern", (text) => text.replaceAll("patternBegins", "")], ["lost in answer", (text) => text.replace(/(answerBegins[^]*?)words/g, "$1")],
];

function caught() {
  check("Page, faults that must be found", () => {
    const words = "some words", { file, fields } = session(words), made = fs.readFileSync(page(file, everything), "utf8");
    const files = planted.map(([, change]) => {
      const file = `${fresh("planted")}.html`, text = change(made);
      if (text === made) throw new Error(`nothing is planted: ${change}`);
      fs.writeFileSync(file, text);
      return { file, bypass: true };
    });
    const missed = browse(files).map((facts, i) => [...acted(facts, titled(words)), ...misread(facts, fields, words, reading)].some((fault) => fault.startsWith(planted[i][0])) ? [] : ["not found"]);
    list(Object.fromEntries(missed.map((found, i) => [`${planted[i][0]} ${i}`, found])));
    return `${planted.length} found`;
  });
}

// real are stores that real clients wrote, or samples like theirs.
const below = (...names) => path.join(root, "testdata", ...names);
const real = {
  "Claude Code": () => below("claude", "config"),
  "Cursor CLI": () => below("chat", "before.db"),
  "Cursor SDK": () => below("sdk", "play", "jsonl"),
  "Cursor IDE": () => built(below("ide", "cases", "tools.sql")),
  "stream-json": () => below("stream", "tools.jsonl"),
  Codex: () => below("codex", "home"),
};
const written = once(() => Object.entries(real).flatMap(([name, source]) => {
  const at = folder("pages");
  shown([source(), "--format", "html", "--out", at, "--yes", "--thinking"]);
  const files = fs.readdirSync(at, { recursive: true }).filter((file) => file.endsWith(".html")).sort();
  if (!files.length) throw new Error(`${name}: no page`);
  return files.slice(0, 4).map((file) => ({ name: `${name}, ${file}`, file: path.join(at, file) }));
}));

// Ways to look at a page: on a screen, at night, on a phone, on paper.
const ways = { light: {}, dark: { dark: true }, phone: { width: 360 }, print: { print: true } };
const wider = (facts, { width = 1200 }) => [facts.scroll, facts.scrollOpen].filter((found) => found > width).map((found) => `sideways: ${found} of ${width} pixels`);
const looked = (facts, way) => [...facts.errors.map((error) => `error: ${error}`), ...facts.axe ?? ["axe did not run"], ...wider(facts, way)];

function read() {
  for (const [name, way] of Object.entries(ways)) {
    check(`Page of real sessions, ${name}, read by axe-core`, () => {
      const results = browse(written().map(({ file }) => ({ file, axe: true, ...way })));
      list(Object.fromEntries(results.map((facts, i) => [written()[i].name, looked(facts, way)])));
      return `${results.length} pages: nothing found, nothing wider than ${way.width ?? 1200} pixels`;
    });
  }
  check("Page of real sessions, keyboard and paper", () => {
    const results = browse(written().map(({ file }) => ({ file, tab: true, pdf: true })));
    list(Object.fromEntries(results.map((facts, i) => [written()[i].name, [...acted(facts), ...(/^<a [^>]*href="#/.test(facts.tab ?? "") ? [] : [`first key: ${facts.tab}`]), ...(facts.pdf ? [] : ["no PDF"])]])));
    return `${results.length} pages: Tab leads to the link past the outline first; each can be printed`;
  });
}

// Faults that a reader would meet.
const awkward = [
  ["color-contrast", (text) => text.replace("</main>", "<p><span class=x>pale</span></p></main>").replace("</style>", ".x{color:#999!important;background:#aaa!important}</style>"), {}],
  ["color-contrast", (text) => text.replace("</main>", "<p><span class=x>pale</span></p></main>").replace("</style>", "@media (prefers-color-scheme:dark){.x{color:#333!important;background:#222!important}}</style>"), ways.dark],
  ["color-contrast", (text) => text.replace("</main>", "<p><span class=x>pale</span></p></main>").replace("</style>", "@media print{.x{color:#ccc!important;background:#ddd!important}}</style>"), ways.print],
  ["image-alt", raw("<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>"), {}], ["html-has-lang", (text) => text.replace(/ lang="?\w+"?/, ""), {}], ["region", (text) => text.replace("</body>", "<p>outside</p></body>"), {}],
  ["sideways", raw(`<p>${"w".repeat(90)}</p><div class=wide>x</div>`), ways.phone, (text) => text.replace("</style>", ".wide{width:900px}</style>")],
];

function found() {
  check("Page, awkward ones that must be found", () => {
    const [{ file }] = written(), made = fs.readFileSync(file, "utf8");
    const pages = awkward.map(([, change, way, also = (text) => text]) => {
      const file = `${fresh("awkward")}.html`;
      fs.writeFileSync(file, also(change(made)));
      return { file, axe: true, bypass: true, ...way };
    });
    list(Object.fromEntries(browse(pages).map((facts, i) => [`${awkward[i][0]} ${i}`, looked(facts, awkward[i][2]).some((fault) => fault.startsWith(awkward[i][0])) ? [] : ["not found"]])));
    return `${awkward.length} found`;
  });
}

// large is a session of about so many megabytes.
function large(megabytes) {
  const file = `${fresh("large")}.jsonl`, out = fs.openSync(file, "w"), output = `${"ok  \texample.com/app/internal/parser\t0.012s\n".repeat(1200)}`;
  const line = (value) => fs.writeSync(out, `${JSON.stringify(value)}\n`);
  line({ type: "session", version: 1, id: "large", agent: "cursor-cli", title: "A large session", workspace: "/home/ann/app" });
  for (let turn = 1; fs.fstatSync(out).size < megabytes << 20; turn++) {
    line({ type: "message", id: `u${turn}`, role: "user", turn: { number: turn }, parts: [{ type: "text", text: `Run the tests again, please (${turn}).` }] });
    line({ type: "message", id: `a${turn}`, role: "assistant", parts: [{ type: "text", text: "They **pass**:\n\n```go\nfunc main() {}\n```" }, { type: "tool_call", id: `c${turn}`, name: "Shell", kind: "shell", args: { command: "go test ./..." } }] });
    line({ type: "message", id: `r${turn}`, role: "tool", parts: [{ type: "tool_result", call: `c${turn}`, status: "success", value: { success: { exitCode: 0, stdout: output } } }] });
  }
  fs.closeSync(out);
  return file;
}

// The time is only told: it is that of this machine.
function first() {
  check("Page of a session of 100 MB", () => {
    const source = large(100), began = performance.now(), file = page(source, ["--yes"]), made = performance.now() - began;
    const [facts] = browse([{ file, brief: true }]);
    list({ page: facts.errors });
    if (!(facts.painted > 0)) throw new Error("nothing was painted");
    return `made in ${(made / 1000).toFixed(1)} s, ${(fs.statSync(file).size / 1e6).toFixed(1)} MB; first words after ${facts.painted} ms, all after ${facts.loaded} ms`;
  });
}

// draw makes the README's picture of a page, with the fonts of this machine.
function draw() {
  const file = page(below("..", "cmd", "rehome", "internal", "demochat", "login-later.db"));
  const views = ["page.png", "page-dark.png"].map((name, i) => ({ file, width: 1000, height: 680, dark: i > 0, open: 1, shot: path.join(root, "docs", name) }));
  for (const { errors } of browse(views)) same(errors, [], "Chromium");
}

export function pages(picture) {
  if (picture) return draw();
  caught();
  injected();
  others();
  found();
  read();
  first();
}

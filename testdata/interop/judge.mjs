// All checks, in parts that share nothing: each part is a process of its own, in
// which one check follows the other.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { adapted } from "./adapter.mjs";
import { arrived } from "./arrived.mjs";
import { attachments } from "./attachments.mjs";
import { back } from "./back.mjs";
import { meant, played } from "./canonical.mjs";
import { clients, migrated, moving, proof, spoilt } from "./claude.mjs";
import { circles } from "./circle.mjs";
import { compactions } from "./compactions.mjs";
import { copied } from "./claude-copies.mjs";
import { foreign, generated, least, lived, many, mix, mixed, most, samples, thorough } from "./claude-stores.mjs";
import { drawn, picked } from "./claude-terminal.mjs";
import { client as codex, rollouts, understood, worked } from "./codex.mjs";
import { client as copilot, repaired as repairedForCopilot } from "./copilot.mjs";
import { drilled } from "./drill.mjs";
import { legacy, seeds, transcripts } from "./exact.mjs";
import { images } from "./images.mjs";
import { forged } from "./forged.mjs";
import { listed } from "./list.mjs";
import { merged } from "./merge.mjs";
import { relocated } from "./mv.mjs";
import { together } from "./parts.mjs";
import { concealed } from "./redact.mjs";
import { pages } from "./page.mjs";
import { parquet } from "./parquet.mjs";
import { deleted } from "./gemini.mjs";
import { client as opencode, imported } from "./opencode.mjs";
import { client as pi, goneOn, lived as livedInPi } from "./pi.mjs";
import { repaired } from "./repair.mjs";
import { theirs as ofOthers } from "./other-sources.mjs";
import { asRecorded, record } from "./requests.mjs";
import { archived, hot, keyless, placed, resumed, talk } from "./resume.mjs";
import { versions } from "./sdk.mjs";
import { stored } from "./session-store.mjs";
import { publish, save, sensitive } from "./survival.mjs";
import { team } from "./team.mjs";
import { build, finish, root } from "./tools.mjs";
import { watching } from "./watch.mjs";
import { whole } from "./whole.mjs";
import { accepted, missed, writing } from "./written.mjs";

// theirs are the samples that Pi, Copilot CLI, OpenCode and Gemini CLI wrote, for a client that is another one.
const theirs = (client) => ofOthers(root).filter(({ kind }) => kind !== client);
// all are the samples of all clients, for one that is not among the first.
const all = (client) => [...samples(), ...foreign(), ...rollouts(), ...theirs(client)];

const newest = (list) => (thorough ? list : list.slice(0, 1));

const alone = {
  mv: () => relocated(clients, versions),
  redact: () => concealed(clients, versions),
  repair: () => repaired(versions),
  merge: () => merged(clients, versions),
  team,
  page: () => pages(part === "picture"),
  parquet,
};

const kinds = ["sqlite", "ndjson"];
const working = (version) => Object.fromEntries(kinds.map((kind) => [kind, talk(version, kind)]));
const playing = () => Object.fromEntries(kinds.map((kind) => [kind, played("1.0.32", kind)]));
const kept = (sources) => kinds.map((kind) => ({ kind, source: sources[kind], beside: sources.beside && kind === "sqlite" }));

function sdk() {
  const made = [];
  for (const version of versions) {
    for (const seed of [1, 2, 3]) {
      const sources = seeds(version, seed);
      for (const kind of kinds) whole(`SDK ${version}, seed ${seed}, ${kind}`, kind, () => sources[kind]().at);
      if (version === "1.0.32") made.push(...kept(sources));
    }
    transcripts(version);
    const talks = working(version);
    made.push(...kept({ ...talks, beside: true }));
    for (const kind of kinds) resumed(version, kind, talks[kind]);
    for (const kind of kinds) whole(`SDK ${version}, ${kind}, at work`, kind, () => talks[kind]().at);
    hot(version, talks.sqlite);
    listed(version, talks.sqlite);
    placed(version, talks.ndjson);
    archived(version, talks.sqlite);
    // Agents have keys since 1.0.24.
    if (version === "1.0.32") keyless(version, talks.sqlite);
  }
  const plays = playing();
  for (const kind of kinds) meant("1.0.32", kind, plays[kind]);
  for (const kind of kinds) whole(`SDK 1.0.32, ${kind}, tools and failures`, kind, () => plays[kind]().at);
  legacy();
  asRecorded("sdk");
  forged(clients[0], "1.0.32");
  fresh([...made, ...kept(plays)], 24);
  sensitive();
}

// fresh has Claude Code resume sessions that the SDK wrote in this process.
function fresh(made, least) {
  migrated("stores fresh from the SDK", moving(() => lived(made)), least, newest(clients));
}

// others has it resume all others, and gives those that spoilt needs: some of each kind of store.
function others() {
  const moved = [moving(samples), moving(generated)];
  migrated("the samples", moved[0], 22);
  migrated("generated stores", moved[1], least, newest(clients));
  migrated("sessions of Codex", moving(rollouts), 9);
  migrated("sessions of Pi, Copilot CLI, OpenCode and Gemini CLI", moving(theirs), 16, newest(clients));
  return moved;
}

function claude() {
  for (const version of clients) proof(version);
  asRecorded("claude");
  asRecorded("codex");
  attachments(clients);
  compactions(clients.slice(0, 1));
  images(clients[0]);
  const moved = others();
  sensitive();
  spoilt(newest(clients), ...moved);
  understood();
  arrived(codex, "some samples", () => [...samples().filter(({ kind }) => kind === "lines" || kind === "ide"), ...foreign(), ...theirs()], 28);
  if (thorough) arrived(codex, "generated sessions", mixed, mix);
  whole(`${codex.name}, what it wrote`, "codex", () => worked().store);
}

const toSDK = {
  samples() {
    const made = writing(all);
    accepted("the samples", made, 70);
    return made;
  },
  generated() {
    const made = writing(many);
    accepted("generated sessions", made, most, newest(versions));
    return made;
  },
};

function written() {
  const made = [toSDK.samples(), toSDK.generated()];
  sensitive();
  missed(...made);
}

function inPi() {
  asRecorded("pi");
  arrived(pi, "the samples", () => all("pi"), 68);
  if (thorough) arrived(pi, "generated sessions", mixed, mix);
  goneOn();
  const made = () => fs.readdirSync(livedInPi().home, { recursive: true }).filter((name) => name.endsWith(".jsonl")).map((name) => ({ kind: "pi", at: path.join(livedInPi().home, name) }));
  migrated("sessions of Pi", moving(made), 2, newest(clients));
  sensitive();
}

function gemini() {
  asRecorded("gemini");
  deleted();
}

function inCopilot() {
  asRecorded("copilot");
  arrived(copilot, "the samples", () => all("copilot"), 66);
  if (thorough) {
    arrived(copilot, "generated sessions", mixed, mix);
    repairedForCopilot();
  }
  sensitive();
}

// oneOfEach is a store of each kind but Claude Code's, whose sessions imported has: an import takes OpenCode seconds.
const oneOfEach = (list) => list.filter(({ kind }, i) => kind !== "claude" && list.findIndex((other) => other.kind === kind) === i);

function inOpenCode() {
  asRecorded("opencode");
  imported();
  if (thorough) {
    arrived(opencode, "the samples", () => all("opencode"), 68);
    arrived(opencode, "generated sessions", mixed, mix);
  } else arrived(opencode, "some samples", () => oneOfEach(all("opencode")), 11);
  sensitive();
}

function circling() {
  for (const [v, version] of versions.entries()) {
    const source = talk(version, "sqlite");
    circles(version, clients[v], source);
    back(version, clients[v], source);
  }
  drilled("1.0.32", clients[0], talk("1.0.32", "sqlite"));
}

function seen() {
  const source = played("1.0.32", "sqlite");
  drawn(source);
  picked(2000);
  for (const version of clients) {
    const config = copied(version, source);
    whole(`Claude Code ${version}, what it wrote`, "claude", config);
  }
}

// The longest come first.
const parts = { sdk, claude, written, circles: circling, gemini, pi: inPi, copilot: inCopilot, opencode: inOpenCode, terminal: seen, live: watching, ...alone };
// The servers that a part needs are started by `make services`, and so is the part.
const served = { adapter: adapted, "session-store": stored };
// What a person asks for: requests are recorded, and not compared.
const asked = { record };

// What survives is counted in parts, too.
const counted = {
  claude() {
    fresh([...versions.flatMap((version) => kept({ ...working(version), beside: true })), ...kept(playing())], 8);
    others();
  },
  ...toSDK,
};

const [only, part, into] = process.argv.slice(2), self = fileURLToPath(import.meta.url);
if (only && (only === "survival" ? part && !(part in counted && into) : part && `${only} ${part}` !== "page picture" || !(only in parts || only in served || only in asked))) {
  console.error(`interop: it takes no arguments, or one of survival, ${Object.keys({ ...parts, ...served, ...asked }).join(", ")}`);
  process.exit(2);
}
try {
  build();
} catch (error) {
  console.error(`interop: ${error.message}`);
  process.exit(1);
}
if (!only) console.log(`${Object.keys(served).join(", ")}: not in this run; \`make services\` starts the servers, and runs them`);
if (!only) process.exit(await together(Object.keys(parts), (name) => [self, name]));
if (only === "survival" && !part) process.exit(await publish((part, out) => [self, only, part, out]));
await (only === "survival" ? counted[part] : { ...parts, ...served, ...asked }[only])();
if (only === "survival") {
  sensitive();
  save(into);
}
finish();

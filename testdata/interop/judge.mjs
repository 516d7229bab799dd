// All checks, one after the other: each is mostly a client at work, and two
// cores are soon busy.
import { fileURLToPath } from "node:url";
import { back } from "./back.mjs";
import { meant, played } from "./canonical.mjs";
import { clients, migrated, moving, proof, spoilt } from "./claude.mjs";
import { circles } from "./circle.mjs";
import { copied } from "./claude-copies.mjs";
import { foreign, generated, least, lived, many, most, samples } from "./claude-stores.mjs";
import { drawn, picked } from "./claude-terminal.mjs";
import { rollouts, understood, version as codex, worked } from "./codex.mjs";
import { drilled } from "./drill.mjs";
import { legacy, seeds, transcripts } from "./exact.mjs";
import { listed } from "./list.mjs";
import { merged } from "./merge.mjs";
import { relocated } from "./mv.mjs";
import { concealed } from "./redact.mjs";
import { repaired } from "./repair.mjs";
import { archived, hot, keyless, placed, resumed, talk } from "./resume.mjs";
import { versions } from "./sdk.mjs";
import { publish, save, sensitive } from "./survival.mjs";
import { team } from "./team.mjs";
import { build, finish } from "./tools.mjs";
import { watching } from "./watch.mjs";
import { whole } from "./whole.mjs";
import { accepted, missed, writing } from "./written.mjs";

// What can be run by itself.
const alone = {
  mv: () => relocated(clients, versions),
  redact: () => concealed(clients, versions),
  repair: () => repaired(versions),
  merge: () => merged(clients, versions),
};

const [only, part, into] = process.argv.slice(2);
if (only && !(only in alone) && (only !== "survival" || (part && !into))) {
  console.error(`interop: it takes no arguments, or one of survival, ${Object.keys(alone).join(", ")}`);
  process.exit(2);
}
// The parts of what survives are clients at work, each in turn: they run at once.
if (only === "survival" && !part) process.exit(await publish((part, out) => [fileURLToPath(import.meta.url), only, part, out]));
try {
  build();
} catch (error) {
  console.error(`interop: ${error.message}`);
  process.exit(1);
}

if (only in alone) {
  alone[only]();
  finish();
}

// toClaude and toSDK have clients resume sessions of others, and count what arrives.
function toClaude(made, fresh) {
  const moved = [moving(samples), moving(() => lived(made)), moving(generated)];
  migrated("the samples", moved[0], 22);
  migrated("stores fresh from the SDK", moved[1], fresh);
  migrated("generated stores", moved[2], least);
  migrated("sessions of Codex", moving(rollouts), 9);
  return moved;
}

const toSDK = {
  samples() {
    const made = writing(() => [...samples(), ...foreign(), ...rollouts()]);
    accepted("the samples", made, 54);
    return made;
  },
  generated() {
    const made = writing(many);
    accepted("generated sessions", made, most);
    return made;
  },
};

const kinds = ["sqlite", "ndjson"], made = [];
const working = (version) => Object.fromEntries(kinds.map((kind) => [kind, talk(version, kind)]));
const keep = (sources) => made.push(...kinds.map((kind) => ({ kind, source: sources[kind], beside: sources.beside && kind === "sqlite" })));
if (part === "claude") {
  for (const version of versions) keep({ ...working(version), beside: true });
  keep(Object.fromEntries(kinds.map((kind) => [kind, played("1.0.32", kind)])));
  toClaude(made, 8);
} else if (part) toSDK[part]();
if (part) {
  sensitive();
  save(into);
  finish();
}
for (const version of versions) {
  for (const seed of [1, 2, 3]) {
    const sources = seeds(version, seed);
    for (const kind of kinds) whole(`SDK ${version}, seed ${seed}, ${kind}`, kind, () => sources[kind]().at);
    if (version === "1.0.32") keep(sources);
  }
  transcripts(version);
  const talks = working(version);
  keep({ ...talks, beside: true });
  for (const kind of kinds) resumed(version, kind, talks[kind]);
  for (const kind of kinds) whole(`SDK ${version}, ${kind}, at work`, kind, () => talks[kind]().at);
  hot(version, talks.sqlite);
  listed(version, talks.sqlite);
  placed(version, talks.ndjson);
  archived(version, talks.sqlite);
  // Agents have keys since 1.0.24.
  if (version === "1.0.32") keyless(version, talks.sqlite);
}
const plays = Object.fromEntries(kinds.map((kind) => [kind, played("1.0.32", kind)]));
for (const kind of kinds) meant("1.0.32", kind, plays[kind]);
for (const kind of kinds) whole(`SDK 1.0.32, ${kind}, tools and failures`, kind, () => plays[kind]().at);
keep(plays);
legacy();
await watching();
team();
for (const version of clients) proof(version);
const moved = toClaude(made, 24), written = [toSDK.samples(), toSDK.generated()];
sensitive();
spoilt(...moved);
understood();
whole(`Codex ${codex}, what it wrote`, "codex", () => worked().store);
missed(...written);
for (const [v, version] of versions.entries()) {
  const source = talk(version, "sqlite");
  circles(version, clients[v], source);
  back(version, clients[v], source);
}
drawn(plays.sqlite);
picked(2000);
drilled("1.0.32", clients[0], talk("1.0.32", "sqlite"));
for (const version of clients) {
  const config = copied(version, plays.sqlite);
  whole(`Claude Code ${version}, what it wrote`, "claude", config);
}
for (const part of Object.values(alone)) part();
finish();

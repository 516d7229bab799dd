// All checks, one after the other: each is mostly a client at work, and two
// cores are soon busy.
import { back } from "./back.mjs";
import { meant, played } from "./canonical.mjs";
import { clients, migrated, moving, proof, spoilt } from "./claude.mjs";
import { circles } from "./circle.mjs";
import { copied } from "./claude-copies.mjs";
import { foreign, generated, least, lived, many, samples } from "./claude-stores.mjs";
import { drawn, picked } from "./claude-terminal.mjs";
import { rollouts, understood, version as codex, worked } from "./codex.mjs";
import { drilled } from "./drill.mjs";
import { legacy, seeds, transcripts } from "./exact.mjs";
import { listed } from "./list.mjs";
import { archived, hot, keyless, placed, resumed, talk } from "./resume.mjs";
import { versions } from "./sdk.mjs";
import { publish } from "./survival.mjs";
import { team } from "./team.mjs";
import { build, finish } from "./tools.mjs";
import { watching } from "./watch.mjs";
import { whole } from "./whole.mjs";
import { accepted, missed, writing } from "./written.mjs";

if (process.argv.length > 2) {
  console.error("interop: it takes no arguments");
  process.exit(2);
}
try {
  build();
} catch (error) {
  console.error(`interop: ${error.message}`);
  process.exit(1);
}
const kinds = ["sqlite", "ndjson"], made = [];
for (const version of versions) {
  for (const seed of [1, 2, 3]) {
    const sources = seeds(version, seed);
    for (const kind of kinds) whole(`SDK ${version}, seed ${seed}, ${kind}`, kind, () => sources[kind]().at);
    if (version === "1.0.32") made.push(...kinds.map((kind) => ({ kind, source: sources[kind] })));
  }
  transcripts(version);
  const talks = { sqlite: talk(version, "sqlite"), ndjson: talk(version, "ndjson") };
  made.push(...kinds.map((kind) => ({ kind, source: talks[kind], beside: kind === "sqlite" })));
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
made.push(...kinds.map((kind) => ({ kind, source: plays[kind] })));
legacy();
await watching();
team();
for (const version of clients) proof(version);
const moved = [moving(samples), moving(() => lived(made)), moving(generated)];
migrated("the samples", moved[0], 22);
migrated("stores fresh from the SDK", moved[1], 24);
migrated("generated stores", moved[2], least);
spoilt(...moved);
understood();
whole(`Codex ${codex}, what it wrote`, "codex", () => worked().store);
migrated("sessions of Codex", moving(rollouts), 9);
const written = [writing(() => [...samples(), ...foreign()]), writing(many)];
accepted("the samples", written[0], 45);
accepted("generated sessions", written[1], least * 1.5);
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
publish();
finish();

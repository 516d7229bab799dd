// All checks, one after the other: each is mostly a client at work, and two
// cores are soon busy.
import { meant, played } from "./canonical.mjs";
import { clients, generated, least, migrated, proof, samples } from "./claude.mjs";
import { legacy, seeds, transcripts } from "./exact.mjs";
import { listed } from "./list.mjs";
import { archived, hot, keyless, placed, resumed, talk } from "./resume.mjs";
import { versions } from "./sdk.mjs";
import { build, finish } from "./tools.mjs";

const [flag, ...more] = process.argv.slice(2);
if (more.length || (flag ?? "--all") !== "--all") {
  console.error("interop: it takes one argument, --all, or none");
  process.exit(2);
}
const thin = flag === "--all" ? 1 : 3;
try {
  build();
} catch (error) {
  console.error(`interop: ${error.message}`);
  process.exit(1);
}
for (const version of versions) {
  for (const seed of [1, 2, 3]) seeds(version, seed);
  transcripts(version);
  const talks = { sqlite: talk(version, "sqlite"), ndjson: talk(version, "ndjson") };
  for (const kind of ["sqlite", "ndjson"]) resumed(version, kind, talks[kind]);
  hot(version, talks.sqlite);
  listed(version, talks.sqlite);
  placed(version, talks.ndjson);
  archived(version, talks.sqlite);
  // Agents have keys since 1.0.24.
  if (version === "1.0.32") keyless(version, talks.sqlite);
}
for (const kind of ["sqlite", "ndjson"]) meant("1.0.32", kind, played("1.0.32", kind));
legacy();
for (const version of clients) proof(version);
migrated("the samples", samples);
migrated("generated stores", generated, { least, thin });
finish(thin > 1 ? [`Claude Code ${clients[1]} with the other generated sessions (testdata/interop/run --all)`] : []);

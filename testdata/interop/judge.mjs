// All checks, one after the other: each is mostly a client at work, and two
// cores are soon busy.
import { legacy, seeds, transcripts } from "./exact.mjs";
import { archived, hot, keyless, placed, resumed, talk } from "./resume.mjs";
import { versions } from "./sdk.mjs";
import { build, finish } from "./tools.mjs";

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
  placed(version, talks.ndjson);
  archived(version, talks.sqlite);
  // Agents have keys since 1.0.24.
  if (version === "1.0.32") keyless(version, talks.sqlite);
}
legacy();
finish();

// Stores that nobody goes on with: what the client wrote, converted, and read
// again by the client; and the way back.
import fs from "node:fs";
import path from "node:path";
import { bytes, cells, check, client, convert, files, folder, fresh, once, read, root, same } from "./tools.mjs";

const count = (store) => {
  const events = Object.values(store.events).flat().length, blobs = Object.values(store.checkpoints).flat().length;
  return `${store.agents.length} agents, ${store.runs.length} runs, ${events} events, ${blobs} blobs`;
};

export const other = { sqlite: "ndjson", ndjson: "sqlite" };
export const format = { sqlite: "cursor-sdk", ndjson: "cursor-ndjson" };

// seeds: for one version and one seed, the same agents in both of the client's
// stores, each converted into the other kind and back.
export function seeds(version, seed) {
  const fill = (kind) => once(() => {
    const at = fresh(`seed-${seed}-${kind}`);
    client({ do: "fill", version, kind, at, seed, cwd: "/home/dev/proj éß" });
    return { at, before: files(at), holds: read(version, kind, at) };
  });
  const source = { sqlite: fill("sqlite"), ndjson: fill("ndjson") };
  for (const kind of ["sqlite", "ndjson"]) {
    const name = `SDK ${version}, seed ${seed}, ${kind}`;
    const there = once(() => convert(source[kind]().at, format[other[kind]]));
    check(`${name} to ${other[kind]}`, () => {
      const { holds } = source[kind]();
      same(read(version, other[kind], there()), holds, "the client reads something else");
      same(source[other[kind]]().holds, holds, "the client's own two stores differ");
      if (version !== "1.0.32") same(read("1.0.32", other[kind], there()), read("1.0.32", kind, source[kind]().at), "SDK 1.0.32 reads something else");
      return `${count(holds)} read back the same, and what the agent would be told`;
    });
    check(`${name} to ${other[kind]} and back`, () => {
      const { at, before } = source[kind]();
      const back = convert(there(), format[kind]);
      const look = kind === "sqlite" ? cells : bytes;
      const want = look(at);
      same(look(back), want, "the way back gives something else");
      same(files(at), before, "the source was changed");
      const n = Object.keys(want).length;
      return kind === "sqlite" ? `${n} databases, every cell, rowid, DDL and pragma the same` : `${n} files, byte for byte`;
    });
  }
  return source;
}

// legacy: a genuine store of SDK 1.0.14, which had fewer columns, another word
// in its references, and kept the root of the conversation in store.db.
export function legacy() {
  const sample = path.join(root, "testdata", "sdk", "legacy-1.0.14");
  const store = once(() => {
    if (!fs.existsSync(path.join(sample, "index.db"))) throw new Error(`the sample ${path.relative(root, sample)} is not there`);
    return { holds: read("1.0.32", "sqlite", sample), before: files(sample) };
  });
  const there = once(() => convert((store(), sample), "cursor-ndjson"));
  check("legacy store of SDK 1.0.14 to ndjson, read by 1.0.32", () => {
    const { holds, before } = store();
    if (!holds.agents.length || !Object.values(holds.told).some((told) => told.texts.length)) throw new Error("the sample holds no conversation");
    same(read("1.0.32", "ndjson", there()), holds, "the client reads something else");
    same(files(sample), before, "the sample was changed");
    return `${count(holds)} read the same as from the old store`;
  });
  check("legacy store of SDK 1.0.14 to ndjson and back", () => {
    const back = convert(there(), "cursor-sdk");
    same(cells(back), cells(sample), "the way back gives something else");
    same(read("1.0.32", "sqlite", back), store().holds, "the client reads something else");
    return "the old columns and references are there again, and 1.0.32 reads them";
  });
}

// transcripts: they lie beside the store in the project folder, and travel with it.
export function transcripts(version) {
  check(`SDK ${version}, a project folder to ndjson`, () => {
    const home = folder("home"), cwd = folder("work");
    const talked = client({ do: "talk", version, cwd, prompts: [["eins", "zwei"]] }, home);
    const project = path.dirname(path.dirname(talked.root));
    const want = bytes(path.join(project, "agent-transcripts"));
    if (!Object.keys(want).length) throw new Error("the client wrote no transcript");
    const there = convert(project, "cursor-ndjson");
    same(read(version, "ndjson", there), read(version, "sqlite", talked.root), "the client reads something else");
    same(bytes(path.join(there, "agent-transcripts")), want, "the transcripts differ");
    return `the store reads the same, ${Object.keys(want).length} transcript beside it, byte for byte`;
  });
}

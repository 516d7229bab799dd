import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { memoryAgentStore } from "rehome-agent-store";
import { BlobCache } from "../lib/blobs.mjs";
import { patient } from "../lib/retry.mjs";
import { blobOf } from "./rules.mjs";

test("two stores in memory share nothing", async () => {
  const [one, two] = [memoryAgentStore(), memoryAgentStore()];
  await one.checkpoints.create({ agentId: "a", ...blobOf("x") });
  assert.deepEqual((await two.checkpoints.list()).items, []);
});

test("the cache fetches what was listed after a miss, and stays within its bytes", async () => {
  const blobs = Array.from({ length: 300 }, (_, i) => blobOf(`${i}`.padStart(1000, "x"))).sort((a, b) => (a.blobId < b.blobId ? -1 : 1));
  const all = new Map(blobs.map(({ blobId, data }) => [blobId, data])), asked = [];
  const cache = new BlobCache(100_000, async (_, ids) => {
    asked.push(ids.length);
    return new Map(ids.filter((id) => all.has(id)).map((id) => [id, all.get(id)]));
  });
  cache.expect("a", blobs.map(({ blobId, data }) => ({ blobId, size: data.length })));
  for (const { blobId, data } of blobs) assert.deepEqual(await cache.get("a", blobId), data);
  assert.deepEqual(asked, Array(12).fill(25)); // a quarter of the bytes each
  assert.equal(await cache.get("a", blobOf("nowhere").blobId), null);
  assert.ok(cache.bytes <= 100_000);
});

test("only what passes is tried again, and not for ever", async () => {
  let calls = 0;
  const failing = (code) => async () => {
    calls++;
    throw Object.assign(new Error("no"), { code });
  };
  const call = patient(({ code }) => code === "gone", 100, () => false);
  await assert.rejects(call(failing("wrong")));
  assert.equal(calls, 1);
  await assert.rejects(call(failing("gone")));
  assert.ok(calls > 2 && calls < 10, `${calls} calls`);
});

test("the package has what it needs, and no tests", () => {
  const { stdout } = spawnSync("npm", ["pack", "--dry-run", "--json"], { cwd: new URL("..", import.meta.url), encoding: "utf8" });
  const files = JSON.parse(stdout)[0].files.map(({ path }) => path).sort();
  assert.deepEqual(files, ["LICENSE", "README.md", "index.d.ts", "index.mjs", ...["blobs", "core", "cursors", "lua", "memory", "notify", "postgres", "redis", "retry", "sql"].map((name) => `lib/${name}.mjs`), "package.json", "schema.sql"]);
});

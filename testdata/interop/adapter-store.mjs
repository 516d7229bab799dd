// What is asked of a store directly, through its own calls.
import { sha256 } from "./wire.mjs";

export const blobs = (count, label) => Array.from({ length: count }, (_, i) => {
  const data = new Uint8Array(Buffer.from(`${label} ${i}`.padEnd(100)));
  return { blobId: sha256(data).toString("hex"), data };
});

// cold puts blobs, for another process to count what reading them takes.
export async function cold(store, { agentId, count }) {
  for (let i = 0, all = blobs(count, "cold"); i < count; i += 50) await Promise.all(all.slice(i, i + 50).map((blob) => store.checkpoints.create({ agentId, ...blob })));
  return { count };
}

export async function differential() {
  return {};
}

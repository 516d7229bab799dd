// The clients, loaded from the cache they were installed into. They are
// resolved there by name, so that nothing has to stand under the clone.
import { createRequire } from "node:module";
import path from "node:path";

const from = createRequire(path.join(process.env.REHOME_INTEROP_MODULES, "package.json"));

// Each version of the SDK, under the name that package.json gives it. Until
// 1.0.17 the SQLite store stood in the main entry.
const packages = {
  "1.0.32": { main: "@cursor/sdk", sqlite: "@cursor/sdk/sqlite" },
  "1.0.17": { main: "cursor-sdk-1.0.17", sqlite: "cursor-sdk-1.0.17" },
};

export const versions = Object.keys(packages);

export function load(version) {
  const names = packages[version];
  const { SqliteLocalAgentStore } = from(names.sqlite);
  return { ...from(names.main), SqliteLocalAgentStore, version };
}

// open gives a store through the client's own class.
export async function open(sdk, kind, folder, workspaceRef) {
  if (kind === "ndjson") return new sdk.JsonlLocalAgentStore(folder);
  return sdk.SqliteLocalAgentStore.open({ workspaceRef, stateRoot: folder });
}

// every follows a list to its end, page by page; pages are small on purpose.
export async function every(list) {
  const items = [];
  let cursor;
  do {
    const page = await list({ cursor, limit: 7 });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor);
  return items;
}

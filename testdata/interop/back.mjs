// Sessions that come back: one client begins, rehome migrates, the real other
// client adds turns, and `rehome migrate --back` appends them to the original.
// Its client then sends all of it, in order.
import fs from "node:fs";
import path from "node:path";
import { broken } from "./claude-rules.mjs";
import { lost, unlike } from "./claude-history.mjs";
import { read } from "./claude-sources.mjs";
import { answered, settle } from "./circle.mjs";
import { check, claude, client, folder, inHome, same } from "./tools.mjs";

const prompt = "And now – ещё";

// brought runs `rehome migrate --back` on a session that was continued.
function brought(home, session, original) {
  for (const want of ["updated", "same"]) {
    const [{ session: into, status }] = inHome(home, ["migrate", session, "--back"]).migrated;
    same({ into, status }, { into: original, status: want }, `${session}: what was brought back`);
  }
}

// Records of calls need not have what the model was shown.
const mute = (items) => items.map((item) => (item.result ? { ...item, result: { ...item.result, has: [] } } : item));

// toSDK is an agent of the SDK that Claude Code continues.
function toSDK(sdk, code, source) {
  const talked = source(), home = folder("home"), { cwd } = talked, words = "play: tools";
  fs.cpSync(path.join(talked.home, ".cursor"), path.join(home, ".cursor"), { recursive: true, preserveTimestamps: true });
  const at = path.join(home, path.relative(talked.home, talked.at)), held = read([{ kind: "sdk", at }])[0];
  const moved = inHome(home, ["migrate", at]).migrated;
  claude({ do: "talk", version: code, home, cwd, turns: moved.map(({ session }) => ({ prompt: words, resume: session })) });
  for (const { id, session } of moved) brought(home, session, id);
  const there = read([{ kind: "claude", at: path.join(home, ".claude") }])[0], legs = [], found = [];
  const [got] = client({ do: "judge", version: sdk, cwd, prompt, stores: [{ kind: "sqlite", at }] });
  same(Object.keys(got).sort(), moved.map(({ id }) => id).sort(), "other agents are listed");
  for (const [id, one] of Object.entries(got)) {
    const [{ items }] = there[moved.find((session) => session.id === id).session].now;
    const first = held[id].now[0].items, second = items.slice(items.findLastIndex(({ whole }) => whole === words));
    if (!one.heard?.model) throw new Error(`${id}: ${one.failed ?? one.heard?.failed ?? "the service hears nothing of it"}`);
    for (const [way, part] of [["model", second], ["turns", mute(second)]]) found.push(...unlike([{ items: [...first, ...part], all: true }], one.heard[way]).map((what) => `${id}, ${way}: ${what}`));
    if (!one.kept) found.push(`${id}: what was there before is changed`);
    legs.push(first, second);
  }
  return settle(found, legs);
}

// toClaude is a session of Claude Code that the SDK continues, in the store of its home folder.
function toClaude(sdk, code) {
  const home = folder("home"), cwd = folder("work é (6)"), config = path.join(home, ".claude");
  const [{ session: id }] = claude({ do: "talk", version: code, home, cwd, turns: [{ prompt: "play: tools" }, { prompt: "And on – 雨 ☔", resume: 0 }] });
  const first = read([{ kind: "claude", at: config }])[0][id].now[0].items;
  const own = () => claude({ do: "resume", version: code, sessions: [{ id, cwd, at: config }] }).resumed[0];
  // 2.0.77 itself leaves out all but the last of parallel calls when it resumes.
  const unsaid = code === "2.0.77" ? lost(first, own().messages) : [];
  const [{ session }] = inHome(home, ["migrate", id, "--to", "cursor-sdk"]).migrated;
  client({ do: "resume", version: sdk, kind: "sqlite", cwd, prompt }, home);
  brought(home, session, id);
  const second = answered(`${prompt} ${session}`), got = own();
  if (got.failed || !got.messages) throw new Error(got.failed ?? "the API heard nothing");
  const found = [...unlike([{ items: [...first.filter((item) => !unsaid.includes(item)), ...second], all: true }], got.messages), ...broken(got.messages)];
  if (!got.appended.kept || got.appended.parent !== got.appended.last) found.push("the next prompt does not follow the last line that rehome wrote");
  return settle(found, [first, second]);
}

export function back(sdk, code, source) {
  check(`SDK ${sdk}, Claude Code ${code}, --back to the SDK`, () => toSDK(sdk, code, source));
  check(`Claude Code ${code}, SDK ${sdk}, --back to Claude Code`, () => toClaude(sdk, code));
}

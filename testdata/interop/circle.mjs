// Full circles by real clients: one client begins, the other goes on, and the
// first resumes. What it then sends to its model is all of it, in order.
import path from "node:path";
import { unlike } from "./claude-history.mjs";
import { deed, say, thought } from "./claude-items.mjs";
import { read } from "./claude-sources.mjs";
import { check, claude, client, convert, folder, migrate } from "./tools.mjs";

export const settle = (found, legs) => {
  if (found.length) throw new Error(found.slice(0, 5).join("; "));
  return `${legs.map(({ length }) => length).join(", ")} items of the legs in their order`;
};

// What the stand-in for Cursor's service does with a prompt.
export const answered = (prompt) => [...say("user", prompt), ...thought("hmm 深い"), ...say("assistant", "I will run a command. 🚀"), deed({ has: ["printf hi"], result: { has: ["hi"] } }), ...say("assistant", "All done.")];

// out is Claude Code, the Cursor SDK, and Claude Code again.
function out(sdk, code) {
  const home = folder("home"), cwd = folder("work é (4)"), config = path.join(home, ".claude"), prompt = "And now – ещё";
  claude({ do: "talk", version: code, home, cwd, turns: [{ prompt: "play: tools" }, { prompt: "And on – 雨 ☔", resume: 0 }] });
  // 2.0.77 leaves a session without messages, too.
  const [[id, { now: [{ items: first }] }]] = Object.entries(read([{ kind: "claude", at: config }])[0]).filter(([, { now: [{ items }] }]) => items.length);
  const at = convert(config, "cursor-sdk", ["--cwd", cwd]);
  const agent = `agent-${id}`;
  client({ do: "resume", version: sdk, kind: "sqlite", at, cwd, prompt, close: true });
  const second = answered(`${prompt} ${agent}`), back = folder("config");
  const { session } = migrate(at, back, cwd).find((one) => one.id === agent);
  const { resumed: [got] } = claude({ do: "resume", version: code, sessions: [{ id: session, cwd, at: back }] });
  if (got.failed || !got.messages) throw new Error(got.failed ?? "the API heard nothing");
  return settle(unlike([{ items: [...first, ...second], all: false }], got.messages), [first, second]);
}

// home is the Cursor SDK, Claude Code, and the Cursor SDK again.
function home(sdk, code, source) {
  const { at } = source(), cwd = folder("work é (5)"), where = folder("home"), config = path.join(where, ".claude");
  const held = read([{ kind: "sdk", at }])[0], second = [...say("user", "And on – 雨 ☔"), ...say("assistant", "Heard.")];
  const moved = migrate(at, config, cwd);
  claude({ do: "talk", version: code, home: where, cwd, turns: moved.map(({ session }) => ({ prompt: second[0].whole, resume: session })) });
  const back = convert(config, "cursor-sdk", ["--cwd", cwd]), prompt = "And once more";
  const [got] = client({ do: "judge", version: sdk, cwd, prompt, stores: [{ kind: "sqlite", at: back }] });
  const legs = [], found = [];
  for (const { id, session } of moved) {
    const one = Object.values(got).find(({ origin }) => origin === session || origin === id), first = held[id].now[0].items;
    if (!one?.heard?.model) throw new Error(`${id}: ${one?.failed ?? one?.heard?.failed ?? "the service hears nothing of it"}`);
    for (const way of ["model", "turns"]) found.push(...unlike([{ items: [...first, ...second], all: false }], one.heard[way]).map((what) => `${id}, ${way}: ${what}`));
    legs.push(first, second);
  }
  return settle(found, legs);
}

export function circles(sdk, code, source) {
  check(`Claude Code ${code}, SDK ${sdk}, Claude Code`, () => out(sdk, code));
  check(`SDK ${sdk}, Claude Code ${code}, SDK`, () => home(sdk, code, source));
}

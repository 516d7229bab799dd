// A token and a customer's name in every place where the real clients put what is said,
// and `rehome redact`: neither is left in any byte, and the clients continue with
// placeholders, which is all that their models get.
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { crc32 } from "node:zlib";
import { blocksOf } from "./claude-rules.mjs";
import { sent, talked } from "./lives.mjs";
import { bytes, cells, check, client, examine, files, folder, fresh, inHome, once, same } from "./tools.mjs";
import { broken } from "./whole.mjs";

// The token is made here: none stands in a file of the project.
const token = `ghp_${[...randomBytes(36)].map((byte) => "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"[byte % 57]).join("")}`;
const name = "Wolkenbruch & Söhne", word = `${token} of ${name}`;
const secrets = { token, "its middle": token.slice(8, 32), name, "its beginning": "Wolkenbruch" };

// shot is an image that has the word in its metadata.
function shot() {
  const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
  const body = Buffer.concat([Buffer.from("tEXtComment\0"), Buffer.from(word)]), size = Buffer.alloc(4), crc = Buffer.alloc(4);
  size.writeUInt32BE(body.length - 4);
  crc.writeUInt32BE(crc32(body));
  return Buffer.concat([png.subarray(0, 33), size, body, crc, png.subarray(33)]);
}

// spelled are the ways in which a text can stand in a file, a letter for a byte.
function spelled(text) {
  const raw = Buffer.from(text), escaped = JSON.stringify(text).slice(1, -1), latin = (value) => Buffer.from(value).toString("latin1");
  const ways = { raw: latin(text), "escaped": latin(escaped), "escaped twice": latin(JSON.stringify(escaped).slice(1, -1)), "as percents": encodeURIComponent(text), "as UTF-16": Buffer.from(text, "utf16le").toString("latin1") };
  ways["as \\u"] = escaped.replaceAll(/[^ -~]|&/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
  ways["as hex"] = raw.toString("hex");
  ways["as HEX"] = ways["as hex"].toUpperCase();
  ways["as hex of hex"] = Buffer.from(ways["as hex"]).toString("hex");
  for (const at of [0, 1, 2]) {
    const all = Buffer.concat([Buffer.alloc(at), raw]).toString("base64");
    ways[`as base64 at ${at}`] = all.slice(Math.ceil((at * 8) / 6), Math.floor(((at + raw.length) * 8) / 6));
    ways[`as base64url at ${at}`] = ways[`as base64 at ${at}`].replaceAll("+", "-").replaceAll("/", "_");
  }
  return ways;
}

// left is where something of the secrets stands in texts by name.
function left(texts) {
  const found = [];
  for (const [what, secret] of Object.entries(secrets)) for (const [way, form] of Object.entries(spelled(secret))) for (const [at, body] of Object.entries(texts)) if (body.includes(form) || at.includes(form)) found.push(`${at}: ${what} ${way}`);
  return found;
}

// everything is each byte of a store, and each cell of its databases by itself.
function everything(at) {
  const all = bytes(at);
  for (const [file, { tables }] of Object.entries(cells(at))) for (const [table, rows] of Object.entries(tables)) all[`${file}, ${table}`] = rows.map((row) => row.replaceAll(/[0-9A-F]{2,}/g, (hex) => Buffer.from(hex, "hex").toString("latin1"))).join("\n");
  return all;
}

const placeholder = /redacted-[a-z0-9-]*[a-z0-9]/g;
const readable = (text, was) => (/^[\n\r -~\u00a0-\u{10ffff}]*$/u.test(text) && !text.includes("\ufffd") ? text : was);
// masked is a text in which secrets and placeholders are the same, also in hexadecimal and base64.
const masked = (text) => (text.startsWith("iVBORw0KGgo") ? "an image" : [token, name, placeholder].reduce((rest, one) => rest.replaceAll(one, "§"), text
  .replaceAll(/\b(?:[0-9a-f]{2}){20,}\b/g, (hex) => readable(Buffer.from(hex, "hex").toString(), hex))
  .replaceAll(/[A-Za-z0-9+/]{40,}={0,2}/g, (base64) => readable(Buffer.from(base64, "base64").toString(), base64))));
// Records are told as texts, too, with the lengths of what is in them.
const record = (value) => typeof value === "string" && /[\0-\x08\x0e-\x1f]/.test(value);
const thinks = ({ type, text }) => type === "thinking" || (type === "text" && /^\s*<thinking>/.test(text));
// plain is a value with masked texts. Thinking loses its signature, and can become a text.
function plain(value) {
  if (typeof value === "string") return masked(value);
  if (Array.isArray(value)) return value.filter((one) => !(record(one) || (one && (record(one.text) || thinks(one))))).map(plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== "signature").map(([key, one]) => [masked(key), plain(one)]));
}

// redacted is what rehome makes of a store.
function redacted(at, flags = []) {
  const out = fresh("redacted"), words = fresh("words"), before = files(at);
  fs.writeFileSync(words, `# customers\n${name}\n`);
  const result = inHome(folder("home"), ["redact", at, out, "--redact-file", words, ...flags]);
  same(files(at), before, "the source was changed");
  same(left({ result: JSON.stringify(result) }), [], "the result tells it");
  return out;
}

// heard holds what a client makes of a redacted store against what it makes of the original.
function heard(got, was) {
  const text = JSON.stringify(got);
  same(left({ "what the client tells and sends": text }), [], "it is left");
  const count = new Set(text.match(placeholder)).size;
  if (!count) throw new Error("there is no placeholder");
  same(plain(got), plain(was), "the client makes something else of it");
  return count;
}

// checks are the same for all clients: bytes, rehome check, and what judge makes of both stores.
function checks(who, made, judge, rules = () => {}) {
  const out = once(() => redacted(made().at)), was = once(() => judge(made().at));
  check(`${who}, nothing is left`, () => {
    const planted = left(everything(made().at)), ways = new Set(planted.map((one) => one.split(": ").at(-1)));
    if (ways.size < 6) throw new Error(`the client wrote it in ${ways.size} ways only`);
    if (!JSON.stringify(was()).match(/iVBORw0KGgo[A-Za-z0-9+/=]+/g)?.some((png) => Buffer.from(png, "base64").includes(token))) throw new Error("the image has no metadata");
    const places = left(everything(out()));
    same(places.slice(0, 5), [], `${places.length} places`);
    return `written in ${ways.size} ways, and none of ${Object.keys(spelled(name)).length * Object.keys(secrets).length} is left`;
  });
  check(`${who}, sound`, () => {
    const before = new Set(broken(examine(made().at)));
    same(broken(examine(out())).filter((rule) => !before.has(rule)), [], "new errors and warnings");
    return "rehome check finds nothing new";
  });
  check(`${who}, resumed`, () => {
    const got = judge(out());
    rules(got);
    return `${heard(got, was())} placeholders reach the model and nothing else, and all the rest as it was`;
  });
  check(`${who}, not redacted`, () => {
    const missed = Object.entries(spelled(name)).filter(([, form]) => !left({ planted: `x${form}x` }).length).map(([way]) => way);
    same(missed, [], "what the search does not find");
    try {
      heard(was(), was());
    } catch (error) {
      return `found out: ${error.message.replaceAll(token, "…").slice(0, 60)}`;
    }
    throw new Error("not found out");
  });
}

function ofClaude(version) {
  const made = once(() => {
    const cwd = folder("work é (8)");
    fs.writeFileSync(path.join(cwd, "shot.png"), shot());
    const work = talked(version, { cwd, turns: [{ prompt: `play: secret ${word}` }, { prompt: `And ${name} again – 雨 ☔`, resume: 0 }] });
    return { ...work, at: work.config };
  });
  checks(`Claude Code ${version}, redacted`, made, (at) => sent(version, at, made().cwd, made().ids), (got) => {
    for (const { messages } of Object.values(got)) {
      const signed = messages.filter((one) => one.type === "thinking" && one.signature && one.thinking.includes("redacted-"));
      same(signed, [], "thoughts with a signature that is not theirs");
    }
  });
}

// joined are events as texts: the pieces of one can be cut elsewhere.
const joined = (events) => events.reduce((list, { role, content }) => {
  const last = list.at(-1), all = blocksOf(content), alone = (content) => content.length === 1 && content[0].type === "text";
  if (last && last.role === role && alone(last.content) && alone(all)) last.content[0].text += all[0].text;
  else list.push({ role, content: structuredClone(all) });
  return list;
}, []);

function ofSDK(version, kind) {
  const made = once(() => {
    const home = folder("home"), cwd = folder("work é (8)"), at = kind === "ndjson" ? fresh("secret") : undefined;
    const prompts = [[{ text: `play: secret ${word}` }, { text: `And ${name} again – 雨 ☔`, image: shot().toString("base64") }]];
    const { root } = client({ do: "play", version, kind, at, cwd, prompts }, home);
    return { at: at ?? root, cwd };
  });
  checks(`SDK ${version}, ${kind}, redacted`, made, (at) => {
    const [found] = client({ do: "judge", version, cwd: made().cwd, prompt: "And at last", stores: [{ kind, at }] });
    return Object.fromEntries(Object.entries(found).map(([id, { events, ...one }]) => [id, { ...one, events: joined(events) }]));
  });
}

export function concealed(programs, versions) {
  for (const version of programs) ofClaude(version);
  for (const [i, version] of versions.entries()) ofSDK(version, ["sqlite", "ndjson"][i]);
}

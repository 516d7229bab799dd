// The items that a source's history is told in, see claude-history.mjs.
import { crc32 } from "node:zlib";

// whole is the text itself, has what of it is looked for in a block: of a long
// one its ends, and no half of a surrogate pair at a cut.
const ends = (all) => (all.length > 4000 ? [all.slice(0, 1000).replace(/[\ud800-\udbff]$/, ""), all.slice(-1000).replace(/^[\udc00-\udfff]/, "")] : [all]);
// What JavaScript takes for nothing but blanks the API refuses, and nobody sends.
export const say = (role, all) => (all.trim() ? [{ role, kind: "text", has: ends(all), whole: all }] : []);

// thought is reasoning: unsigned it must arrive as text, in words of ours around it.
export const thought = (all) => (all.trim() ? [{ role: "assistant", kind: "text", has: ends(all), whole: all, thinking: true }] : []);

// deed is a call; without a result none is known. has names it in any record of it, asked is what its model wrote.
export const deed = ({ id, has = [], asked, result }) => ({ role: "assistant", kind: "call", id, has, asked, result });

// Arguments that Claude Code's own tool does not have: rehome reports each of them (L223).
const left = {
  Shell: ["n", "half"], Glob: ["explanation"], Grep: ["explanation"], Read: ["explanation"], WebSearch: ["explanation"], StrReplace: ["explanation"], replace: ["instruction"],
};
// Without its new text, an edit is told by the record of what it changed.
const leaves = (name, args) => Object.entries(args ?? {}).filter(([argument]) => !left[name]?.includes(argument) && !(argument === "old_string" && args.new_string === undefined)).flatMap(([, value]) => texts(value));
// A status, or whether something is so, can have another word.
const texts = (value) => (value !== null && typeof value === "object" ? Object.entries(value).flatMap(([name, inner]) => (name === "status" ? [] : texts(inner))) : typeof value === "string" || typeof value === "number" ? [String(value)] : []);

// given is every text and number among the arguments that a model gave.
export const given = (name, args) => leaves(name, args).filter((all) => all.trim()).flatMap(ends);

// came is what came of a call.
export const came = (texts, error) => ({ has: texts.flatMap(ends), error });

// picture is an image, if it is a whole one: the API refuses a session for good
// that has half of one, so such an image must not arrive.
export const picture = (base64) => (/^iVBORw0KGgo.+(?:SUVORK5CYII|lFTkSuQmCC|JRU5ErkJggg)=*$/.test(base64) ? [{ role: "user", kind: "image", has: [base64] }] : []);

// whole leaves out images that are damaged: no service takes them, and rehome names them instead.
export const whole = (lists) => lists.map(({ items, all }) => ({ all, items: items.filter(({ kind, has }) => kind !== "image" || sound(Buffer.from(has[0], "base64"))) }));
function sound(png) {
  for (let at = 8; at + 12 <= png.length; at += 12 + png.readUInt32BE(at)) {
    const end = at + 8 + png.readUInt32BE(at);
    if (end + 4 > png.length || crc32(png.subarray(at + 4, end)) !== png.readUInt32BE(end)) return false;
  }
  return true;
}

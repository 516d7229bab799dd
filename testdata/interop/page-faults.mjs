// What is wrong with a page, by what a browser found in it.

const everywhere = ["class", "id", "lang", "dir", "title", "role", "tabindex"];
const own = {
  a: ["href", "rel"], details: ["open"], html: [], img: ["src", "alt", "width", "height", "loading", "decoding"], meta: ["charset", "name", "content", "http-equiv"],
  li: ["value"], ol: ["start"], time: ["datetime"], td: ["align", "colspan"], th: ["align", "colspan", "scope"],
};
const plain = "article aside bdi blockquote body br caption code dd del div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 head header hr ins kbd main mark nav p pre s samp section small span strong style sub summary sup table tbody thead title tr ul".split(" ");
const allowed = new Set([...plain, ...Object.keys(own)]);
const fine = (sign) => {
  const [tag, attribute] = sign.split(" ");
  return allowed.has(tag) && !sign.includes(" of ") && (!attribute || attribute.startsWith("aria-") || everywhere.includes(attribute) || own[tag]?.includes(attribute));
};
const image = /^data:image\/(png|jpeg|gif|webp)[;,]/;
const rel = ["noopener", "noreferrer", "nofollow"];
// Ids are words and numbers: none is foreign text, or the name of a part of the document.
const counted = /^[a-z]+(?:-[a-z]+)*(?:-\d+)*$/, taken = ["title", "body", "head", "forms", "images", "links", "location", "cookie", "all", "name", "document", "marked"];

// real reports whether an image is of the type that it is said to be.
function real(src) {
  const [, type, bytes] = /^data:image\/(png|jpeg|gif|webp);base64,(.*)$/.exec(src) ?? [];
  const found = Buffer.from(bytes ?? "", "base64").toString("latin1");
  return { png: /^\x89PNG\r\n\x1a\n/, jpeg: /^\xff\xd8\xff/, gif: /^GIF8[79]a/, webp: /^RIFF....WEBP/s }[type]?.test(found);
}

// acted is everything that a page did, or could do, that a page of text must not.
export function acted(facts, title) {
  const out = [];
  const add = (kind, list) => { for (const one of list) out.push(`${kind}: ${String(one).slice(0, 160)}`); };
  add("error", facts.errors);
  add("dialog", facts.dialogs);
  add("navigation", facts.moves.slice(1));
  if (facts.popups) add("popup", [facts.popups]);
  add("request", [...facts.requests.slice(1).filter((url) => !image.test(url)), ...facts.hosts]);
  if (facts.marked !== undefined) add("marker", [facts.marked]);
  add("element", Object.keys(facts.elements ?? {}).filter((sign) => !fine(sign)));
  add("id", (facts.ids ?? []).filter((one) => taken.includes(one) || !counted.test(one)));
  add("id twice", (facts.ids ?? []).filter((one, i, all) => all.indexOf(one) !== i));
  for (const { href, rel: relation, target } of facts.links ?? []) {
    if (href?.startsWith("#")) continue;
    if (!/^(https?:\/\/|mailto:)/.test(href ?? "")) add("link", [href]);
    else if (target || !rel.every((word) => (relation ?? "").split(" ").includes(word))) add("relation", [`${href} ${relation} ${target}`]);
  }
  add("image", (facts.images ?? []).filter(({ src }) => !real(src)).map(({ src }) => src));
  if (title !== undefined && !seen(facts.title ?? "").includes(seen(title))) add("title", [facts.title]);
  return out;
}

// seen is what a person sees of a text: spaces and characters without a shape
// are left out, also where they are spelled, and so are the codes of a terminal.
export const seen = (text) => text
  .replace(/\\xed\\x[ab][0-9a-f]\\x[89ab][0-9a-f]/g, "") // half a character
  .replace(/\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U(000[0-9a-f]{5}|0010[0-9a-f]{4})/g, (_, ...digits) => String.fromCodePoint(parseInt(digits.find(Boolean), 16)))
  .replace(/\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, "")
  .replace(/\\[ntrbf]/g, "")
  .replace(/[\\\s\p{C}\p{Zl}\p{Zp}\ufffd\u034f\u115f\u3164]/gu, "");

// between is every text of a field, by the two words around it. It ends early
// where it is cut.
function between(text, field) {
  const out = [];
  for (const { index } of text.matchAll(new RegExp(`(?<![a-z])${field}Begins`, "g"))) {
    const from = index + field.length + 6, to = text.indexOf(`${field}Ends`, from), cut = text.indexOf("…", from);
    if (to >= 0) out.push({ text: text.slice(from, to) });
    else if (cut >= 0 && cut < from + 400) out.push({ text: text.slice(from, cut), cut: true });
  }
  return out;
}

const codes = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|&#?\w+;?/g;
const words = (text) => [...text.replace(codes, " ").matchAll(/[A-Za-z]{3,}/g)].map(([word]) => word);

// misread is what a reader sees of the fields that is not what was written. Of
// loose fields, which are shown as Markdown or as diffs, no word is lost; the others are equal,
// or cut, and then equal up to the first escape. A hidden field is nowhere.
export function misread(facts, fields, vector, { loose, hidden }) {
  const out = [], want = seen(vector);
  for (const field of fields) {
    const [text, rich] = [facts.text, facts.rich].map((text = "") => between(text, field));
    if (hidden.includes(field) !== !text.length) {
      out.push(`${text.length ? "shown" : "not shown"}: ${field}`);
    } else if (loose.includes(field)) {
      const lost = words(vector).filter((word) => !rich.some(({ text }) => text.includes(word)));
      if (lost.length) out.push(`lost in ${field}: ${lost.slice(0, 5)}`);
    } else if (text.length && !text.some(({ text, cut }) => (cut ? `${want}${field}Ends`.startsWith(seen(text.split(/[\\\p{C}]/u)[0])) : seen(text) === want))) {
      out.push(`other text in ${field}: ${JSON.stringify(seen(text[0].text).slice(0, 200))} for ${JSON.stringify(want.slice(0, 200))}`);
    }
  }
  return out;
}

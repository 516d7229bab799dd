// Opens pages in a real Chromium, one after the other, and prints what each of
// them did and holds as JSON: a job in a process of its own. Everything that the
// browser sends goes to a proxy here, which answers nothing and writes down the
// hosts.
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const modules = createRequire(path.join(process.env.REHOME_INTEROP_MODULES, "package.json"));
const load = async (name) => import(pathToFileURL(modules.resolve(name)));
const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));

// program is the path of the browser. The packaged one is unpacked, with the
// libraries and fonts that it needs, into this process's folder for temporary files. The
// configuration of fonts that comes with it names a fixed folder instead; a Chromium that
// finds no font paints nothing, and stops at the first character.
async function program() {
  if (process.env.REHOME_INTEROP_CHROME) return process.env.REHOME_INTEROP_CHROME;
  if (process.platform !== "linux" || process.arch !== "x64") throw new Error("the packaged Chromium is for Linux on x64 only; REHOME_INTEROP_CHROME can name another Chrome");
  process.env.AWS_EXECUTION_ENV = "AWS_Lambda_nodejs22.x"; // it then brings its own libraries
  const { default: chromium } = await load("@sparticuz/chromium");
  const at = await chromium.executablePath(), fonts = path.join(os.tmpdir(), "fonts");
  process.env.FONTCONFIG_FILE = path.join(fonts, "here.conf");
  fs.writeFileSync(process.env.FONTCONFIG_FILE, `<?xml version="1.0"?><fontconfig><dir>${fonts}</dir><cachedir>${fonts}-cache</cachedir></fontconfig>`);
  return at;
}

const asked = new Set();
const note = (request) => asked.add(request.url.replace(/^https?:\/\//, "").split(/[/:]/)[0]);
const proxy = http.createServer((request, response) => { note(request); response.destroy(); });
proxy.on("connect", (request, socket) => { note(request); socket.destroy(); });
await new Promise((done) => proxy.listen(0, "127.0.0.1", done));

const { default: puppeteer } = await load("puppeteer-core");
const browser = await puppeteer.launch({
  executablePath: await program(),
  headless: "shell",
  protocolTimeout: 300_000,
  args: ["--no-sandbox", "--no-zygote", "--disable-gpu", "--hide-scrollbars", "--font-render-hinting=none", "--disable-background-networking", "--disable-component-update", `--proxy-server=127.0.0.1:${proxy.address().port}`, "--proxy-bypass-list=<-loopback>"],
});

// holds runs in the page. It is what a reader could see or press there.
function holds() {
  // U+2028 is between the texts of elements, and counts as a blank.
  const found = { title: document.title, marked: window.marked, elements: {}, links: [], images: [], ids: [], text: "", rich: "", first: document.querySelector("h1")?.textContent };
  const see = (element) => {
    const tag = element.localName, attributes = element.getAttributeNames();
    for (const sign of [tag, ...attributes.map((name) => `${tag} ${name}`)]) found.elements[sign] = (found.elements[sign] ?? 0) + 1;
    if (element.namespaceURI !== "http://www.w3.org/1999/xhtml") found.elements[`${tag} of ${element.namespaceURI}`] = 1;
    if (element.hasAttribute("id")) found.ids.push(element.getAttribute("id"));
    if (tag === "a") found.links.push({ href: element.getAttribute("href"), rel: element.getAttribute("rel"), target: element.getAttribute("target") });
    if (tag === "img") found.images.push({ src: element.getAttribute("src").slice(0, 64), width: element.naturalWidth, alt: element.getAttribute("alt") });
    for (const name of ["href", "title", "alt", "aria-label"]) if (element.hasAttribute(name)) found.rich += ` ${element.getAttribute(name)} `;
  };
  const text = [], rich = [];
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT | NodeFilter.SHOW_COMMENT);
  for (let node = walker.currentNode; node; node = walker.nextNode()) {
    if (node.nodeType === 1) {
      found.rich = "";
      see(node);
      if (found.rich) rich.push(found.rich);
      if (/^(p|div|li|tr|td|th|h\d|pre|summary|section|article|blockquote|br)$/.test(node.localName)) rich.push("\n");
    } else if (node.nodeType === 8) {
      found.elements["a comment"] = 1;
    } else if (!["style", "script"].includes(node.parentNode.localName)) {
      text.push(node.data);
      rich.push(node.data);
    }
  }
  found.text = text.join("\u2028").slice(0, 4 << 20);
  found.rich = rich.join("").slice(0, 4 << 20);
  return found;
}

// touch does to a page what a reader does by accident: it opens, passes over and
// enters everything.
function touch() {
  for (const one of document.querySelectorAll("details")) one.open = true;
  for (const one of [...document.querySelectorAll("*")].slice(0, 20_000)) {
    for (const kind of ["mouseover", "mouseenter", "pointerover", "mousedown", "animationstart"]) one.dispatchEvent(new MouseEvent(kind, { bubbles: true }));
    if (one.tabIndex >= 0) one.focus();
  }
}

// painted is when the first words were there, in milliseconds.
const painted = () => new Promise((done) => {
  new PerformanceObserver((list) => list.getEntriesByName("first-contentful-paint").forEach(({ startTime }) => done(Math.round(startTime)))).observe({ type: "paint", buffered: true });
  setTimeout(() => done(-1), 2000);
});

async function visit({ file, bypass, width = 1200, height = width < 500 ? 780 : 900, dark, open, print, shot, pdf, axe, tab, full, brief }) {
  const context = await browser.createBrowserContext(), page = await context.newPage();
  const facts = { dialogs: [], requests: [], moves: [], popups: 0, errors: [] };
  page.on("dialog", (dialog) => { facts.dialogs.push(dialog.message()); dialog.dismiss().catch(() => {}); });
  page.on("framenavigated", (frame) => facts.moves.push(frame.url().slice(0, 200)));
  page.on("frameattached", () => facts.moves.push("a frame"));
  context.on("targetcreated", () => facts.popups++);
  const cdp = await page.createCDPSession();
  await cdp.send("Network.enable");
  cdp.on("Network.requestWillBeSent", ({ request }) => facts.requests.push(request.url.slice(0, 100)));
  await cdp.send("Page.setDownloadBehavior", { behavior: "deny" }).catch(() => {});
  if (bypass) await page.setBypassCSP(true);
  await page.setViewport({ width, height, deviceScaleFactor: width < 500 ? 2 : 1 });
  await cdp.send("Emulation.setEmulatedMedia", { media: print ? "print" : "", features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }, { name: "prefers-reduced-motion", value: "reduce" }] });
  const began = performance.now();
  await page.goto(pathToFileURL(file).href, { waitUntil: "load", timeout: 240_000 }).catch((error) => facts.errors.push(error.message));
  facts.loaded = Math.round(performance.now() - began);
  facts.painted = await page.evaluate(painted).catch(() => -1);
  try {
    if (tab) {
      await page.keyboard.press("Tab");
      facts.tab = await page.evaluate(() => document.activeElement.outerHTML.slice(0, 200));
    }
    facts.scroll = await page.evaluate(() => document.documentElement.scrollWidth);
    if (open) await page.evaluate((which) => (document.querySelectorAll("main details")[which].open = true), open);
    if (shot) await page.screenshot({ path: shot, ...(full ? { fullPage: true } : {}) });
    if (pdf) facts.pdf = Buffer.from(await page.pdf({ format: "A4", timeout: 120_000, path: pdf === true ? undefined : pdf })).toString("latin1", 0, 5) === "%PDF-";
    if (!shot && !pdf && !brief) await page.evaluate(touch);
    if (axe) {
      await page.evaluate(fs.readFileSync(modules.resolve("axe-core/axe.min.js"), "utf8"));
      facts.axe = await page.evaluate(async () => (await globalThis.axe.run(document, { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } })).violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.length} times, first ${nodes[0].target}: ${nodes[0].html.slice(0, 120)}: ${nodes[0].any[0]?.message ?? ""}`));
      facts.scrollOpen = await page.evaluate(() => document.documentElement.scrollWidth);
    }
    await new Promise((done) => setTimeout(done, 60));
    if (!brief) Object.assign(facts, await page.evaluate(holds));
  } catch (error) {
    facts.errors.push(error.message.split("\n")[0]);
  }
  await context.close();
  return facts;
}

const results = [];
for (const one of job.pages) {
  asked.clear();
  const facts = await visit(one);
  results.push({ ...facts, hosts: [...asked] });
}
const version = await browser.version();
await browser.close();
proxy.close();
fs.writeFileSync(job.out, JSON.stringify({ version, results }));
process.exit(0);

// SQLite files read with node's own SQLite and nothing of ours or the client's:
// what stands in them, cell by cell, for the comparison there and back again.
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

const pragmas = ["user_version", "application_id", "encoding", "page_size", "auto_vacuum", "journal_mode"];
const quoted = (name) => `"${name.replaceAll('"', '""')}"`;

// A row as its rowid and its cells; a cell as its class and its bytes in hex, so
// that nothing is read as a number or cut at a NUL on the way.
function rows(db, table) {
  const columns = db.prepare(`PRAGMA table_info(${quoted(table)})`).all().map(({ name }) => quoted(name));
  const cells = columns.map((c, i) => `typeof(${c}) || ' ' || CASE typeof(${c}) WHEN 'null' THEN '' WHEN 'real' THEN printf('%!.17g', ${c}) ELSE hex(CAST(${c} AS BLOB)) END AS c${i}`);
  const list = db.prepare(`SELECT rowid || '' AS r, ${cells.join(", ")} FROM ${quoted(table)} ORDER BY rowid`).all();
  return list.map((row) => Object.values(row).join(" | "));
}

function database(file) {
  const db = new DatabaseSync(file);
  try {
    const schema = db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid").all().map((item) => ({ ...item }));
    const tables = {};
    for (const { type, name } of schema) if (type === "table") tables[name] = rows(db, name);
    const settings = Object.fromEntries(pragmas.map((name) => [name, Object.values(db.prepare(`PRAGMA ${name}`).get())[0]]));
    return { settings, schema, tables };
  } finally {
    db.close();
  }
}

// tables gives every database of a folder by its path. The folder is copied
// first, with its -wal files: opening a database changes it.
export function tables(folder, scratch) {
  fs.cpSync(folder, scratch, { recursive: true });
  const found = {};
  for (const file of fs.readdirSync(scratch, { recursive: true }).sort()) {
    if (file.endsWith(".db")) found[file.split(path.sep).join("/")] = database(path.join(scratch, file));
  }
  fs.rmSync(scratch, { recursive: true });
  return found;
}

// keys gives the encryption keys that stand in the meta rows of these databases.
// Such a row is JSON, written in hex, and here in hex once more.
export function keys(databases) {
  const unhex = (text) => Buffer.from(text, "hex").toString("utf8");
  const rows = Object.values(databases).flatMap(({ tables }) => tables.meta ?? []);
  const values = rows.map((row) => JSON.parse(unhex(unhex(row.split(" ").at(-1)))).blobEncryptionKey);
  return values.filter((key) => key !== undefined);
}

// execute runs a script in a database, which is made if there is none.
export function execute(file, script) {
  const db = new DatabaseSync(file);
  db.exec(script);
  db.close();
}

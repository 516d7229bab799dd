#!/usr/bin/env python3
"""The least that somebody would write: read, json.loads, json.dumps, write.

    small.py dump STORE.vscdb OUT.ndjson
    small.py load IN.ndjson STORE.vscdb
    small.py dump-all FOLDER OUT-FOLDER     every store.db below FOLDER

It loses storage classes, row ids and spellings, and checks nothing.
"""
import base64
import json
import os
import sqlite3
import sys


def parsed(value):
    """A cell as something that json.dumps takes."""
    try:
        if isinstance(value, (bytes, str)):
            return json.loads(value)
    except ValueError:
        if isinstance(value, bytes):
            return {"base64": base64.b64encode(value).decode()}
    return value


def dump(path, out):
    # Read in any other way, a store in WAL mode is left with -wal and -shm files.
    con = sqlite3.connect("file:%s?immutable=1" % path, uri=True)
    with open(out, "w", encoding="utf-8") as f:
        for (table,) in con.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for key, value in con.execute("SELECT * FROM %s" % table):
                f.write(json.dumps({"table": table, "key": key, "value": parsed(value)}, ensure_ascii=False) + "\n")
    con.close()


def load(path, out):
    con = sqlite3.connect(out)
    con.execute("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    con.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    with open(path, encoding="utf-8") as f:
        for line in f:
            row = json.loads(line)
            value = row["value"]
            text = None if value is None else json.dumps(value, ensure_ascii=False)
            con.execute("INSERT INTO %s VALUES (?, ?)" % row["table"], (row["key"], text))
    con.commit()
    con.close()


def dump_all(folder, out):
    for at, _, names in os.walk(folder):
        if "store.db" in names:
            to = os.path.join(out, os.path.relpath(at, folder))
            os.makedirs(to)
            dump(os.path.join(at, "store.db"), os.path.join(to, "store.ndjson"))


if __name__ == "__main__":
    verb, source, target = sys.argv[1:]
    {"dump": dump, "load": load, "dump-all": dump_all}[verb](source, target)

#!/usr/bin/env python3
"""What somebody would write who wants to promise what rehome promises: storage
classes, row ids and spellings kept, a digest of every row, everything read
again and compared, everything synced to disk.

    careful.py dump STORE.vscdb OUT.ndjson
    careful.py load IN.ndjson STORE.vscdb
    careful.py dump-all FOLDER OUT-FOLDER
    careful.py same A.vscdb B.vscdb         exit 1 unless both hold the same
"""
import base64
import hashlib
import json
import os
import sqlite3
import sys


def spelled(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def cell(value):
    """A cell as JSON: spliced in where that keeps its bytes."""
    if value is None or isinstance(value, (int, float)):
        return value
    text = value
    if isinstance(value, bytes):
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return {"blob64": base64.b64encode(value).decode()}
    try:
        doc = json.loads(text)
        if isinstance(doc, (dict, list)) and spelled(doc) == text:
            return {"blob": doc} if isinstance(value, bytes) else {"text": doc}
    except ValueError:
        pass
    return {"blob64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def uncell(doc):
    if not isinstance(doc, dict):
        return doc
    (tag, value), = doc.items()
    if tag == "blob64":
        return base64.b64decode(value)
    text = spelled(value)
    return text.encode() if tag == "blob" else text


def digest(row):
    h = hashlib.blake2b(digest_size=16)
    for value in row:
        raw = value if isinstance(value, bytes) else str(value).encode()
        h.update(b"%s %d " % (type(value).__name__.encode(), len(raw)))
        h.update(raw)
    return h.digest()


def open_ro(path):
    # Read in any other way, a store in WAL mode is left with -wal and -shm files,
    # and the next program finds another source.
    return sqlite3.connect("file:%s?immutable=1" % path, uri=True)


def tables(con):
    return con.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()


def sync(path):
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def dump(path, out):
    con, digests = open_ro(path), []
    with open(out, "w", encoding="utf-8") as f:
        for table, sql in tables(con):
            f.write(spelled({"table": table, "sql": sql}) + "\n")
            for row in con.execute("SELECT rowid, * FROM %s" % table):
                digests.append(digest(row))
                f.write(spelled([cell(v) for v in row]) + "\n")
        f.flush()
        os.fsync(f.fileno())
    con.close()
    sync(os.path.dirname(out))
    expect(digests, (digest(row) for _, row in lines(out) if row))


def lines(path):
    """Yields a table's heading with None, then each row with it."""
    head = None
    with open(path, encoding="utf-8") as f:
        for line in f:
            doc = json.loads(line)
            if isinstance(doc, dict):
                head = doc
                yield head, None
            else:
                yield head, [uncell(c) for c in doc]


def load(path, out):
    con, digests, statement = sqlite3.connect(out), [], ""
    for head, row in lines(path):
        if row is None:
            con.execute(head["sql"])
            statement = "INSERT INTO %s (rowid, key, value) VALUES (?, ?, ?)" % head["table"]
            continue
        digests.append(digest(row))
        con.execute(statement, row)
    con.commit()
    con.close()
    sync(out)
    sync(os.path.dirname(out))
    con = open_ro(out)
    expect(digests, (digest(row) for table, _ in tables(con) for row in con.execute("SELECT rowid, * FROM %s" % table)))


def dump_all(folder, out):
    for at, _, names in os.walk(folder):
        if "store.db" in names:
            to = os.path.join(out, os.path.relpath(at, folder))
            os.makedirs(to)
            dump(os.path.join(at, "store.db"), os.path.join(to, "store.ndjson"))


def expect(digests, again):
    n = 0
    for n, d in enumerate(again, 1):
        if n > len(digests) or digests[n - 1] != d:
            sys.exit("row %d came back different" % n)
    if n != len(digests):
        sys.exit("%d rows went, %d came back" % (len(digests), n))


def same(a, b):
    one, two = open_ro(a), open_ro(b)
    if tables(one) != tables(two):
        sys.exit("the tables differ")
    for table, _ in tables(one):
        query = "SELECT rowid, * FROM %s" % table
        expect([digest(row) for row in one.execute(query)], (digest(row) for row in two.execute(query)))


if __name__ == "__main__":
    verb, source, target = sys.argv[1:]
    {"dump": dump, "load": load, "dump-all": dump_all, "same": same}[verb](source, target)

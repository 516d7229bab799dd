#!/usr/bin/env python3
"""What somebody would write for the Cursor SDK's two stores who wants to promise
what rehome promises: whatever the other store has no room for kept beside it, a
digest of every record, everything read again and compared, everything synced.

    sdk_careful.py dump STATE-ROOT FOLDER
    sdk_careful.py load FOLDER STATE-ROOT
    sdk_careful.py alike FOLDER FOLDER            exit 1 unless the lines are the same
    sdk_careful.py agree FOLDER FOLDER            the same, but for the order of lines and members
    sdk_careful.py same STATE-ROOT STATE-ROOT     exit 1 unless the rows are the same
"""
import filecmp
import hashlib
import json
import os
import sys

import careful
from careful import expect, open_ro, spelled, sync
from sdk_small import KINDS, agent_folder, checkpoint, new_catalog, new_store, uncheckpoint

FILES = [table + ".ndjson" for table in KINDS] + ["checkpoints.ndjson"]


def line_digest(line):
    return hashlib.blake2b(line, digest_size=16).digest()


class Lines:
    """A file of lines, with their digests."""

    def __init__(self, path):
        self.path, self.digests = path, []
        self.f = open(path, "wb")

    def put(self, doc):
        line = spelled(doc).encode() + b"\n"
        self.digests.append(line_digest(line))
        self.f.write(line)

    def finish(self):
        self.f.flush()
        os.fsync(self.f.fileno())
        self.f.close()
        with open(self.path, "rb") as f:
            expect(self.digests, (line_digest(line) for line in f))


def dump(root, out):
    """Every row becomes a line, and the line a row again: a row that comes out
    another, or stands where it would not come to stand, goes beside whole."""
    os.makedirs(out)
    beside, files = Lines(out + ".beside.ndjson"), []
    con = open_ro(os.path.join(root, "index.db"))
    for table, (doc, undoc, _) in KINDS.items():
        f = Lines(os.path.join(out, table + ".ndjson"))
        for n, (rowid, *row) in enumerate(con.execute("SELECT rowid, * FROM %s" % table), 1):
            d = doc(row)
            if rowid != n or list(undoc(d)) != row:
                beside.put([table, rowid, [careful.cell(v) for v in row]])
            f.put(d)
        files.append(f)
    f = Lines(os.path.join(out, "checkpoints.ndjson"))
    for (aid,) in con.execute("SELECT agent_id FROM agents ORDER BY rowid"):
        path = os.path.join(agent_folder(root, aid), "store.db")
        if os.path.exists(path):
            blobs = open_ro(path)
            for n, (rowid, *row) in enumerate(blobs.execute("SELECT rowid, * FROM blobs"), 1):
                d = checkpoint(aid, row)
                if rowid != n or list(uncheckpoint(d)) != row:
                    beside.put([path, rowid, [careful.cell(v) for v in row]])
                f.put(d)
            for row in blobs.execute("SELECT * FROM meta"):
                beside.put([aid, row])
            blobs.close()
    con.close()
    for f in (*files, f, beside):
        f.finish()
    sync(out)
    sync(os.path.dirname(out))


def rows(folder, name, doc, undoc, beside):
    """The rows of a file of lines. A line that its row does not give back goes
    beside whole."""
    with open(os.path.join(folder, name), "rb") as f:
        for n, line in enumerate(f, 1):
            d = json.loads(line)
            row = undoc(d)
            again = doc(d["agentId"], row) if name == "checkpoints.ndjson" else doc(row)
            if spelled(again).encode() + b"\n" != line:
                beside.put([name, n, line.decode()])
            yield d, row


def finish(con):
    con.commit()
    con.execute("PRAGMA journal_mode = wal")
    con.close()


def load(folder, root):
    os.makedirs(root)
    beside, digests, con = Lines(root + ".beside.ndjson"), [], new_catalog(root)
    for table, (doc, undoc, width) in KINDS.items():
        insert = "INSERT INTO %s VALUES (%s)" % (table, ",".join("?" * width))
        for _, row in rows(folder, table + ".ndjson", doc, undoc, beside):
            digests.append(careful.digest(row))
            con.execute(insert, row)
    finish(con)
    stores, blobs = {}, {}
    for d, row in rows(folder, "checkpoints.ndjson", checkpoint, uncheckpoint, beside):
        aid = d["agentId"]
        if aid not in stores:
            stores[aid], blobs[aid] = new_store(root, aid), []
        blobs[aid].append(careful.digest(row))
        stores[aid].execute("INSERT INTO blobs VALUES (?, ?)", row)
    for aid, one in stores.items():
        finish(one)
        path = os.path.join(agent_folder(root, aid), "store.db")
        sync(path)
        expect(blobs[aid], (careful.digest(row) for row in open_ro(path).execute("SELECT * FROM blobs")))
    beside.finish()
    for path in [os.path.join(root, "index.db"), *(at for at, _, _ in os.walk(root)), os.path.dirname(root)]:
        sync(path)
    con = open_ro(os.path.join(root, "index.db"))
    expect(digests, (careful.digest(row) for table in KINDS for row in con.execute("SELECT * FROM %s" % table)))


def alike(a, b):
    _, other, missing = filecmp.cmpfiles(a, b, FILES, shallow=False)
    if other or missing:
        sys.exit("not the same lines: %s" % ", ".join(other + missing))


def agree(a, b):
    def documents(folder, name):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            return sorted(json.dumps(json.loads(line), sort_keys=True) for line in f)

    for name in FILES:
        if documents(a, name) != documents(b, name):
            sys.exit("not the same documents: " + name)


def databases(root):
    return sorted(os.path.relpath(os.path.join(at, n), root) for at, _, names in os.walk(root) for n in names if n.endswith(".db"))


def same(a, b):
    if databases(a) != databases(b):
        sys.exit("not the same databases")
    for path in databases(a):
        careful.same(os.path.join(a, path), os.path.join(b, path))


if __name__ == "__main__":
    verb, source, target = sys.argv[1:]
    {"dump": dump, "load": load, "alike": alike, "agree": agree, "same": same}[verb](source, target)

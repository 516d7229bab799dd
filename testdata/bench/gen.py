#!/usr/bin/env python3
"""Makes inputs for the benchmark. The same arguments give the same records.

    gen.py vscdb FILE MB        an editor's state.vscdb of about MB megabytes
    gen.py stores FOLDER COUNT  chats/<md5>/<uuid>/store.db, about 150 KB each

The sizes of values, their kinds and their storage classes follow real stores:
most values are JSON text of a few KB, a few are hundreds of KB, a tenth are
stored as BLOB, some are NULL, some numbers are spelled oddly.
"""
import hashlib
import itertools
import json
import os
import random
import sqlite3
import sys

SYLLABLES = "ba co di fu ga he li mo nu pa re si to vu wa xe yo za qui tri ström né 漢字 да".split()


class Words:
    """Text that compresses like prose and code do."""

    def __init__(self, rng):
        self.rng = rng
        words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(3000)]
        words += ["{", "}", "()", "->", "<b>", "&", "\\n", "\t", ";", "==", '"quoted"', "//"] * 20
        self.lines = [" ".join(rng.choices(words, k=rng.randint(2, 14))) for _ in range(20000)]
        self.weights = list(itertools.accumulate((i + 20) ** -0.7 for i in range(len(self.lines))))

    def text(self, size):
        lines = self.rng.choices(self.lines, cum_weights=self.weights, k=max(1, size // 60))
        for i in range(0, len(lines), 4):
            lines[i] += " %x" % self.rng.getrandbits(40)
        return "\n".join(lines)

    def size(self, median, sigma, least, most):
        return int(min(most, max(least, median * self.rng.lognormvariate(0, sigma))))

    def uuid(self):
        h = "%032x" % self.rng.getrandbits(128)
        return "-".join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))


def spelled(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def bubble(w, composer, n):
    """One message of an editor chat: a user's, a tool's, or an answer."""
    rng, kind = w.rng, w.rng.random()
    size = w.size(3000, 1.3, 500, 2 << 20)
    b = {"_v": 3, "type": 1 if kind < 0.15 else 2, "bubbleId": w.uuid(), "composerId": composer, "createdAt": 1750000000000 + n * 1000}
    if kind < 0.15:
        b.update(text=w.text(size // 3), context={"files": [w.uuid() for _ in range(3)]}, relevantFiles=[])
    elif kind < 0.62:
        inner = spelled({"contents": w.text(size), "exit": rng.randint(0, 2)})
        b.update(text="", toolFormerData={"tool": rng.randint(1, 40), "name": "read_file", "status": "completed", "result": inner})
    else:
        b.update(text=w.text(size // 2), thinking={"text": w.text(size // 3), "signature": ""}, usage={"inputTokens": rng.randint(1, 99999)})
    out = spelled(b)
    if rng.random() < 0.02:
        out = out[:-1] + ',"seq":%d}' % (2**53 + rng.randint(1, 2**40))
    if rng.random() < 0.02:
        out = out[:-1] + ',"ratio":%s}' % rng.choice(["1e-07", "1.0", "-0.0", "2.50"])
    return b["bubbleId"], out


def conversation(w):
    rng, composer = w.rng, w.uuid()
    order = []
    for n in range(w.size(25, 1.0, 1, 400)):
        bid, text = bubble(w, composer, n)
        order.append({"bubbleId": bid, "type": 2})
        yield "bubbleId:%s:%s" % (composer, bid), text
        if rng.random() < 0.25:
            yield "checkpointId:%s:%s" % (composer, w.uuid()), spelled({"files": [{"uri": w.text(60)} for _ in range(4)], "activeInlineDiffs": []})
        if rng.random() < 0.10:
            blob = spelled({"role": "tool", "content": w.text(w.size(8000, 1.0, 500, 1 << 20))})
            yield "agentKv:blob:" + hashlib.sha256(blob.encode()).hexdigest(), blob
    yield "composerData:" + composer, spelled({"_v": 9, "composerId": composer, "name": w.text(60), "fullConversationHeadersOnly": order})


def vscdb(path, megabytes):
    w = Words(random.Random("vscdb 1"))
    con = fresh(path)
    for table in ("ItemTable", "cursorDiskKV"):
        con.execute("CREATE TABLE %s (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)" % table)
    for i in range(400):
        con.execute("INSERT INTO ItemTable VALUES (?, ?)", ("workbench.view.%d" % i, spelled({"state": w.text(w.size(600, 1.0, 20, 50000))})))
    total = n = 0
    while total < megabytes << 20:
        for key, text in conversation(w):
            n += 1
            value = None if n % 997 == 0 else text.encode() if n % 10 == 0 else text
            con.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, value))
            total += len(text.encode()) + 150
    con.commit()
    con.close()


def stores(folder, count):
    w = Words(random.Random("stores 1"))
    for i in range(count):
        rng = w.rng
        project = hashlib.md5(b"project %d" % (i // 10)).hexdigest()
        at = os.path.join(folder, "chats", project, w.uuid())
        os.makedirs(at)
        con = fresh(os.path.join(at, "store.db"))
        con.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
        con.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
        total, links, root = 0, [], ""
        want = w.size(75_000, 0.8, 20_000, 5_000_000)
        while total < want:
            for _ in range(rng.randint(2, 12)):
                role = rng.choices(("user", "assistant", "tool"), (10, 45, 45))[0]
                blob = spelled({"role": role, "id": str(rng.getrandbits(32)), "content": [{"type": "text", "text": w.text(w.size(3000, 1.0, 100, 400000))}]}).encode()
                links.append(put(con, blob))
                total += len(blob)
            linking = b"".join(b"\x0a\x20" + bytes.fromhex(x) for x in links)
            if rng.random() < 0.05:
                linking += b'{"note":1}'
            root = put(con, linking)
            total += len(linking)
        meta = {"agentId": os.path.basename(at), "latestRootBlobId": root, "name": w.text(40), "mode": "default", "createdAt": 1750000000000 + i}
        con.execute("INSERT INTO meta VALUES ('0', ?)", (spelled(meta).encode().hex(),))
        con.commit()
        con.execute("PRAGMA journal_mode = wal")
        con.close()


def put(con, blob):
    key = hashlib.sha256(blob).hexdigest()
    con.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (key, blob))
    return key


def fresh(path):
    con = sqlite3.connect(path)
    con.execute("PRAGMA journal_mode = off")
    con.execute("PRAGMA synchronous = off")
    return con


if __name__ == "__main__":
    what, target, size = sys.argv[1:]
    {"vscdb": vscdb, "stores": stores}[what](target, int(size))

#!/usr/bin/env python3
"""Reads chats as session_small.py does, with the promises that rehome makes:
every blob has the bytes that its name says, what the tables do not know rides
along, every line is held against what a line may be, and nothing appears under
its name before it was read back and found the same.

    session_careful.py FOLDER OUT-FOLDER        every store.db below FOLDER
    session_careful.py agree FOLDER FOLDER      two folders say the same

The second form compares what was said, asked and answered in two folders of
lines, whoever wrote them and however they are spelled otherwise.
"""
import base64
import hashlib
import json
import os
import sqlite3
import sys

import session_small as small

PARTS = {
    "text": {"text"}, "context": {"tag", "text", "data"}, "thinking": {"text", "signature", "millis"}, "tool_result": {"call", "status", "error", "content", "value", "extras"},
    "tool_call": {"id", "name", "kind", "input", "args", "start", "end", "extras"},
}
LINES = {
    "session": {"version", "id", "agent", "title", "created", "model", "extras"},
    "message": {"id", "role", "simulated", "turn", "at", "parts", "extras"},
}
KNOWN_STATE = {1, 8, 14}


def spelled(line):
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()


def valid(line):
    """A line has only members that lines have, and its parts theirs."""
    extra = line.keys() - LINES[line["type"]] - {"type"}
    for part in line.get("parts", ()):
        extra |= part.keys() - PARTS[part["type"]] - {"type"}
        if not all(isinstance(part[key], str) for key in ("text", "id", "name", "call") if key in part):
            raise ValueError("a part of %s holds no text" % part["type"])
    if extra:
        raise ValueError("no such member: %s" % extra)
    return line


def unknown(data, known):
    """The fields of a message that a table does not name."""
    out = []
    for number, values in small.fields(data).items():
        if number not in known:
            out += [{"name": str(number), "raw": v if isinstance(v, int) else {"base64": base64.b64encode(v).decode()}} for v in values]
    return out


def verified(con):
    for key, data in con.execute("SELECT id, data FROM blobs"):
        if hashlib.sha256(data).hexdigest() != key:
            raise ValueError("%s: the blob has other bytes" % key)
        yield key, data


class Store:
    """What small.session asks of a connection, and a look at what it does not."""

    def __init__(self, con):
        self.con, self.blobs = con, dict(verified(con))
        self.meta = con.execute("SELECT value FROM meta WHERE key = '0'").fetchone()

    def execute(self, sql):
        if "blobs" in sql:
            return self.blobs.items()
        return self

    def fetchone(self):
        return self.meta

    def lines(self):
        n = 0
        names = {}
        for line in small.session(self):
            if line["type"] == "session":
                root = json.loads(bytes.fromhex(self.meta[0]))["latestRootBlobId"]
                line.update(version=1, agent="cursor-cli", extras=unknown(self.blobs[root], KNOWN_STATE))
            else:
                n += 1
                name = hashlib.sha256(spelled(line)).hexdigest()[:16]
                names[name] = names.get(name, 0) + 1
                line["id"] = name if names[name] == 1 else "%s-%d" % (name, names[name])
                for part in line["parts"]:
                    if part["type"] == "tool_result" and part["status"] != "success":
                        part["error"] = True
            yield spelled(valid(line))


def write(path, lines):
    """Writes beside the place, reads that back, and gives it its name."""
    said = hashlib.sha256()
    with open(path + ".part", "wb") as f:
        for line in lines:
            said.update(line)
            f.write(line + b"\n")
        f.flush()
        os.fsync(f.fileno())
    found = hashlib.sha256()
    with open(path + ".part", "rb") as f:
        for line in f:
            found.update(spelled(valid(json.loads(line))))
    if said.digest() != found.digest():
        raise ValueError("%s came back different" % path)
    os.rename(path + ".part", path)


def main(folder, out):
    part = out + ".part"
    os.makedirs(part)
    for at, _, names in os.walk(folder):
        if "store.db" in names:
            con = sqlite3.connect("file:%s?immutable=1" % os.path.join(at, "store.db"), uri=True)
            write(os.path.join(part, os.path.basename(at) + ".jsonl"), Store(con).lines())
            con.close()
    os.rename(part, out)


def words(folder):
    """Session -> what was said in it, in order."""
    said = {}
    for at, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(at, name), encoding="utf-8") as f:
                head, *lines = map(json.loads, f)
            said[head["id"]] = [
                (m["role"], [(p["type"], p.get("tag"), p.get("text", "").strip("\n"), p.get("id"), p.get("call"), p.get("kind"), p.get("status"), p.get("signature"), p.get("input"), p.get("args"), p.get("value"), p.get("content"))
                             for p in m.get("parts", ())])
                for m in lines if m["type"] == "message"]
    return said


def alike(a, b):
    """Enums have names in one of two and numbers in the other."""
    if isinstance(a, dict) and isinstance(b, dict):
        return all(alike(a.get(k), b.get(k)) for k in a.keys() | b.keys() if k != "timeoutBehavior")
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(alike, a, b))
    return a == b


def agree(one, two):
    a, b = words(one), words(two)
    if a.keys() != b.keys():
        raise SystemExit("other sessions: %s" % sorted(a.keys() ^ b.keys())[:3])
    for name in a:
        for n, (x, y) in enumerate(zip(a[name], b[name])):
            if not alike(x, y):
                raise SystemExit("%s, message %d:\n%.600s\n%.600s" % (name, n, x, y))
        if len(a[name]) != len(b[name]):
            raise SystemExit("%s: %d and %d messages" % (name, len(a[name]), len(b[name])))


if __name__ == "__main__":
    if sys.argv[1] == "agree":
        agree(*sys.argv[2:])
    else:
        main(*sys.argv[1:])

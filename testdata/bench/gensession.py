#!/usr/bin/env python3
"""Makes chats of the command line client, as it writes them today: a graph of
blobs in protobuf, in which every turn stands twice, once as the messages that
the model sees and once as steps with typed results. The same arguments give
the same records.

    gensession.py chats FOLDER COUNT      chats/<md5>/<uuid>/store.db, about 150 KB each
    gensession.py long FOLDER TURNS KB    one such store
"""
import hashlib
import json
import os
import random
import sys

import gen

START = 1_780_000_000_000


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def message(*fields):
    """Pairs of number and value: an int is a varint, a list repeats, None is absent."""
    out = bytearray()
    for number, value in fields:
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, int):
                out += varint(number << 3) + varint(one)
            elif one is not None:
                one = one.encode() if isinstance(one, str) else one
                out += varint(number << 3 | 2) + varint(len(one)) + one
    return bytes(out)


class Store:
    """A chat while it is written."""

    def __init__(self, words, path, name):
        self.w, self.name, self.now, self.bytes = words, name, START, 0
        self.con = gen.fresh(path)
        self.con.execute("PRAGMA user_version = 1")
        self.con.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
        self.con.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
        self.prompts, self.turns, self.timings, self.calls = [], [], [], 0
        self.prompt("system", words.text(6000))
        self.prompt("user", [{"type": "text", "text": "<user_info>\n%s\n</user_info>" % words.text(400)}])

    def put(self, blob):
        self.bytes += len(blob)
        return bytes.fromhex(gen.put(self.con, blob))

    def prompt(self, role, content, **more):
        self.prompts.append(self.put(gen.spelled({"role": role, **more, "content": content}).encode()))

    def tick(self):
        self.now += self.w.rng.randint(1, 4000)
        return self.now

    def turn(self, size):
        """One turn of about that many bytes, of which the second half is said again."""
        w, begun, steps, want = self.w, self.tick(), [], self.bytes + size
        request, text = w.uuid(), w.text(w.size(200, 0.8, 30, 4000))
        user = self.put(message((1, text), (2, w.uuid()), (4, 1), (25, begun)))
        self.prompt("user", [{"type": "text", "text": "<timestamp>today</timestamp>\n<user_query>\n%s\n</user_query>" % text}], providerOptions={"cursor": {"requestId": request}})
        while self.bytes < want:
            steps += self.response(w.size(1500, 0.9, 100, max(200, size // 6)))
        steps += self.response(0)
        self.turns.append(self.put(message((1, message((1, user), (2, steps), (3, request), (7, "Opus 4.5"))))))
        self.timings.append(message((1, self.now - begun), (2, self.now)))

    def response(self, size):
        w, steps, content, results = self.w, [], [], []
        model = {"cursor": {"modelName": "claude-4.5-opus-high-thinking"}}
        if w.rng.random() < 0.5:
            thought = w.text(w.size(400, 0.8, 50, 8000))
            steps.append(self.put(message((3, message((1, thought), (2, 800), (3, self.tick()), (4, self.tick()))))))
            content.append({"type": "reasoning", "text": thought, "signature": "%0200x" % w.rng.getrandbits(800), "providerOptions": model})
        said = w.text(w.size(300, 0.8, 30, 4000))
        steps.append(self.put(message((1, message((1, said), (2, self.tick()), (3, self.tick()))))))
        content.append({"type": "text", "text": said})
        for _ in range(w.rng.randint(1, 2) if size else 0):
            self.calls += 1
            self.call("toolu_%012d" % self.calls, size, steps, content, results)
        self.prompt("assistant", content, id="1")
        for call, tool, shown in results:
            self.prompt("tool", [{"type": "tool-result", "toolName": tool, "toolCallId": call, "result": shown}], id=call)
        return steps

    def call(self, call, size, steps, content, results):
        w = self.w
        body, path = w.text(size), "/home/ann/src/%s.go" % w.uuid()
        kind = w.rng.randrange(3)
        if kind == 0:
            number, tool, args = 1, "Shell", {"command": w.text(60)}
            typed = message((1, args["command"]), (3, 30000), (4, call), (5, ["a", "b"]), (13, 2))
            result = message((1 if w.rng.random() < 0.9 else 2, message((1, args["command"]), (2, "/work"), (3, 0), (5, body), (7, 12))))
        elif kind == 1:
            number, tool, args = 8, "Read", {"path": path}
            typed, result = message((1, path)), message((1, message((1, body), (4, 40), (5, len(body)), (7, path))))
        else:
            number, tool, args = 12, "StrReplace", {"path": path, "old_string": w.text(80), "new_string": w.text(80)}
            typed, result = message((1, path), (6, args["new_string"])), message((1, message((1, path), (3, 2), (4, 1), (5, body), (7, body))))
        steps.append(self.put(message((2, message((number, message((1, typed), (2, result))), (57, call), (59, self.tick()), (60, self.tick()))))))
        content.append({"type": "tool-call", "toolCallId": call, "toolName": tool, "args": args, "providerOptions": {"cursor": {"rawToolCallArgs": gen.spelled(args)}}})
        results.append((call, tool, body))

    def checkpoint(self):
        return self.put(message((1, self.prompts), (5, message((1, 1200), (2, 200000))), (8, self.turns), (9, "file:///work"), (10, 1), (14, self.timings), (26, START)))

    def close(self):
        meta = {"agentId": self.name, "latestRootBlobId": self.checkpoint().hex(), "name": self.w.text(40), "mode": "default", "createdAt": START, "lastUsedModel": "claude-4.5-opus-high-thinking"}
        self.con.execute("INSERT INTO meta VALUES ('0', ?)", (gen.spelled(meta).encode().hex(),))
        self.con.commit()
        self.con.execute("PRAGMA journal_mode = wal")
        self.con.close()


def store(words, folder, project):
    name = words.uuid()
    at = os.path.join(folder, "chats", hashlib.md5(b"project %d" % project).hexdigest(), name)
    os.makedirs(at)
    return Store(words, os.path.join(at, "store.db"), name)


def chats(folder, count):
    words = gen.Words(random.Random("sessions 1"))
    for i in range(count):
        s = store(words, folder, i // 10)
        want = words.size(65_000, 0.7, 20_000, 3_000_000)
        while s.bytes < want:
            s.turn(words.size(12_000, 0.8, 2000, 200_000))
            if words.rng.random() < 0.3:
                s.checkpoint()  # an older state, as clients leave them
        s.close()


def long(folder, turns, kilobytes):
    words = gen.Words(random.Random("long 1"))
    s = store(words, folder, 0)
    for _ in range(turns):
        s.turn(kilobytes << 10)
    s.close()


if __name__ == "__main__":
    what, target, *sizes = sys.argv[1:]
    {"chats": chats, "long": long}[what](target, *map(int, sizes))

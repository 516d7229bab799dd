#!/usr/bin/env python3
"""Makes a state root of the Cursor SDK, as version 1.0.32 leaves it, for the
benchmark. The same arguments give the same records.

    gensdk.py FOLDER EVENTS

An agent has up to 12 runs, a run about 150 events and at most 5000. Three of
four events are pieces of text, the rest steps of a tool, most of them small, a
few of 100 KB. A few agents have checkpoints, about 1 MB each.
"""
import datetime
import hashlib
import os
import random
import sys

from gen import Words, fresh, put, spelled

TOOLS = ("shell", "read", "edit", "grep", "glob", "ls", "mcp", "updateTodos")
WORKSPACE = "/home/dev/project"
BLOB_AGENTS = 6


class Clock:
    def __init__(self):
        self.at = datetime.datetime(2026, 6, 4, 10, tzinfo=datetime.timezone.utc)

    def tick(self, ms):
        self.at += datetime.timedelta(milliseconds=ms)
        return self.at.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (self.at.microsecond // 1000)


def messages(w, count, request):
    """The messages of a run, without the members that all have."""
    yield "request", {"request_id": request}
    yield "status", {"status": "RUNNING"}
    left = count - 4
    while left > 0:
        if left < 3 or w.rng.random() < 0.9:
            left -= 1
            text = w.text(w.size(90, 0.6, 10, 2000))
            if w.rng.random() < 0.5:
                yield "thinking", {"text": text}
            else:
                yield "assistant", {"message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}
            continue
        left -= 3
        call = {"call_id": "toolu_%024x" % w.rng.getrandbits(96), "name": w.rng.choice(TOOLS)}
        args = {"command": w.text(60), "workingDirectory": WORKSPACE, "timeout": 30000}
        value = {"exitCode": 0, "signal": "", "stdout": w.text(w.size(900, 1.2, 10, 200000)), "stderr": "", "executionTime": w.rng.randint(1, 9000)}
        yield "tool_call", {**call, "status": "running", "args": {}}
        yield "tool_call", {**call, "status": "running", "args": args}
        yield "tool_call", {**call, "status": "completed", "args": args, "result": {"status": "success", "value": value}}
    yield "usage", {"usage": {"inputTokens": 1234, "outputTokens": 56, "cacheReadTokens": 7, "cacheWriteTokens": 0, "totalTokens": 1297}}
    yield "status", {"status": "FINISHED"}


def run(con, w, clock, agent, turn, ref, most):
    """One run and its events; answers how many events it has."""
    rid, request = "run-" + w.uuid(), w.uuid()
    created, started = clock.tick(40), clock.tick(5)
    n = 0
    for n, (kind, rest) in enumerate(messages(w, min(most, w.size(150, 1.0, 5, 5000)), request), 1):
        message = {"type": kind, "agent_id": agent, "run_id": rid, **rest}
        payload = spelled({"schemaVersion": 1, "type": "sdk_message", "agentId": agent, "runId": rid, "message": message})
        con.execute("INSERT INTO run_events VALUES (?, ?, ?, 'run_stream_event', ?, NULL, NULL, ?)", (rid, n, str(n), payload, clock.tick(w.rng.randint(1, 80))))
    ended = clock.tick(3)
    usage = spelled({"inputTokens": 1234, "outputTokens": 56, "cacheReadTokens": 7, "cacheWriteTokens": 0, "totalTokens": 1297})
    cells = (rid, request, agent, turn, "FINISHED", "composer-2.5", '[{"id":"effort","value":"high"}]', ref, ref, None, None, usage, w.text(400), created, ended, started, ended, None, None)
    con.execute("INSERT INTO runs VALUES (%s)" % ",".join("?" * len(cells)), cells)
    return n


def checkpoints(folder, w, agent, size):
    """The database of an agent's blobs; answers the root's id."""
    at = os.path.join(folder, "agents", "agent-" + hashlib.sha256(agent.encode()).hexdigest())
    os.makedirs(at, 0o700)
    con = fresh(os.path.join(at, "store.db"))
    con.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
    con.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
    total, links = 0, []
    while total < size:
        blob = spelled({"role": w.rng.choice(("user", "assistant", "tool")), "content": [{"type": "text", "text": w.text(w.size(3000, 1.0, 100, 400000))}]}).encode()
        links.append(put(con, blob))
        total += len(blob)
    root = put(con, b"".join(b"\x0a\x20" + bytes.fromhex(x) for x in links))
    meta = {"agentId": agent, "latestRootBlobId": "", "name": "New Agent", "mode": "default", "isRunEverything": False, "createdAt": 1780567200000, "blobEncryptionKey": "%064x" % w.rng.getrandbits(256)}
    con.execute("INSERT INTO meta VALUES ('0', ?)", (spelled(meta).encode().hex(),))
    finish(con, 1)
    return root


def finish(con, version):
    con.execute("PRAGMA user_version = %d" % version)
    con.commit()
    con.execute("PRAGMA journal_mode = wal")
    con.close()


def root(folder, events):
    w, clock = Words(random.Random("sdk 1")), Clock()
    con = fresh(os.path.join(folder, "index.db"))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sdk.sql"), encoding="utf-8") as f:
        con.executescript(f.read())
    left, count = events, 0
    while left > 0:
        agent = "agent-" + w.uuid()
        ref = None
        if count < BLOB_AGENTS:
            # Small inputs get small checkpoints too.
            ref = spelled({"blobId": checkpoints(folder, w, agent, min(1_000_000, 200 * events)), "storeKind": "local-agent-store"})
        count += 1
        created, key = clock.tick(1000), spelled({"blobEncryptionKey": "%064x" % w.rng.getrandbits(256)})
        turns = w.rng.randint(1, 12)
        for turn in range(1, turns + 1):
            if left > 0:
                left -= run(con, w, clock, agent, turn, ref, max(5, left))
        con.execute("INSERT INTO agents VALUES (?, ?, 'IDLE', NULL, ?, ?, ?, ?, ?)", (agent, WORKSPACE, ref, w.text(40), key, created, clock.tick(1)))
    finish(con, 0)


if __name__ == "__main__":
    root(sys.argv[1], int(sys.argv[2]))

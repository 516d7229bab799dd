#!/usr/bin/env python3
"""Make login.db, the chat that the demo shows, and login-later.db, one turn later.

    python3 make_login.py

The text is invented. Fields and members are those of before.db. No clock and
no random number: it writes the same bytes every time.
"""

import hashlib
import json
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4, "testdata", "chat"))
from add_turn import field

MADE = 1791792000000  # 2026-10-12 08:00 UTC
CHAT = "5d0b2b7e-2222-4000-8000-00000000106e"
FOLDER = "/home/ann/app"
FILE = FOLDER + "/session.go"
OLD = "\tif s.Expires < now.Unix() {\n"
NEW = "\tif s.Expires <= now.Unix() {\n"


def call(number, args, result, ident, at):
    """A step that is a tool call: its kind is the number of a field."""
    return field(2, field(number, field(1, args) + field(2, result)) + field(57, ident) + field(59, at) + field(60, at + 400))


def shell(command, code, output, ident, at):
    return call(1, field(1, command) + field(3, 30000) + field(4, ident) + field(5, command),
                field(1 if code == 0 else 2, field(1, command) + (field(3, code) if code else b"") + field(5, output) + field(7, 400)), ident, at)


def edit(ident, at):
    diff = f"--- a/{FILE}\n+++ b/{FILE}\n@@ -1 +1 @@\n-\tif s.Expires < now.Unix() {{\n+\tif s.Expires <= now.Unix() {{"
    return call(12, field(1, FILE) + field(6, NEW),
                field(1, field(1, FILE) + field(3, 1) + field(4, 1) + field(5, diff) + field(6, OLD) + field(7, NEW) + field(8, "Wrote contents to " + FILE)), ident, at)


def said(text, at):
    return field(1, field(1, text) + field(2, at) + field(3, at + 900))


TURNS = [
    ("TestLogin fails about one run in ten. Find out why, and fix it.", [
        ("Shell", {"command": "go test -run TestLogin -count=50"}, "call_1", "--- FAIL: TestLogin\n    login_test.go:41: session still valid after its expiry\n"),
        ("StrReplace", {"path": FILE, "old_string": OLD, "new_string": NEW}, "call_2", "Wrote contents to " + FILE),
    ], "A session stayed valid during the second in which it expires. Fixed."),
    ("Run it a thousand times, to be sure.", [
        ("Shell", {"command": "go test -run TestLogin -count=1000"}, "call_3", "ok  \texample.com/app\t7.9s\n"),
    ], "All 1,000 runs pass."),
]


def step(tool, args, ident, result, at):
    if tool == "Shell":
        return shell(args["command"], 1 if "FAIL" in result else 0, result, ident, at)
    return edit(ident, at)


def make(path, turns):
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
    db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")

    def put(data):
        name = hashlib.sha256(data).digest()
        db.execute("insert or ignore into blobs (id, data) values (?, ?)", (name.hex(), data))
        return name

    def put_json(value):
        return put(json.dumps(value, separators=(",", ":")).encode())

    prompts = [put_json({"role": "system", "content": "You are an AI coding assistant."})]
    names = []
    for n, (asked, calls, answer) in enumerate(turns):
        at = MADE + n * 86_400_000
        request = f"5d0b2b7e-2222-4000-8000-0000000000a{n}"
        user = put(field(1, asked) + field(2, f"5d0b2b7e-2222-4000-8000-0000000000b{n}") + field(4, 1) + field(25, at))
        steps = [step(*c, at + 2000 * (i + 1)) for i, c in enumerate(calls)] + [said(answer, at + 30_000)]
        names.append(put(field(1, field(1, user) + b"".join(field(2, put(s)) for s in steps) + field(3, request))))
        prompts.append(put_json({"role": "user", "content": [{"type": "text", "text": f"<user_query>\n{asked}\n</user_query>"}],
                                 "providerOptions": {"cursor": {"requestId": request}}}))
        for tool, args, ident, result in calls:
            prompts.append(put_json({"id": "1", "role": "assistant", "content": [{"type": "tool-call", "toolCallId": ident, "toolName": tool, "args": args}]}))
            prompts.append(put_json({"role": "tool", "id": ident, "content": [{"type": "tool-result", "toolCallId": ident, "toolName": tool, "result": result}]}))
        prompts.append(put_json({"id": "1", "role": "assistant", "content": [{"type": "text", "text": answer}]}))
        root = put(b"".join(field(1, p) for p in prompts) + field(5, field(1, 9000) + field(2, 272000))
                   + b"".join(field(8, name) for name in names) + field(9, "file://" + FOLDER) + field(10, 1) + field(26, MADE) + field(27, "UTC"))
    meta = {"agentId": CHAT, "latestRootBlobId": root.hex(), "name": "Fix the flaky login test", "mode": "default",
            "isRunEverything": False, "createdAt": MADE, "lastUsedModel": "composer-2.5", "blobEncryptionKey": "00" * 32}
    db.execute("insert into meta values ('0', ?)", (json.dumps(meta, separators=(",", ":")).encode().hex(),))
    db.commit()
    db.close()


if __name__ == "__main__":
    make("login.db", TURNS[:1])
    make("login-later.db", TURNS)

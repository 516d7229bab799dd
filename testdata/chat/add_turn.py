#!/usr/bin/env python3
"""Make after.db: the store of before.db with one more turn.

    python3 add_turn.py before.db after.db

A chat store is append-only: each turn adds blobs named by the SHA-256 of
their bytes, and one of them is the new root, to which the meta row points.
No clock and no random number: the same input gives the same output.
"""

import hashlib
import json
import shutil
import sqlite3
import sys

CREATED = 1790000000000  # the store's own createdAt; times below are steps from it


def varint(n):
    out = bytearray()
    while True:
        n, low = n >> 7, n & 0x7F
        out.append(low | (0x80 if n else 0))
        if not n:
            return bytes(out)


def field(number, value):
    """One protobuf field: an integer as a varint, bytes and text with a length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def split(message):
    """The top-level fields of a message, as (number, raw bytes of the field)."""
    i, out = 0, []

    def number():
        nonlocal i
        n = shift = 0
        while True:
            b = message[i]
            i, n, shift = i + 1, n | (b & 0x7F) << shift, shift + 7
            if b < 0x80:
                return n

    while i < len(message):
        start, tag = i, number()
        if tag & 7 == 2:
            size = number()
            i += size
        elif tag & 7 == 0:
            number()
        else:
            raise SystemExit(f"field {tag >> 3}: wire type {tag & 7} is not expected here")
        out.append((tag >> 3, message[start:i]))
    return out


def add_turn(db):
    def put(data):
        name = hashlib.sha256(data).digest()
        db.execute("insert or ignore into blobs (id, data) values (?, ?)", (name.hex(), data))
        return name

    def put_json(value):
        return put(json.dumps(value, separators=(",", ":")).encode())

    meta = json.loads(bytes.fromhex(db.execute("select value from meta where key = '0'").fetchone()[0]))
    root = db.execute("select data from blobs where id = ?", (meta["latestRootBlobId"],)).fetchone()[0]

    asked, request = "now say goodbye instead", "5d0b2b7e-0000-4000-8000-0000000000ab"
    answer = "a.txt says goodbye now."
    at = CREATED + 60_000

    user = put(field(1, asked) + field(2, "5d0b2b7e-0000-4000-8000-000000000003") + field(4, 1) + field(25, at))
    step = put(field(1, field(1, answer) + field(2, at + 2500) + field(3, at + 3000)))
    turn = put(field(1, field(1, user) + field(2, step) + field(3, request)))
    prompt = [
        put_json({
            "role": "user",
            "content": [{"type": "text", "text": f"<user_query>\n{asked}\n</user_query>"}],
            "providerOptions": {"cursor": {"requestId": request}},
        }),
        put_json({"id": "1", "role": "assistant", "content": [{"type": "text", "text": answer}]}),
    ]

    fields = split(root)
    for number, names in ((1, prompt), (8, [turn])):
        last = max(i for i, (n, _) in enumerate(fields) if n == number)
        fields[last + 1:last + 1] = [(number, field(number, name)) for name in names]
    meta["latestRootBlobId"] = put(b"".join(raw for _, raw in fields)).hex()
    text = json.dumps(meta, separators=(",", ":"))
    db.execute("update meta set value = ? where key = '0'", (text.encode().hex(),))


def main():
    before, after = sys.argv[1:]
    shutil.copyfile(before, after)
    db = sqlite3.connect(after)
    with db:
        add_turn(db)
    db.close()


if __name__ == "__main__":
    main()

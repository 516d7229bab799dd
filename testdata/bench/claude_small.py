#!/usr/bin/env python3
"""The least that somebody would write to put a session of Claude Code into a chat of
the Cursor CLI: the messages that the model sees, as blobs, and a root that lists them.

    claude_small.py SESSION.jsonl STORE.db

It writes no turns, steps or typed results, so that the CLI shows nothing of the chat,
follows lines in their order, and verifies nothing.
"""
import hashlib
import json
import sqlite3
import sys

from gensession import message


def prompts(lines):
    names = {}
    for line in map(json.loads, lines):
        if line.get("type") not in ("user", "assistant"):
            continue
        parts, results = [], []
        content = line["message"]["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            kind = block["type"]
            if kind == "text":
                parts.append({"type": "text", "text": block["text"]})
            elif kind == "thinking":
                parts.append({"type": "reasoning", "text": block["thinking"]})
            elif kind == "tool_use":
                names[block["id"]] = block["name"]
                parts.append({"type": "tool-call", "toolCallId": block["id"], "toolName": block["name"], "args": block["input"]})
            elif kind == "tool_result":
                results.append({"type": "tool-result", "toolName": names[block["tool_use_id"]], "toolCallId": block["tool_use_id"], "result": block["content"]})
        if parts:
            yield {"role": line["type"], "content": parts}
        for r in results:
            yield {"role": "tool", "id": r["toolCallId"], "content": [r]}


def main(source, target):
    con = sqlite3.connect(target)
    con.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
    con.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")

    def put(blob):
        key = hashlib.sha256(blob)
        con.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (key.hexdigest(), blob))
        return key.digest()

    with open(source, encoding="utf-8") as lines:
        root = put(message((1, [put(json.dumps(p, ensure_ascii=False, separators=(",", ":")).encode()) for p in prompts(lines)])))
    meta = {"agentId": "a", "latestRootBlobId": root.hex(), "name": "New Agent", "mode": "default", "createdAt": 0}
    con.execute("INSERT INTO meta VALUES ('0', ?)", (json.dumps(meta).encode().hex(),))
    con.commit()
    con.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

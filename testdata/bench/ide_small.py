#!/usr/bin/env python3
"""The least that somebody would write to read an editor's sessions: take the
heads, read each session's list of bubbles, look each bubble up, and write one
line a message.

    ide_small.py USER-DIR OUT-FOLDER            every session
    ide_small.py USER-DIR OUT-FOLDER ID         one of them

It knows the newest generation only, drops what it does not know, and checks
nothing.
"""
import json
import os
import sqlite3
import sys

KINDS = {40: "read", 15: "shell", 41: "grep", 38: "edit", 42: "glob"}


def spelled(line):
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"


def plain(value):
    return json.loads(value) if isinstance(value, str) and value else value


def messages(find, session, headers):
    """Lines of messages: bubbles in a row are one until something was called."""
    at, results = None, []
    for header in headers:
        row = find("bubbleId:%s:%s" % (session, header["bubbleId"]))
        if row is None:
            continue
        bubble = json.loads(row)
        tool = bubble.get("toolFormerData")
        if at and (bubble["type"] == 1 or results and not (tool and tool.get("modelCallId") == at["call"])):
            yield at["line"]
            yield from results
            at, results = None, []
        if bubble["type"] == 1:
            parts = [{"type": "context", "tag": "file", "data": f} for f in bubble.get("context", {}).get("fileSelections", [])]
            yield {"type": "message", "id": bubble["bubbleId"], "role": "user", "at": bubble.get("createdAt"), "parts": parts + [{"type": "text", "text": bubble["text"]}]}
            continue
        if not at:
            at = {"line": {"type": "message", "id": bubble["bubbleId"], "role": "assistant", "at": bubble.get("createdAt"), "parts": []}, "call": None}
        parts = at["line"]["parts"]
        if bubble.get("thinking"):
            parts.append({"type": "thinking", "text": bubble["thinking"]["text"], "millis": bubble.get("thinkingDurationMs")})
        if bubble.get("text"):
            parts.append({"type": "text", "text": bubble["text"]})
        if tool:
            at["call"] = tool.get("modelCallId")
            parts.append({"type": "tool_call", "id": tool["toolCallId"], "name": tool["name"], "kind": KINDS[tool["tool"]], "input": plain(tool["rawArgs"]), "args": plain(tool["params"])})
            results.append({"type": "message", "id": bubble["bubbleId"] + "-result", "role": "tool",
                            "parts": [{"type": "tool_result", "call": tool["toolCallId"], "status": "success", "value": plain(tool["result"])}]})
    if at:
        yield at["line"]
        yield from results


def main(folder, out, only=None):
    db = sqlite3.connect("file:%s?mode=ro&immutable=1" % os.path.join(folder, "globalStorage", "state.vscdb"), uri=True)

    def find(key):
        row = db.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (key,)).fetchone()
        return row and row[0]

    at = os.path.join(out, "cursor-ide")
    os.makedirs(at)
    for session, value in db.execute("SELECT composerId, value FROM composerHeaders ORDER BY composerId").fetchall():
        if only and session != only:
            continue
        head, record = json.loads(value), json.loads(find("composerData:" + session))
        with open(os.path.join(at, session + ".jsonl"), "w") as file:
            file.write(spelled({"type": "session", "version": 1, "id": session, "agent": "cursor-ide", "title": head["name"],
                                "workspace": head["workspaceIdentifier"]["uri"]["fsPath"], "mode": record["unifiedMode"], "model": record["modelConfig"]["modelName"]}))
            for line in messages(find, session, record["fullConversationHeadersOnly"]):
                file.write(spelled(line))


if __name__ == "__main__":
    main(*sys.argv[1:])

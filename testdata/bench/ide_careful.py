#!/usr/bin/env python3
"""Reads an editor's sessions as ide_small.py does, with the promises that rehome
makes: what it does not know of a bubble rides along, every line is held against
what a line may be, and nothing appears under its name before it was read back
and found the same.

    ide_careful.py USER-DIR OUT-FOLDER
"""
import json
import os
import sqlite3
import sys

import ide_small as small
import session_careful as careful

KNOWN = {"_v", "type", "bubbleId", "text", "createdAt", "thinking", "thinkingDurationMs", "capabilityType", "toolFormerData"}
KNOWN_TOOL = {"tool", "toolIndex", "toolCallId", "modelCallId", "name", "rawArgs", "params", "result", "status"}


def extras(bubble):
    """What nobody claimed of a bubble and of its tool."""
    for of, known in ((bubble, KNOWN), (bubble.get("toolFormerData") or {}, KNOWN_TOOL)):
        for name, value in of.items():
            if name not in known and value not in ([], {}, "", False, None, 0):
                yield {"name": name, "raw": value}


def lines(db, session, head):
    def find(key):
        row = db.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (key,)).fetchone()
        if row:
            seen.extend(extras(json.loads(row[0])))
        return row and row[0]

    seen = []
    record = json.loads(db.execute("SELECT value FROM cursorDiskKV WHERE key = ?", ("composerData:" + session,)).fetchone()[0])
    yield careful.spelled(careful.valid({"type": "session", "version": 1, "id": session, "agent": "cursor-ide", "title": head["name"], "model": record["modelConfig"]["modelName"]}))
    for line in small.messages(find, session, record["fullConversationHeadersOnly"]):
        line["extras"], seen[:] = list(seen), []
        yield careful.spelled(careful.valid(line))


def main(folder, out):
    db = sqlite3.connect("file:%s?mode=ro&immutable=1" % os.path.join(folder, "globalStorage", "state.vscdb"), uri=True)
    at = os.path.join(out + ".part", "cursor-ide")
    os.makedirs(at)
    for session, value in db.execute("SELECT composerId, value FROM composerHeaders ORDER BY composerId").fetchall():
        careful.write(os.path.join(at, session + ".jsonl"), lines(db, session, json.loads(value)))
    os.rename(out + ".part", out)


if __name__ == "__main__":
    main(*sys.argv[1:])

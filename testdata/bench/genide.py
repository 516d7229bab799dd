#!/usr/bin/env python3
"""Makes a user dir of the editor as it writes it today: heads in a table of
their own, a record for each session that lists its bubbles, and a row for each
bubble. The same arguments give the same records.

    genide.py FOLDER MB     about MB megabytes, 6 KB a bubble
"""
import hashlib
import json
import os
import random
import sys

import gen

START = 1_780_000_000_000

# What every bubble has and says nothing with.
EMPTY = {n: [] for n in (
    "approximateLintErrors lints codebaseContextChunks commits pullRequests attachedCodeChunks assistantSuggestedDiffs gitDiffs "
    "interpreterResults images attachedFolders attachedFoldersNew userResponsesToSuggestedCodeBlocks suggestedCodeBlocks "
    "diffsForCompressingFiles relevantFiles toolResults notepads capabilities multiFileLinterErrors diffHistories "
    "recentlyViewedFiles recentLocationsHistory fileDiffTrajectories docsReferences webReferences aiWebSearchResults "
    "attachedFoldersListDirResults humanChanges summarizedComposers cursorRules contextPieces editTrailContexts "
    "allThinkingBlocks diffsSinceLastApply deletedFiles supportedTools consoleLogs uiElementPicked knowledgeItems "
    "documentationSelections externalLinks projectLayouts capabilityContexts todos mcpDescriptors workspaceUris").split()}
EMPTY.update({n: False for n in (
    "isAgentic attachedHumanChanges existedSubsequentTerminalCommand existedPreviousTerminalCommand "
    "editToolSupportsSearchAndReplace isRefunded useWeb").split()})

TOOLS = ((40, "read_file_v2"), (15, "run_terminal_cmd"), (41, "grep"), (38, "edit_file_v2"), (42, "glob_file_search"))


def moment(ms):
    import datetime
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (ms % 1000)


class Chat:
    """A session while it is written."""

    def __init__(self, con, w, n, space):
        self.con, self.w, self.id, self.headers, self.now = con, w, w.uuid(), [], START + n * 100_000
        self.bytes, self.space, self.since = 0, space, self.now

    def put(self, key, value):
        self.con.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, value))
        self.bytes += len(value.encode())

    def bubble(self, kind, **more):
        self.now += 1500
        b = dict(EMPTY, _v=3, type=kind, bubbleId=self.w.uuid(), createdAt=moment(self.now), unifiedMode=2, isAgentic=True,
                 requestId=self.request, tokenCount={"inputTokens": 0, "outputTokens": 0}, **more)
        self.headers.append({"bubbleId": b["bubbleId"], "type": kind})
        if self.w.rng.random() < 0.17:  # a turn that was asked anew
            self.put("bubbleId:%s:%s" % (self.id, self.w.uuid()), gen.spelled(dict(EMPTY, _v=3, type=kind, text="not any more")))
        self.put("bubbleId:%s:%s" % (self.id, b["bubbleId"]), gen.spelled(b))

    def turn(self):
        w, rng = self.w, self.w.rng
        self.request = w.uuid()
        words = w.text(w.size(600, 1.0, 40, 20000))
        rich = {"root": {"children": [{"children": [{"text": words, "type": "text"}], "type": "paragraph"}], "type": "root"}}
        self.bubble(1, text=words, richText=gen.spelled(rich), modelInfo={"modelName": "composer-2"}, checkpointId=w.uuid(),
                    context={"fileSelections": [{"uri": {"path": "/work/" + w.uuid()}}], "mentions": {}})
        for _ in range(rng.randint(1, 9)):
            if rng.random() < 0.5:
                self.bubble(2, text="", capabilityType=30, thinking={"text": w.text(w.size(900, 1.0, 50, 50000)), "signature": ""}, thinkingDurationMs=rng.randint(100, 9000))
            if rng.random() < 0.4:
                self.bubble(2, text=w.text(w.size(500, 1.0, 20, 20000)), codeBlocks=[])
            number, name = rng.choice(TOOLS)
            args = gen.spelled({"path": "/work/" + w.uuid(), "why": w.text(60)})
            result = gen.spelled({"contents": w.text(w.size(5500, 1.2, 100, 1 << 20)), "exitCode": 0})
            self.bubble(2, text="", capabilityType=15, toolFormerData={
                "tool": number, "toolIndex": 0, "modelCallId": w.uuid(), "toolCallId": "call_" + w.uuid(), "status": "completed", "name": name,
                "rawArgs": args, "params": args, "result": result, "additionalData": {}})
        self.bubble(2, text=w.text(w.size(1500, 1.0, 50, 50000)), codeBlocks=[])

    def close(self):
        head = {"type": "head", "composerId": self.id, "name": self.w.text(40)[:60], "createdAt": self.since, "lastUpdatedAt": self.now, "unifiedMode": "agent",
                "workspaceIdentifier": {"id": self.space, "uri": {"$mid": 1, "fsPath": "/work/" + self.space, "external": "file:///work/" + self.space, "path": "/work/" + self.space, "scheme": "file"}}}
        self.con.execute("INSERT INTO composerHeaders VALUES (?,?,?,?,0,0,?,NULL,?)", (self.id, self.space, self.since, self.now, self.now, gen.spelled(head)))
        self.put("composerData:" + self.id, gen.spelled({
            "_v": 17, "composerId": self.id, "name": head["name"], "richText": "", "hasLoaded": True, "text": "", "fullConversationHeadersOnly": self.headers,
            "conversationMap": {}, "status": "completed", "createdAt": self.since, "lastUpdatedAt": self.now, "unifiedMode": "agent",
            "modelConfig": {"modelName": "composer-2", "maxMode": False}, "conversationState": "~", "codeBlockData": {}, "originalFileStates": {}}))


def main(folder, megabytes):
    w = gen.Words(random.Random("ide 1"))
    os.makedirs(os.path.join(folder, "globalStorage"))
    con = gen.fresh(os.path.join(folder, "globalStorage", "state.vscdb"))
    for table in ("ItemTable", "cursorDiskKV"):
        con.execute("CREATE TABLE %s (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)" % table)
    con.execute("CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER, "
                "isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT)")
    con.execute("PRAGMA user_version = 1")
    spaces = [hashlib.md5(b"space %d" % i).hexdigest() for i in range(30)]
    total = n = 0
    while total < megabytes << 20:
        chat = Chat(con, w, n, spaces[n % len(spaces)])
        for _ in range(w.size(12, 1.0, 1, 300)):
            chat.turn()
        chat.close()
        total += chat.bytes
        n += 1
    con.commit()
    con.close()
    for s in spaces:
        at = os.path.join(folder, "workspaceStorage", s)
        os.makedirs(at)
        with open(os.path.join(at, "workspace.json"), "w") as f:
            json.dump({"folder": "file:///work/" + s}, f)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

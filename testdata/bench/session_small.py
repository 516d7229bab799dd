#!/usr/bin/env python3
"""The least that somebody would write to read chats: follow the turns of the
newest state, join them with the messages that the model saw on the ids of the
tool calls, and write one line a message.

    session_small.py FOLDER OUT-FOLDER      every store.db below FOLDER

It knows three tools, drops what it does not know, and checks nothing.
"""
import json
import os
import re
import sqlite3
import sys


def fields(data):
    """One level of a message: number -> values."""
    found, at, end = {}, 0, len(data)
    while at < end:
        tag = shift = 0
        while True:
            byte = data[at]
            at += 1
            tag |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        found.setdefault(tag >> 3, []).append(value)
    return found


TOOLS = {
    1: ("shell", {1: "command", 3: "timeout", 4: "toolCallId", 5: ["simpleCommands"], 13: "timeoutBehavior"}, {1: "success", 2: "failure"}, {1: "command", 2: "workingDirectory", 3: "exitCode", 5: "stdout", 7: "executionTime"}),
    8: ("read", {1: "path"}, {1: "success"}, {1: "content", 4: "totalLines", 5: "fileSize", 7: "path"}),
    12: ("edit", {1: "path", 6: "streamContent"}, {1: "success"}, {1: "path", 3: "linesAdded", 4: "linesRemoved", 5: "diffString", 7: "afterFullFileContent"}),
}


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def typed(data, names):
    out = {}
    for number, values in fields(data).items():
        name = names.get(number)
        if isinstance(name, list):
            out[name[0]] = [text(v) for v in values]
        elif name:
            out[name] = text(values[-1])
    return out


QUERY = re.compile(r"^(.*?)<user_query>\n(.*)\n</user_query>$", re.S)
TAG = re.compile(r"<(\w+)>\n?(.*?)\n?</\1>", re.S)


def session(con):
    """The lines of one chat."""
    blob = dict(con.execute("SELECT id, data FROM blobs"))
    meta = json.loads(bytes.fromhex(con.execute("SELECT value FROM meta WHERE key = '0'").fetchone()[0]))
    get = lambda ref: blob[ref.hex()]
    root = fields(blob[meta["latestRootBlobId"]])
    yield {"type": "session", "id": meta["agentId"], "title": meta["name"], "created": meta["createdAt"], "model": meta.get("lastUsedModel")}
    prompts = [json.loads(get(ref)) for ref in root.get(1, [])]
    shown, asked = {}, {}
    for m in prompts:
        for part in m["content"] if isinstance(m["content"], list) else ():
            if part["type"] == "tool-result":
                shown[part["toolCallId"]] = part
            elif part["type"] == "tool-call":
                asked[part["toolCallId"]] = part
    around = []
    for m in prompts:
        if m["role"] == "system":
            yield {"type": "message", "role": "system", "parts": [{"type": "text", "text": m["content"]}]}
        elif m["role"] == "user":
            found = QUERY.match(m["content"][0]["text"])
            tags = [{"type": "context", "tag": t, "text": x} for t, x in TAG.findall(found[1] if found else m["content"][0]["text"])]
            if found:
                around.append(tags)
            else:
                yield {"type": "message", "role": "user", "simulated": True, "parts": tags}
    signed = {part["text"]: part.get("signature") for m in prompts if m["role"] == "assistant" for part in m["content"] if part["type"] == "reasoning"}
    for n, ref in enumerate(root.get(8, [])):
        yield from turn(get, fields(fields(get(ref))[1][0]), n, around, asked, shown, signed, fields(root[14][n]))


def turn(get, t, n, around, asked, shown, signed, timing):
    user = fields(get(t[1][0]))
    parts = around[n] + [{"type": "text", "text": text(user[1][0])}]
    record = {"number": n + 1, "requestId": text(t[3][0]), "model": text(t[7][0]), "end": timing[2][0], "start": timing[2][0] - timing[1][0]}
    yield {"type": "message", "role": "user", "turn": record, "at": user[25][0], "parts": parts}
    parts, results = [], []
    for ref in t.get(2, []):
        step = fields(get(ref))
        if results and 2 not in step:
            yield from said(parts, results)
            parts, results = [], []
        if 1 in step:
            parts.append({"type": "text", "text": text(fields(step[1][0])[1][0])})
        elif 3 in step:
            thought = fields(step[3][0])
            words = text(thought[1][0])
            parts.append({"type": "thinking", "text": words, "signature": signed.get(words), "millis": thought[2][0]})
        else:
            call = fields(step[2][0])
            number = next(k for k in call if k in TOOLS)
            kind, args, cases, value = TOOLS[number]
            body, name = fields(call[number][0]), text(call[57][0])
            case, result = next(iter(fields(body[2][0]).items()))
            ask, show = asked[name], shown[name]
            parts.append({"type": "tool_call", "id": name, "name": ask["toolName"], "kind": kind, "input": ask["args"], "args": typed(body[1][0], args), "start": call[59][0], "end": call[60][0]})
            results.append({"type": "tool_result", "call": name, "status": cases[case], "content": [{"type": "text", "text": show["result"]}], "value": {cases[case]: typed(result[0], value)}})
    yield from said(parts, results)


def said(parts, results):
    if parts:
        yield {"type": "message", "role": "assistant", "parts": parts}
    for r in results:
        yield {"type": "message", "role": "tool", "parts": [r]}


def main(folder, out):
    os.makedirs(out)
    for at, _, names in os.walk(folder):
        if "store.db" in names:
            con = sqlite3.connect("file:%s?immutable=1" % os.path.join(at, "store.db"), uri=True)
            with open(os.path.join(out, os.path.basename(at) + ".jsonl"), "w", encoding="utf-8") as f:
                for line in session(con):
                    f.write(json.dumps(line, ensure_ascii=False) + "\n")
            con.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
"""The least that somebody would write for the Cursor SDK's two stores: read,
json.loads, json.dumps, write.

    sdk_small.py dump STATE-ROOT FOLDER     the four .ndjson files
    sdk_small.py load FOLDER STATE-ROOT     index.db and the agents' store.db

It loses row ids, the rows of meta tables, and whatever the other store has no
room for, and checks nothing.
"""
import base64
import datetime
import hashlib
import json
import os
import sqlite3
import sys

UTC = datetime.timezone.utc


def spelled(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def ms(iso):
    return iso and round(datetime.datetime.fromisoformat(iso).timestamp() * 1000)


def iso(millis):
    return millis and datetime.datetime.fromtimestamp(millis / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (millis % 1000)


def ref(text):
    return text and {"schemaVersion": 1, "rootBlobId": json.loads(text)["blobId"]}


def unref(doc):
    return doc and spelled({"blobId": doc["rootBlobId"], "storeKind": "local-agent-store"})


def agent(row):
    aid, cwd, status, active, checkpoint, name, meta, created, updated = row
    doc = {"agentId": aid, "cwd": cwd, "status": status.lower(), "activeRunId": active, "name": name, "createdAt": ms(created), "updatedAt": ms(updated), "sdkMetadata": json.loads(meta)}
    return {**doc, "latestCheckpoint": ref(checkpoint)} if checkpoint else doc


def unagent(d):
    return (d["agentId"], d["cwd"], d["status"].upper(), d.get("activeRunId"), unref(d.get("latestCheckpoint")), d.get("name"),
            spelled(d.get("sdkMetadata", {})), iso(d["createdAt"]), iso(d["updatedAt"]))


def run(row):
    rid, request, aid, turn, status, model, params, first, last, error, usage_ref, usage, result, created, updated, started, finished, cancelled, expired = row
    model = model and ({"id": model, "params": json.loads(params)} if params else {"id": model})
    return {"runId": rid, "requestId": request, "agentId": aid, "turnNumber": turn, "status": status.lower(), "model": model, "result": result, "error": error,
            "usageRef": usage_ref, "usage": usage and json.loads(usage), "createdAt": ms(created), "updatedAt": ms(updated), "startedAt": ms(started),
            "endedAt": ms(finished or cancelled or expired), "startCheckpointRef": ref(first), "latestCheckpointRef": ref(last)}


def unrun(d):
    model, usage, status, ended = d.get("model") or {}, d.get("usage"), d["status"], iso(d.get("endedAt"))
    return (d["runId"], d.get("requestId"), d["agentId"], d["turnNumber"], status.upper(), model.get("id"), spelled(model["params"]) if model.get("params") else None,
            unref(d.get("startCheckpointRef")), unref(d.get("latestCheckpointRef")), d.get("error"), d.get("usageRef"), usage and spelled(usage), d.get("result"),
            iso(d["createdAt"]), iso(d["updatedAt"]), iso(d.get("startedAt")),
            ended if status == "finished" else None, ended if status == "cancelled" else None, ended if status == "expired" else None)


def event(row):
    rid, seq, offset, kind, payload, payload_ref, once, created = row
    return {"runId": rid, "seq": seq, "offset": offset, "eventType": kind, "payload": payload and json.loads(payload), "payloadRef": payload_ref, "idempotencyKey": once, "createdAt": created}


def unevent(d):
    return d["runId"], d["seq"], d["offset"], d["eventType"], spelled(d["payload"]), d["payloadRef"], d["idempotencyKey"], d["createdAt"]


def checkpoint(aid, row):
    return {"agentId": aid, "blobId": row[0], "dataBase64": base64.b64encode(row[1]).decode()}


def uncheckpoint(d):
    return d["blobId"], base64.b64decode(d["dataBase64"])


KINDS = {"agents": (agent, unagent, 9), "runs": (run, unrun, 19), "run_events": (event, unevent, 8)}


def agent_folder(root, aid):
    return os.path.join(root, "agents", "agent-" + hashlib.sha256(aid.encode()).hexdigest())


def open_ro(path):
    # Read in any other way, a store in WAL mode is left with -wal and -shm files.
    return sqlite3.connect("file:%s?immutable=1" % path, uri=True)


def new_catalog(root):
    con = sqlite3.connect(os.path.join(root, "index.db"))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sdk.sql"), encoding="utf-8") as f:
        con.executescript(f.read())
    return con


def new_store(root, aid):
    os.makedirs(agent_folder(root, aid))
    con = sqlite3.connect(os.path.join(agent_folder(root, aid), "store.db"))
    con.executescript("PRAGMA user_version = 1; CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);")
    return con


def dump(root, out):
    os.makedirs(out)
    con = open_ro(os.path.join(root, "index.db"))
    for table, (doc, _, _) in KINDS.items():
        with open(os.path.join(out, table + ".ndjson"), "w", encoding="utf-8") as f:
            for row in con.execute("SELECT * FROM %s" % table):
                f.write(spelled(doc(row)) + "\n")
    with open(os.path.join(out, "checkpoints.ndjson"), "w", encoding="utf-8") as f:
        for (aid,) in con.execute("SELECT agent_id FROM agents ORDER BY rowid"):
            path = os.path.join(agent_folder(root, aid), "store.db")
            if os.path.exists(path):
                for row in open_ro(path).execute("SELECT * FROM blobs"):
                    f.write(spelled(checkpoint(aid, row)) + "\n")


def load(folder, root):
    os.makedirs(root)
    con = new_catalog(root)
    for table, (_, row, width) in KINDS.items():
        insert = "INSERT INTO %s VALUES (%s)" % (table, ",".join("?" * width))
        with open(os.path.join(folder, table + ".ndjson"), encoding="utf-8") as f:
            for line in f:
                con.execute(insert, row(json.loads(line)))
    con.commit()
    con.close()
    stores = {}
    with open(os.path.join(folder, "checkpoints.ndjson"), encoding="utf-8") as f:
        for line in f:
            doc = json.loads(line)
            if doc["agentId"] not in stores:
                stores[doc["agentId"]] = new_store(root, doc["agentId"])
            stores[doc["agentId"]].execute("INSERT INTO blobs VALUES (?, ?)", uncheckpoint(doc))
    for con in stores.values():
        con.commit()
        con.close()


if __name__ == "__main__":
    verb, source, target = sys.argv[1:]
    {"dump": dump, "load": load}[verb](source, target)

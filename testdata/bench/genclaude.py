#!/usr/bin/env python3
"""Makes a session of Claude Code, as version 2.1 writes it: a line for each block
of an answer, and results twice, as the model saw them and as records for the
screen. The same arguments give the same bytes.

    genclaude.py FOLDER MB             FOLDER/session.jsonl
    genclaude.py FOLDER MB one|each    with a token in the first or in each line

Most results have 1 to 8 KB, one in twenty has 20 to 100 KB. Text is code, logs and
prose: indented lines with quotes, one word in a hundred not in ASCII.
"""
import datetime
import os
import random
import string
import sys

from gen import Words, spelled

ID = "10000000-0000-4000-8000-000000000001"
START = datetime.datetime(2026, 10, 1, 9, tzinfo=datetime.timezone.utc)
ENVELOPE = {"isSidechain": False, "userType": "external", "entrypoint": "cli", "cwd": "/home/ann/app", "sessionId": ID, "version": "2.1.328", "gitBranch": "main"}


class Code(Words):
    """Words as lines of code and prose have them."""

    def __init__(self, rng):
        super().__init__(rng)
        plain = [w for w in "".join(self.lines).split() if w.isascii()][:3000]
        foreign = [w for w in "".join(self.lines).split() if not w.isascii()][:30]
        marks = ["{", "}", "()", ":=", "!=", "nil,", "//", "->", "[i]", '"quoted"', "'", "fmt.Errorf(\"%w\\n\",", "&", "<b>", "|"] * 50
        words = plain + foreign + marks
        self.lines = ["\t" * rng.randrange(4) + " ".join(rng.choices(words, k=rng.randint(2, 10))) for _ in self.lines]


class Session:
    def __init__(self, out, words, tokens):
        self.out, self.w, self.rng, self.size = out, words, words.rng, 0
        self.tokens, self.secret = tokens, random.Random("claude tokens")
        self.parent, self.now, self.calls, self.todos = None, START, 0, []

    def token(self):
        """What rehome redact finds, put together here so that no scanner of repositories does."""
        return {"slug": "token gh" + "p_%s" % "".join(self.secret.choices(string.ascii_letters + string.digits, k=36))}

    def line(self, kind, **more):
        if self.tokens == "each" or self.tokens == "one" and not self.size:
            more.update(self.token())
        self.now += datetime.timedelta(milliseconds=self.rng.randint(5, 4000))
        at = self.now.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (self.now.microsecond // 1000)
        uuid = self.w.uuid()
        text = spelled({"parentUuid": self.parent, **ENVELOPE, "type": kind, **more, "uuid": uuid, "timestamp": at}) + "\n"
        self.parent = uuid
        self.size += len(text.encode())
        self.out.write(text)

    def block(self, message, content):
        usage = {"input_tokens": 3, "cache_creation_input_tokens": 812, "cache_read_input_tokens": 48211, "output_tokens": 311, "service_tier": "standard"}
        whole = {"model": "claude-opus-5-5", "id": message, "type": "message", "role": "assistant", "content": [content], "stop_reason": None, "stop_sequence": None, "usage": usage}
        self.line("assistant", message=whole, requestId="req_" + message[4:])

    def turn(self):
        w = self.w
        self.line("user", message={"role": "user", "content": w.text(w.size(200, 0.8, 30, 4000))}, promptId=w.uuid(), permissionMode="default", promptSource="typed")
        for _ in range(w.size(8, 0.7, 1, 60)):
            self.answer(True)
        self.answer(False)

    def answer(self, calls):
        w, rng = self.w, self.rng
        message = "msg_01%022x" % rng.getrandbits(88)
        if rng.random() < 0.4:
            self.block(message, {"type": "thinking", "thinking": w.text(w.size(500, 0.8, 50, 8000)), "signature": "%0200x" % rng.getrandbits(800)})
        if not calls or rng.random() < 0.6:
            self.block(message, {"type": "text", "text": w.text(w.size(250, 0.9, 30, 6000))})
        made = []
        for _ in range(rng.choice((1, 1, 1, 2, 3)) if calls else 0):
            self.calls += 1
            call = "toolu_01%022d" % self.calls
            name, args, shown, record = rng.choices((self.bash, self.read, self.edit, self.grep, self.write, self.todo), (34, 28, 18, 10, 5, 5))[0]()
            self.block(message, {"type": "tool_use", "id": call, "name": name, "input": args})
            made.append((call, shown, record, self.parent))
        for call, shown, record, source in made:
            content = {"tool_use_id": call, "type": "tool_result", "content": shown}
            if isinstance(record, str):
                content["is_error"] = True
            self.line("user", message={"role": "user", "content": [content]}, toolUseResult=record, sourceToolAssistantUUID=source)

    def text(self):
        if self.rng.random() < 0.05:
            return self.w.text(self.rng.randint(20_000, 100_000))
        return self.w.text(self.rng.randint(1000, 8000))

    def path(self):
        return "/home/ann/app/pkg%d/file%d.go" % (self.rng.randrange(40), self.rng.randrange(30))

    def bash(self):
        args, out = {"command": "go test ./pkg%d/... 2>&1 | tail -n 40" % self.rng.randrange(40), "description": self.w.text(40)}, self.text()
        if self.rng.random() < 0.1:
            return "Bash", args, "Exit code 1\n" + out, "Error: Exit code 1\n" + out
        return "Bash", args, out, {"stdout": out, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}

    def read(self):
        path, text = self.path(), self.text()
        lines = text.split("\n")
        shown = "\n".join("%6d\t%s" % (n, line) for n, line in enumerate(lines, 1))
        return "Read", {"file_path": path}, shown, {"type": "text", "file": {"filePath": path, "content": text, "numLines": len(lines), "startLine": 1, "totalLines": len(lines)}}

    def edit(self):
        path, text = self.path(), self.text()
        lines = text.split("\n")
        at = self.rng.randrange(len(lines))
        old, new, around = lines[at], self.w.text(200), [" " + x for x in lines[max(0, at - 3):at]]
        patch = {"oldStart": at - len(around) + 1, "oldLines": len(around) + 1, "newStart": at - len(around) + 1, "newLines": len(around) + 1 + new.count("\n"), "lines": around + ["-" + old] + ["+" + x for x in new.split("\n")]}
        record = {"filePath": path, "oldString": old, "newString": new, "originalFile": text, "structuredPatch": [patch], "userModified": False, "replaceAll": False}
        shown = "The file %s has been updated. Here is a part of it:\n%s" % (path, "\n".join(around + [new]))
        return "Edit", {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}, shown, record

    def grep(self):
        out = self.text()
        return "Grep", {"pattern": self.w.text(20)[:20], "path": "/home/ann/app", "output_mode": "content", "-n": True}, out, {"mode": "content", "numFiles": 0, "filenames": [], "content": out, "numLines": out.count("\n") + 1}

    def write(self):
        path, text = self.path(), self.text()
        return "Write", {"file_path": path, "content": text}, "File created successfully at: " + path, {"type": "create", "filePath": path, "content": text, "structuredPatch": [], "originalFile": None, "userModified": False}

    def todo(self):
        old = self.todos
        self.todos = [{"content": self.w.text(60), "status": self.rng.choice(("pending", "in_progress", "completed")), "activeForm": self.w.text(60)} for _ in range(self.rng.randint(2, 8))]
        return "TodoWrite", {"todos": self.todos}, "Todos have been modified successfully.", {"oldTodos": old, "newTodos": self.todos}


def session(folder, megabytes, tokens=""):
    with open(os.path.join(folder, "session.jsonl"), "w", encoding="utf-8", newline="\n") as f:
        s = Session(f, Code(random.Random("claude 1")), tokens)
        while s.size < megabytes * 1_000_000:
            s.turn()


if __name__ == "__main__":
    session(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])

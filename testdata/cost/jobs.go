package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// job is a command; %/ in its words stands for the folder of the jobs.
type job struct{ name, words string }

func (j job) args(dir string) []string {
	return strings.Fields(strings.ReplaceAll(j.words, "%/", dir+string(filepath.Separator)))
}

// jobs run one after the other: each makes what the next ones read.
var jobs = []job{
	{"text to Claude Code", "convert %/talk.jsonl %/.claude/projects/-home-ann-app --to claude-code"},
	{"text to the SDK", "convert %/talk.jsonl %/sdk --to cursor-sdk"},
	{"text to the IDE", "convert %/talk.jsonl %/ide --to cursor-ide"},
	{"text to a chat", "convert %/talk.jsonl %/chat.db --to cursor-chat"},
	{"Claude Code to the SDK", "convert %/.claude/projects/-home-ann-app %/again --to cursor-sdk"},
	{"a chat to Claude Code", "convert %/chat.db %/other --to claude-code"},
	{"the IDE to text", "convert %/ide %/ide.jsonl --to canonical"},
	{"a chat to an archive", "convert %/chat.db %/archive --to archive"},
	{"an archive to a chat", "convert %/archive %/back.db"},
	{"the SDK to lines", "convert %/sdk %/lines --to cursor-ndjson"},
	{"check the SDK", "check %/sdk"},
	{"check Claude Code", "check %/.claude"},
	{"show", "show %/sdk --tools full"},
	{"a page", "show %/.claude --format html --out %/page.html --yes --full"},
	{"search", "search parser"},
	{"list", "ls"},
	{"redact", "convert %/.claude %/redacted.jsonl --to canonical --redact"},
}

// conversation is a session of 200 turns, as canonical text.
func conversation() []byte {
	var out bytes.Buffer
	out.WriteString(`{"type":"session","version":1,"id":"5d0b2b7e-3c1f-4f6a-9d59-0f6a5a3f0001","agent":"cursor-cli","title":"A long talk","workspace":"/home/ann/app"}` + "\n")
	for n := 1; n <= 200; n++ {
		at := fmt.Sprintf("2026-01-02T%02d:%02d:00.000Z", n/60, n%60)
		fmt.Fprintf(&out, `{"type":"message","id":"u%d","role":"user","turn":{"number":%d},"at":%q,"parts":[{"type":"text","text":"Please mend the parser of dates, the %dth time."}]}`+"\n", n, n, at, n)
		fmt.Fprintf(&out, `{"type":"message","id":"a%d","role":"assistant","at":%q,"parts":[{"type":"thinking","text":"The parser reads %d first."},{"type":"text","text":"I **look** at it:\n\n- %s"},{"type":"tool_call","id":"c%d","name":"Shell","kind":"shell","args":{"command":"go test ./parser -run %d"}}]}`+"\n", n, at, n, strings.Repeat("one reason more ", n%40), n, n)
		fmt.Fprintf(&out, `{"type":"message","id":"r%d","role":"tool","at":%q,"parts":[{"type":"tool_result","call":"c%d","status":"success","value":{"success":{"exitCode":0,"stdout":%q}}}]}`+"\n", n, at, n, strings.Repeat("ok  \texample.com/parser\t0.012s\n", n))
	}
	return out.Bytes()
}

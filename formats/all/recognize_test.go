package all

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
)

// shape is a file, and who recognizes it.
type shape struct {
	what   string
	name   string // of the file
	text   string
	format string // "": nobody
	score  int
}

const (
	aSession = "0a1b2c3d-1111-4222-8333-444455556666"
	claude   = aSession + ".jsonl"
)

// member is what lines of Claude Code have in common, in the client's order.
func member(version string) string {
	return `"userType":"external","cwd":"/home/ann/app","sessionId":"` + aSession + `","version":"` + version + `","gitBranch":"main"`
}

func prompted(content string) string { return `"message":{"role":"user","content":` + content + `}` }

func claudeShapes() (out []shape) {
	const moment = `"timestamp":"2026-01-02T03:04:05.678Z"`
	const ids = `"uuid":"00000001-0000-4000-8000-000000000000",` + moment
	long, huge := strings.Repeat("say it again ", 60), strings.Repeat("iVBORw0KGgo", 500_000)
	picture := `[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + huge[:300_000] + `"}}]`
	user := `{"parentUuid":null,"isSidechain":false,` + member("2.1.328") + `,"type":"user",` + prompted(`"hello"`) + "," + ids + "}\n"
	bare := `{"type":"user",` + prompted(`"hello"`) + "," + moment + "}\n"
	add := func(what, text string) { out = append(out, shape{what, claude, text, "claude-code", 85}) }
	for _, version := range []string{"1.0.24", "1.0.43", "1.0.56", "2.0.28", "2.0.42", "2.0.77", "2.1.29", "2.1.114", "2.1.209", "2.1.328"} {
		head := `{"parentUuid":null,"isSidechain":false,` + member(version)
		add(version+": a prompt", head+`,"type":"user",`+prompted(`"hello"`)+","+ids+"}\n")
		add(version+": a prompt of parts", head+`,"type":"user",`+prompted(`[{"type":"text","text":"hello"}]`)+","+ids+"}\n")
		add(version+": a picture", head+`,"type":"user",`+prompted(picture)+","+ids+"}\n")
		add(version+": what a hook says", head+`,"type":"system","content":"Running PostToolUse:Edit...","isMeta":false,`+ids+`,"level":"info"}`+"\n")
		add(version+": a subagent that answers first", strings.Replace(head, `"isSidechain":false`, `"isSidechain":true,"agentId":"a1"`, 1)+`,"type":"assistant","message":{"role":"assistant","content":[]},`+ids+"}\n")
		add(version+": progress", head+`,"type":"progress","data":{"type":"hook_progress"},`+ids+"}\n")
		add(version+": context", head+`,"type":"attachment","attachment":{"type":"date"},`+ids+"}\n")
		add(version+": a boundary", head+`,"type":"system","subtype":"compact_boundary","content":"Conversation compacted",`+ids+"}\n")
	}
	of := `,"sessionId":"` + aSession + `"}` + "\n"
	for _, entry := range []string{
		`"type":"custom-title","customTitle":"T"`, `"type":"ai-title","aiTitle":"T"`, `"type":"agent-name","agentName":"N"`, `"type":"tag","tag":"t"`,
		`"type":"last-prompt","lastPrompt":"p","leafUuid":"u"`, `"type":"mode","mode":"normal"`, `"type":"permission-mode","permissionMode":"plan"`,
		`"type":"queue-operation","operation":"dequeue",` + moment, `"type":"cost-state","total":1`, `"type":"atis-latch","latched":[]`, `"type":"tools-used","tools":[]`,
		`"type":"api-request","hash":"h"`, `"type":"api-request-blob","blob":"` + huge[:200_000] + `"`, `"type":"system","subtype":"informational","content":"c"`,
	} {
		add("only "+entry[:min(len(entry), 40)], "{"+entry+of)
		add("first "+entry[:min(len(entry), 40)], "{"+entry+of+user)
	}
	for what, content := range map[string]string{"words": `"hello"`, "long": `"` + long + `"`, "parts": `[{"type":"text","text":"` + long + `"}]`, "70 kB": `"` + strings.Repeat(long, 90) + `"`, "a picture": picture, "five pictures": `["` + huge + `"]`} {
		add("queued, "+what, `{"type":"queue-operation","operation":"enqueue",`+moment+`,"content":`+content+of)
		add("queued in another order, "+what, `{"content":`+content+`,"type":"queue-operation",`+moment+`,"operation":"enqueue"`+of)
	}
	add("queued, longer than anybody reads", `{"type":"queue-operation","operation":"enqueue",`+moment+`,"content":"`+huge+huge+`"`+of)
	add("a summary", `{"type":"summary","summary":"S","leafUuid":"00000001-0000-4000-8000-000000000000"}`+"\n")
	add("a snapshot", `{"type":"file-history-snapshot","messageId":"m","snapshot":{"messageId":"m","trackedFileBackups":{},`+moment+`},"isSnapshotUpdate":false}`+"\n"+user)
	add("a change of a snapshot", `{"type":"file-history-delta","snapshotMessageId":"m","trackingPath":"p","backup":{}}`+"\n")
	add("a line of a type to come, that names the file", `{"type":"to-come","sessionId":"`+aSession+`"}`+"\n")
	add("a line of a type to come, and a prompt", `{"type":"to-come","sessionId":"s"}`+"\n"+user)
	add("with a byte order mark", "\ufeff"+user)
	add("with the line ends of Windows", strings.ReplaceAll(user+user, "\n", "\r\n"))
	add("behind blank lines", "\n\n  \n"+user)
	add("with garbage behind the first line", `{"type":"mode","sessionId":"s"}`+"\ngarbage\n"+user)
	add("without its line end", strings.TrimSpace(user))
	add("sessionId is no UUID", `{"type":"queue-operation","operation":"enqueue",`+moment+`,"sessionId":"one"}`+"\n"+strings.ReplaceAll(user, aSession, "one"))
	add("sessionId last, and no ids of lines", `{"type":"user",`+prompted(picture)+","+moment+of)
	add("a start, and then lines without ids", `{"type": "system", "subtype": "init", "sessionId": "one", "cwd": "/w", "version": "1.0.0"}`+"\n"+
		`{"type": "file-history-snapshot", "snapshot": {}}`+"\n"+`{"type": "user", "message": {"role": "user", "content": "hello"}, "sessionId": "one"}`+"\n")
	add("a uuid, and no parentUuid", `{"type":"user",`+prompted(`"hello"`)+`,`+ids+of)
	out = append(out,
		shape{"an export without ids", "export.jsonl", bare, "claude-code", 60},
		shape{"an export that begins with an answer", "export.jsonl", strings.Replace(bare, `"type":"user"`, `"type":"assistant"`, 1), "claude-code", 60},
		shape{"an export behind a title", "export.jsonl", `{"type":"custom-title","customTitle":"T"}` + "\n" + bare, "claude-code", 60},
		shape{"an export whose first prompt is long", "export.jsonl", strings.Replace(bare, "hello", strings.Repeat(long, 200), 1), "claude-code", 60},
		shape{"another ending", "session.txt", user, "", 0})
	return out
}

func ownShapes() []shape {
	const init = `{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","session_id":"s","model":"M","permissionMode":"default"}` + "\n"
	const result = `{"type":"result","subtype":"success","duration_ms":1,"duration_api_ms":1,"is_error":false,"result":"6","session_id":"s"}` + "\n"
	const user = `{"type":"user",` + `"message":{"role":"user","content":[{"type":"text","text":"hello"}]},"session_id":"s"}` + "\n"
	const head = `{"type":"session","version":1,"id":"a","agent":"cursor-cli"}` + "\n"
	rollout := `{"timestamp":"2026-01-02T03:04:05.678Z","type":"session_meta","payload":{"id":"` + aSession + `","cwd":"/w","originator":"codex_cli_rs","instructions":"` + strings.Repeat("do ", 900) + `"}}`
	const spoken = `{"role":"user","message":{"content":[{"type":"text","text":"hello"}]}}` + "\n"
	return []shape{
		{"a capture", "capture.jsonl", init + user, "stream-json", 90},
		{"a capture of no ending", "capture", init + user, "stream-json", 90},
		{"a capture from its prompt on", "capture.jsonl", user, "stream-json", 70},
		{"a call", "capture.jsonl", `{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":{"args":{}}},"session_id":"s"}` + "\n", "stream-json", 70},
		{"a result alone", "out.json", result, "stream-json", 85},
		{"behind a build's talk", "build.log", "npm warn config\n\n" + init, "stream-json", 90},
		{"behind a build's talk, in a text", "build.txt", "npm warn config\n" + result, "stream-json", 85},
		{"behind another program's JSON", "build.jsonl", `{"level":"info"}` + "\n" + init, "stream-json", 90},
		{"as a build server stamps it", "build.log", "2026-11-20T12:00:00Z " + init, "stream-json", 90},
		{"in a source file", "stream_test.go", "package x\n\nconst text = `\n" + init + user + "`\n", "", 0},
		{"in a page", "README.md", "# Captures\n\n" + init, "", 0},
		{"in a script", "run.sh", "#!/bin/sh\ncat <<.\n" + result + ".\n", "", 0},
		{"canonical", "a.jsonl", head, "canonical", 100},
		{"canonical, of no ending", "a", head, "canonical", 100},
		{"canonical, its members in another order", "a.jsonl", `{"agent": "x", "title": "` + strings.Repeat("T", 1000) + `", "id": "a", "version": 1, "type": "session"}` + "\n", "canonical", 100},
		{"canonical of a later version", "a.jsonl", strings.Replace(head, `"version":1`, `"version":2`, 1), "canonical", 100},
		{"a transcript", "t.jsonl", spoken, "cursor-transcript", 60},
		{"a transcript with a long prompt", "t.jsonl", strings.Replace(spoken, "hello", strings.Repeat("hello ", 30_000), 1), "cursor-transcript", 60},
		{"a transcript in its folder", "agent-transcripts/" + aSession + "/" + aSession + ".jsonl", spoken, "cursor-transcript", 90},
		{"a transcript behind a mark", "t.jsonl", `{"type":"metadata","metadata":{}}` + "\n" + spoken, "cursor-transcript", 60},
		{"a text in the folder of transcripts", "agent-transcripts/" + aSession + ".txt", "user:\nhello\n", "cursor-transcript", 85},
		{"a rollout", "rollout-2026-01-02T03-04-05-" + aSession + ".jsonl", rollout, "codex", 90},
		{"a rollout of another name", "copy.jsonl", rollout, "codex", 90},
		{"a rollout with an ordinal and a long system prompt", "copy.jsonl", strings.Replace(rollout, `"type":"session_meta"`, `"ordinal":0,"type":"session_meta"`, 1), "codex", 90},
		{"an early rollout", "rollout-2025-05-02T03-04-05-" + aSession + ".jsonl", `{"id":"` + aSession + `","timestamp":"2025-05-02T03:04:05.678Z","instructions":null,"git":{}}` + "\n", "codex", 85},
		{"a compressed rollout", "rollout-2026-01-02T03-04-05-" + aSession + ".jsonl.zst", "\x28\xb5\x2f\xfd\x00", "codex", 85},
		{"a text like a transcript's", "notes.txt", "user:\nhello\n", "cursor-transcript", formats.Guess},
	}
}

// foreignShapes are what other programs write.
func foreignShapes() (out []shape) {
	for what, text := range map[string]string{
		"Codex, early, without its name":    `{"id":"` + aSession + `","timestamp":"2025-05-02T03:04:05.678Z","instructions":null,"git":{}}` + "\n" + `{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}`,
		"Codex, as a stream":                `{"type":"thread.started","thread_id":"` + aSession + `"}` + "\n" + `{"type":"turn.started"}`,
		"Gemini, a log":                     `{"sessionId":"` + aSession + `","messageId":0,"type":"user","message":"hello","timestamp":"2026-01-02T03:04:05.678Z"}`,
		"Gemini, as a stream":               `{"type":"init","timestamp":"2026-01-02T03:04:05.678Z","session_id":"` + aSession + `","model":"m"}` + "\n" + `{"type":"message","role":"user","content":"hello","timestamp":"2026-01-02T03:04:05.678Z"}`,
		"a relative of Gemini":              `{"uuid":"u","parentUuid":null,"sessionId":"` + aSession + `","timestamp":"2026-01-02T03:04:05.678Z","type":"user","cwd":"/w","version":"0.5","message":{"role":"user","parts":[{"text":"hello"}]}}`,
		"a relative of Gemini, its notes":   `{"uuid":"u","parentUuid":null,"sessionId":"` + aSession + `","timestamp":"2026-01-02T03:04:05.678Z","type":"system","subtype":"ui_telemetry","systemPayload":{}}`,
		"Claude Code, as a stream":          `{"type":"system","subtype":"init","cwd":"/w","session_id":"` + aSession + `","tools":["Bash"],"mcp_servers":[],"model":"m","permissionMode":"default","apiKeySource":"none","uuid":"u"}` + "\n" + `{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","content":[]},"parent_tool_use_id":null,"session_id":"s","uuid":"u"}`,
		"Claude Code, a prompt of a stream": `{"type":"user","uuid":"u","session_id":"one","parent_tool_use_id":null,"message":{"role":"user","content":"hello"}}`,
		"Claude Code, a stream's result":    `{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"6","session_id":"s","total_cost_usd":0.1,"usage":{}}`,
		"another stream of the kind":        `{"type":"system","subtype":"init","cwd":"/w","session_id":"T-1","tools":[],"mcp_servers":[]}`,
		"a session's start by an event":     `{"type":"session.start","data":{"sessionId":"` + aSession + `","version":1},"id":"1","timestamp":"2026-01-02T03:04:05.678Z","parentId":null}`,
		"a session's start by another":      `{"type":"session_start","id":"` + aSession + `","title":"T","cwd":"/w"}` + "\n" + `{"type":"message","id":"1","message":{"role":"user","content":[]}}`,
		"roles and content":                 `{"role":"user","content":"hello"}` + "\n" + `{"role":"assistant","content":"hi"}`,
		"samples for training":              `{"messages":[{"role":"user","content":"hello"}]}`,
		"a program's log":                   `{"level":"info","msg":"ready","session_id":"s","time":"2026-01-02T03:04:05Z"}`,
		"a program's log of its users":      `{"type":"user","session_id":"s","message":"logged in","timestamp":"2026-01-02T03:04:05Z"}`,
		"a program's log of its progress":   `{"type":"progress","sessionId":"s","percent":3}`,
		"a program's log of its errors":     `{"type":"error","error":"boom"}` + "\n" + `{"type":"error","error":"boom"}`,
		"a program's results":               `{"type":"result","session_id":"s","ok":true}`,
		"a program's notes":                 `{"type":"system","message":"starting","sessionId":"s"}`,
		"a page view":                       `{"event":"view","sessionId":"` + aSession + `","path":"/"}`,
		"words in front of somebody's JSON": "2026-01-02 starting\n" + `{"type":"user","session_id":"s","message":"logged in"}`,
		"a number":                          "1",
		"an empty object":                   "{}",
		"an object of many lines":           "{\n  \"type\": \"session\",\n  \"version\": 1\n}",
		"half an object":                    `{"type":"user","message":{"role":"user","content":"` + strings.Repeat("y", 99_999),
		"binary":                            "\x00\n{\"type\":\"session\",\"version\":1,\"id\":\"a\",\"agent\":\"x\"}",
	} {
		for _, name := range []string{"x.jsonl", "x.log", "x.txt", "x.json", "x", "projects/p/" + claude} {
			out = append(out, shape{what, name, text + "\n", "", 0})
		}
	}
	gemini := `{"sessionId":"` + aSession + `","projectHash":"ab","startTime":"2026-01-02T03:04:05.678Z","kind":"main"}` + "\n" + `{"id":"1","timestamp":"2026-01-02T03:04:05.678Z","type":"user","content":[{"text":"hello"}]}`
	return append(out, shape{"Gemini CLI", "session-2026-01-02T03-04-0a1b2c3d.jsonl", gemini + "\n", "gemini", 85})
}

// TestRecognise holds every shape of a file against every format: the one it is
// of is as sure as it should be, and no other claims it.
func TestRecognise(t *testing.T) {
	shapes := append(append(claudeShapes(), ownShapes()...), foreignShapes()...)
	for _, s := range shapes {
		path := filepath.Join(t.TempDir(), filepath.FromSlash(s.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(s.text), 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := formats.Locate(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range Registry().All() {
			want := 0
			if f.Name == s.format {
				want = s.score
			}
			if m, err := f.Probe(t.Context(), l); err != nil || m.Score != want {
				t.Errorf("%s (%s): %s says %d, %q, %v; want %d", s.what, s.name, f.Name, m.Score, m.Evidence, err, want)
			}
		}
	}
}

// TestRecogniseFolders: a folder is a project's if any session in it is, and
// what lies in front of that one does not hide it.
func TestRecogniseFolders(t *testing.T) {
	const other = "00000000-1111-4222-8333-444455556666.jsonl"
	long := `{"type":"queue-operation","operation":"enqueue","content":"` + strings.Repeat("again ", 200) + `","sessionId":"` + aSession + `"}` + "\n"
	for what, c := range map[string]struct {
		files map[string]string
		score int
	}{
		"a project":                       {map[string]string{claude: long}, 90},
		"a config folder":                 {map[string]string{"projects/-w/" + claude: long}, 90},
		"behind a session without a byte": {map[string]string{other: "", claude: long}, 90},
		"behind a file of nobody":         {map[string]string{other: `{"x":1}` + "\n", "notes.jsonl": "x\n", claude: long}, 90},
		"behind an empty project":         {map[string]string{"projects/-a/x": "", "projects/-w/" + claude: long}, 90},
		"subagents alone":                 {map[string]string{"agent-a1.jsonl": long}, 0},
		"another program's project":       {map[string]string{"projects/p/" + claude: `{"type":"session","version":3,"id":"a","cwd":"/w"}` + "\n"}, 0},
		"projects is a file":              {map[string]string{"projects": "x"}, 0},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		l, err := formats.Locate(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range Registry().All() {
			want := 0
			if f.Name == "claude-code" {
				want = c.score
			}
			if m, err := f.Probe(t.Context(), l); err != nil || m.Score != want {
				t.Errorf("%s: %s says %d, %q, %v; want %d", what, f.Name, m.Score, m.Evidence, err, want)
			}
		}
	}
}

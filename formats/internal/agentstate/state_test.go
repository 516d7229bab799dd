package agentstate

import (
	"fmt"
	"strings"
	"testing"
)

const (
	systemJSON  = `{"role":"system","content":"be good"}`
	contextJSON = `{"role":"user","content":"<user_info>\nOS: x\n</user_info>"}`
)

func asksJSON(text string) string {
	return fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"<git_status>\nclean\n</git_status>\n<user_query>\n%s\n</user_query>"}]}`, text)
}

func callsJSON(id string) string {
	return fmt.Sprintf(`{"id":"1","role":"assistant","content":[{"type":"text","text":"let me see"},{"type":"tool-call","toolCallId":"%s","toolName":"Shell","args":{"command":"ls"}}]}`, id)
}

func givesJSON(id string) string {
	return fmt.Sprintf(`{"role":"tool","id":"%s","content":[{"type":"tool-result","toolCallId":"%s","toolName":"Shell","result":"a.txt"}]}`, id, id)
}

// shellCall is the step that belongs to callsJSON.
func shellCall(id string) []byte {
	return call(1, id, str(1, "ls"), field(1, str(1, "ls"), str(5, "a.txt\n")))
}

func (g *graph) prompts(list ...string) (ids []ID) {
	for _, p := range list {
		ids = append(ids, g.put([]byte(p)))
	}
	return ids
}

// TestBoth joins turns and prompt messages: one message each, the steps'
// records with the prompt side's signatures, names and shown results.
func TestBoth(t *testing.T) {
	g := newGraph()
	prompts := g.prompts(systemJSON, contextJSON, asksJSON("list"), callsJSON("c1"), givesJSON("c1"), `{"role":"assistant","content":"done"}`,
		asksJSON("again"), callsJSON("c2"), givesJSON("c2"))
	root := g.put(refs(1, prompts...), refs(8, g.turn("list", "r1", says("let me see"), shellCall("c1"), says("done")),
		g.turn("again", "r2", says("let me see"), shellCall("c2"))))
	r := g.read(t, root, false)
	want(t, r,
		`system "be good"*`,
		`user <user_info>*`,
		`1 user <git_status>* "list"`,
		`assistant "let me see" calls:Shell:c1`,
		`tool gives:c1:success`,
		`assistant "done"`,
		`2 user <git_status>* "again"`,
		`assistant "let me see" calls:Shell:c2`,
		`tool gives:c2:success`)
	if len(r.notes) > 0 {
		t.Errorf("nothing is lost here: %v", r.notes)
	}
	turns := r.Turns()
	if len(turns) != 2 || turns[1].RequestID != "r2" || turns[0].Prompt != "list" || strings.Join(turns[0].Calls, ",") != "c1" {
		t.Errorf("turns: %+v", turns)
	}
	if int(r.Reached()) != len(g.blobs) {
		t.Errorf("%d of %d blobs reached", r.Reached(), len(g.blobs))
	}
	for id, n := range g.reads {
		if n > usualReads {
			t.Errorf("%s is read %d times", id, n)
		}
	}
}

func TestPromptsOnly(t *testing.T) {
	g := newGraph()
	root := g.put(refs(1, g.prompts(systemJSON, contextJSON, asksJSON("list"), callsJSON("c1"), givesJSON("c1"), asksJSON("again"), `{"role":"assistant","content":[{"type":"redacted-reasoning","data":"zz"},{"type":"text","text":"ok"}]}`)...))
	want(t, g.read(t, root, false),
		`system "be good"`,
		`user <user_info>`,
		`1 user <git_status> "list"`,
		`assistant "let me see" calls:Shell:c1`,
		`tool gives:c1:`,
		`2 user <git_status> "again"`,
		`assistant thinks "ok"`)
}

func TestTurnsOnly(t *testing.T) {
	g := newGraph()
	timed := func(id string, from, to uint64) []byte {
		return field(2, field(1, field(1, str(1, "ls")), field(2, field(2, vint(3, 1)))), str(57, id), vint(59, from), vint(60, to))
	}
	shell := g.put(field(2, refs(1, g.put(str(1, "pwd"))), refs(2, g.put(str(1, "/x\n"), vint(3, 1)))))
	root := g.put(refs(8, g.turn("list", "r1", field(3, str(1, "hm"), vint(2, 40)), says("both"), timed("a", 1000, 3000), timed("b", 2000, 2500), timed("c", 3000, 4000), says("done")), shell))
	r := g.read(t, root, false)
	want(t, r,
		`1 user "list"`,
		`assistant thinks "both" calls:shell:a calls:shell:b`,
		`tool gives:a:failure`,
		`tool gives:b:failure`,
		`assistant calls:shell:c`,
		`tool gives:c:failure`,
		`assistant "done"`,
		`2shell user "pwd"`,
		`tool gives::failure`)
	if !r.has(`"value":{"stdout":"/x\n","exitCode":1}`) {
		t.Error("what the command gave is not there")
	}
}

// TestUnlike: where the two tell different things both are told.
func TestUnlike(t *testing.T) {
	g := newGraph()
	prompts := g.prompts(systemJSON, asksJSON("list"), callsJSON("c1"), givesJSON("c1"), `{"role":"assistant","content":[{"type":"text","text":"long answer"}]}`)
	root := g.put(refs(1, prompts...), refs(8, g.turn("list", "r1", says("let me see"), shellCall("c1"), says("short answer"))))
	want(t, g.read(t, root, false),
		`system "be good"*`,
		`1 user <git_status>* "list"`,
		`assistant "let me see" calls:Shell:c1`,
		`tool gives:c1:success`,
		`assistant "long answer"*`,
		`assistant "short answer"`)
}

// TestWindow: a compaction without an archive leaves the end of the prompts.
func TestWindow(t *testing.T) {
	g := newGraph()
	prompts := g.prompts(systemJSON, `{"role":"user","content":"so far","providerOptions":{"cursor":{"isSummary":true}}}`, asksJSON("go on"), `{"role":"assistant","content":"three"}`)
	root := g.put(refs(1, prompts...), refs(8, g.turn("go on", "r1", says("one")), g.turn("go on", "r2", says("two")), g.turn("go on", "r3", says("three"))))
	want(t, g.read(t, root, false),
		`system "be good"*`,
		`(1 user) "go on"`,
		`(assistant) "one"`,
		`(2 user) "go on"`,
		`(assistant) "two"`,
		`system boundary:4 summary:"so far"*`,
		`3 user <git_status>* "go on"`,
		`assistant "three"`)
}

func TestArchives(t *testing.T) {
	g := newGraph()
	old := g.prompts(contextJSON, asksJSON("first"), `{"role":"assistant","content":"one"}`)
	summary := g.json(`{"role":"user","content":"it began","providerOptions":{"cursor":{"isSummary":true}}}`)
	archive := g.put(refs(1, old...), str(2, "it began"), vint(3, 4), refs(4, summary))
	live := append(g.prompts(systemJSON), summary)
	live = append(live, g.prompts(asksJSON("second"), `{"role":"assistant","content":"two"}`)...)
	root := g.put(refs(1, live...), refs(11, archive), refs(13, archive), refs(8, g.turn("first", "r1", says("one")), g.turn("second", "r2", says("two"))))
	r := g.read(t, root, false)
	want(t, r,
		`system "be good"*`,
		`(user) <user_info>*`,
		`(1 user) <git_status>* "first"`,
		`(assistant) "one"`,
		`system boundary:3 summary:"it began"`,
		`2 user <git_status>* "second"`,
		`assistant "two"`)
	if !r.has(`{"name":"windowTail","raw":4}`) || int(r.Reached()) != len(g.blobs) {
		t.Errorf("%d of %d reached: %s", r.Reached(), len(g.blobs), r.text())
	}
}

// TestThreads: an entry that says more than a name for a name is carried as it
// is, and not half taken.
func TestThreads(t *testing.T) {
	g := newGraph()
	r := g.read(t, g.put(refs(1, g.prompts(systemJSON)...), field(24, str(1, "call-1"), str(2, "kid-1")), field(24, str(1, "call-2"), str(2, "kid-2"), str(3, "more"))), false)
	if len(r.root.threads) != 1 || r.root.threads["call-1"] != "kid-1" || !strings.Contains(r.head, "call-2") {
		t.Errorf("%v %s", r.root.threads, r.head)
	}
}

func TestPending(t *testing.T) {
	g := newGraph()
	pending := `{"role":"assistant","content":[{"type":"text","text":"wait"},{"type":"tool-call","toolCallId":"c9","toolName":"Shell","args":{}}]}`
	prompts := refs(1, g.prompts(systemJSON, asksJSON("list"))...)
	want(t, g.read(t, g.put(prompts, str(4, pending)), false),
		`system "be good"`, `1 user <git_status> "list"`, `assistant "wait" calls:Shell:c9`)
	known := append(prompts, refs(1, g.prompts(pending)...)...)
	want(t, g.read(t, g.put(known, str(4, pending)), false),
		`system "be good"`, `1 user <git_status> "list"`, `assistant "wait" calls:Shell:c9`)
	answered := append(prompts, refs(1, g.prompts(`{"role":"assistant","content":"first"}`)...)...)
	for text, told := range map[string]bool{"wait": false, " first\n": true, "list": false} {
		lines := []string{`system "be good"`, `1 user <git_status> "list"`, `assistant "first"`}
		if !told {
			lines = append(lines, fmt.Sprintf("assistant %q", text))
		}
		for _, content := range []string{fmt.Sprintf("%q", text), fmt.Sprintf(`[{"type":"text","text":%q}]`, text)} {
			want(t, g.read(t, g.put(answered, str(4, `{"role":"assistant","content":`+content+`}`)), false), lines...)
		}
	}
	again := append(answered, refs(1, g.prompts(asksJSON("more"))...)...) // the same words of an earlier turn are other ones
	want(t, g.read(t, g.put(again, str(4, `{"role":"assistant","content":"first"}`)), false),
		`system "be good"`, `1 user <git_status> "list"`, `assistant "first"`, `2 user <git_status> "more"`, `assistant "first"`)
	half := append(prompts, refs(1, g.prompts(`{"role":"assistant","content":"wait"}`)...)...) // its text is there, its call is not
	want(t, g.read(t, g.put(half, str(4, pending)), false),
		`system "be good"`, `1 user <git_status> "list"`, `assistant "wait"`, `assistant calls:Shell:c9`)
	// What was said before another call is said again.
	repeated := append(prompts, refs(1, g.prompts(`{"role":"assistant","content":[{"type":"text","text":"wait"},{"type":"tool-call","toolCallId":"c8","toolName":"Shell","args":{}}]}`, givesJSON("c8"))...)...)
	want(t, g.read(t, g.put(repeated, str(4, pending)), false),
		`system "be good"`, `1 user <git_status> "list"`, `assistant "wait" calls:Shell:c8`, `tool gives:c8:`, `assistant "wait" calls:Shell:c9`)
	steps := refs(8, g.turn("list", "r1", says("wait"), call(1, "c8", str(1, "ls"), nil)))
	want(t, g.read(t, g.put(steps, str(4, pending)), false), `1 user "list"`, `assistant "wait" calls:shell:c8`, `assistant "wait" calls:Shell:c9`)
	want(t, g.read(t, g.put(prompts, str(4, `{"role":"user","content":"<user_query>\nwell\n</user_query>"}`), str(4, asksJSON("list")), str(4, `{"role":"critic","x":1}`), str(4, `{"role":"assistant","content":[]}`)), false),
		`system "be good"`, `1 user <git_status> "list"`, `user "well"`, `assistant *session.Opaque`)
	spoken := refs(8, g.turn("list", "r1", says("wait"), call(1, "c9", str(1, "ls"), nil))) // both are steps
	want(t, g.read(t, g.put(spoken, str(4, pending)), false), `1 user "list"`, `assistant "wait" calls:shell:c9`)
	if r := g.read(t, g.put(prompts, str(4, "{")), false); !r.noted("unreadable", "L809") {
		t.Errorf("notes: %v", r.notes)
	}
}

// TestLinks: stores of 2025 as the seeds describe them.
func TestLinks(t *testing.T) {
	g := newGraph()
	turn1 := g.put(refs(1, g.prompts(asksJSON("list"), callsJSON("c1"))...), []byte(givesJSON("c1")))
	inner := g.put(refs(1, g.prompts(asksJSON("again"))...))
	turn2 := g.put(refs(1, inner))
	root := g.put(refs(1, g.prompts(systemJSON)...), refs(1, turn1, turn2), []byte(`{"role":"assistant","content":"bye"}`))
	r := g.read(t, root, false)
	want(t, r,
		`system "be good"`,
		`1 user <git_status> "list"`,
		`assistant "let me see" calls:Shell:c1`,
		`tool gives:c1:`,
		`2 user <git_status> "again"`,
		`assistant "bye"`)
	if int(r.Reached()) != len(g.blobs) || len(r.notes) > 0 {
		t.Errorf("%d of %d reached; %v", r.Reached(), len(g.blobs), r.notes)
	}
}

func TestTruncatedCall(t *testing.T) {
	g := newGraph()
	whole := g.put(shellCall("c1"))
	short := field(2, field(34, refs(1, whole), field(3, field(1))), str(57, "c1"))
	r := g.read(t, g.put(refs(8, g.turn("list", "r", short))), false)
	want(t, r, `1 user "list"`, `assistant calls:shell:c1`, `tool gives:c1:success`)
	if !r.has(`"stdout":"a.txt\n"`) {
		t.Errorf("the whole call is not told: %s", r.text())
	}
	lost := field(2, field(34, refs(1, ID{1}), field(3, field(1))), str(57, "c2"))
	r = g.read(t, g.put(refs(8, g.turn("list", "r", lost))), false)
	if !r.noted("missing", "full step of a shortened call") || !r.has(`"kind":"truncated"`) {
		t.Errorf("%v\n%s", r.notes, r.text())
	}
}

// TestReadBlobs: what a tool read lies in a blob of its own.
func TestReadBlobs(t *testing.T) {
	g := newGraph()
	content, image := g.put([]byte("package x\n")), g.put([]byte{0x89, 'P', 'N', 'G', 0xff})
	steps := [][]byte{call(8, "c1", str(1, "/x.go"), field(1, refs(10, content))), call(8, "c2", str(1, "/x.png"), field(1, refs(9, image)))}
	r := g.read(t, g.put(refs(8, g.turn("read", "r", steps...))), false)
	if !r.has(`"content":[{"type":"text","text":"package x\n"}]`) || !r.has(`"content":[{"type":"media","base64":"iVBOR/8="}]`) {
		t.Errorf("%s", r.text())
	}
	shown := strings.ReplaceAll(strings.ReplaceAll(givesJSON("c1"), "a.txt", "1|package x"), "Shell", "Read")
	r = g.read(t, g.put(refs(1, g.prompts(asksJSON("read"), strings.ReplaceAll(callsJSON("c1"), "Shell", "Read"), shown)...), refs(8, g.turn("read", "r", steps[0]))), false)
	if !r.has(`"text":"1|package x"`) || !r.has(`"raw":{"blob":"`+content.String()+`","text":"package x\n"}`) {
		t.Errorf("%s", r.text())
	}
}

func TestRootFields(t *testing.T) {
	g := newGraph()
	todo := g.put(str(1, "t1"), str(2, "do"), vint(3, 2), vint(4, 5000), str(6, "t0"))
	plan, summary := g.put(str(1, "the plan")), g.put(str(1, "so far"))
	root := g.put(refs(3, todo), refs(7, plan), refs(6, summary), field(5, vint(1, 10), vint(2, 20)), str(9, "file:///work%20space/a"), str(9, "file:///b"), str(9, "vscode-remote://x"),
		vint(10, 3), str(19, "main"), field(21, str(1, "/r"), str(2, "dev")), vint(26, 9000), str(22, "odd"), vint(17, 2), field(14, vint(1, 5), vint(2, 50)), str(99, "new"),
		field(15, str(1, "/a.txt"), field(2, refs(1, g.put([]byte("after"))), refs(2, g.put([]byte{0xff})))), field(12, str(1, "/b.txt"), refs(2, g.put([]byte{}))[2:]))
	r := g.read(t, root, false)
	for _, text := range []string{
		`"workspace":"/work space/a"`, `"folders":["/b"]`, `{"name":"previousWorkspaceUris","raw":"vscode-remote://x"}`, `"mode":"plan"`, `"branch":"main"`, `"repos":[{"path":"/r","branch":"dev"}]`,
		`"created":"1970-01-01T00:00:09.000Z"`, `"todos":[{"id":"t1","content":"do","status":"in_progress","created":"1970-01-01T00:00:05.000Z","needs":["t0"]}]`, `"plan":"the plan"`,
		`{"name":"summary","raw":"so far"}`, `"context":{"used":10,"max":20}`, `{"name":"agentType","raw":"odd"}`, `{"name":"selfSummaryCount","raw":2}`, `{"name":"turnTimings","raw":[{"durationMs":"5","timestampMs":"50"}]}`,
		`{"name":"#99","raw":{"field":99,"wire":2,"base64":"bmV3"}}`, `"path":"/a.txt","before":{"base64":"/w=="},"after":{"text":"after"}`,
	} {
		if !r.has(text) {
			t.Errorf("not there: %s", text)
		}
	}
	if t.Failed() {
		t.Logf("%s\n%v\n%v", r.head, r.files, r.notes)
	}
}

func TestUserMessage(t *testing.T) {
	g := newGraph()
	image, pdf := g.put([]byte("PNG")), g.put([]byte("link text"))
	selected := field(3,
		field(1, refs(1, image), str(2, "u1"), str(7, "image/png"), str(3, "/i.png")),
		field(1, field(8, []byte("raw")), str(7, "image/gif")),
		field(4, str(1, "package y"), str(2, "/y.go")),
		field(9, str(1, "http://z"), refs(6, pdf)),
		str(3, "extra words"), str(77, "later"))
	user := g.put(str(1, "look"), str(2, "m1"), selected, vint(4, 2), vint(5, 1), vint(9, 3), str(8, "{}"), vint(25, 1000), vint(26, 2000), field(21, str(1, "onPrompt"), str(2, "hooked")), str(55, "new"))
	root := g.put(refs(8, g.put(field(1, refs(1, user), str(4, "secretly"), str(7, "Some Model")))))
	r := g.read(t, root, false)
	want(t, r, `1 user <file> <link> <extra> <other> <hook> "look" media media`)
	for _, text := range []string{
		`"mode":"ask"`, `"simulated":true`, `"at":"1970-01-01T00:00:01.000Z","end":"1970-01-01T00:00:02.000Z"`, `{"name":"simulatedMsgReason","raw":"SIMULATED_MSG_REASON_BACKGROUND_TASK_COMPLETION"}`,
		`"data":{"content":"package y","path":"/y.go"}`, `"text":"link text"`, `"text":"hooked"`, `{"name":"hookEventName","raw":"onPrompt"}`, `"mime":"image/png","base64":"UE5H","uri":"/i.png"`,
		`"mime":"image/gif","base64":"cmF3"`, `{"name":"messageId","raw":"m1"}`, `{"name":"#55","raw":`, `"text":"extra words"`, `"#77"`, `{"name":"uuid","raw":"u1"}`, `"model":"Some Model"`, `{"name":"encryptedModel","raw":"secretly"}`,
	} {
		if !r.has(text) {
			t.Errorf("not there: %s", text)
		}
	}
	if t.Failed() {
		t.Log(r.text())
	}
}

// TestTimes: what is stored counts, then what the client told the model.
func TestTimes(t *testing.T) {
	g := newGraph()
	r := g.read(t, g.put(refs(1, g.prompts(
		`{"role":"user","content":"<timestamp>Sunday, Apr 26, 2026, 9:53 PM (UTC-4)</timestamp>\n<user_query>\na\n</user_query>"}`,
		`{"role":"user","content":"<timestamp>Monday, Apr 27, 2026, 12:05 AM (UTC+5:30)</timestamp>\n<user_query>\nb\n</user_query>"}`,
		`{"role":"user","content":"<timestamp>Sunday, Apr 26, 2026, 9:53 PM (UTC)</timestamp>","createdAt":1790000000000}`,
		`{"role":"user","content":"<timestamp>at noon</timestamp>","createdAt":"2026-01-02T03:04:05.678Z"}`,
		`{"role":"assistant","content":{"odd":1},"createdAt":"soon"}`)...)), false)
	for _, text := range []string{`"at":"~2026-04-27T01:53:00.000Z"`, `"at":"~2026-04-26T18:35:00.000Z"`, `"at":"2026-09-21T14:13:20.000Z"`, `"at":"2026-01-02T03:04:05.678Z"`,
		`{"type":"opaque","kind":"content","raw":{"odd":1}}`, `{"name":"createdAt","raw":"soon"}`} {
		if !r.has(text) {
			t.Errorf("not there: %s\n%s", text, r.text())
		}
	}
}

// TestShellFirst: a command of the user's own has no prompt message; what the
// client told the model stays in front of it.
func TestShellFirst(t *testing.T) {
	g := newGraph()
	shell := g.put(field(2, refs(1, g.put(str(1, "pwd")))))
	root := g.put(refs(1, g.prompts(systemJSON, contextJSON, asksJSON("list"), `{"role":"assistant","content":"one"}`)...), refs(8, shell, g.turn("list", "r1", says("one")), shell))
	want(t, g.read(t, root, false),
		`system "be good"*`, `user <user_info>*`, `1shell user "pwd"`, `2 user <git_status>* "list"`, `assistant "one"`, `3shell user "pwd"`)
}

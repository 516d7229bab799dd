package cli

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/formats"
	"rehome/formats/session"
	"rehome/schemas"
)

// sample is a session with everything that can be in one.
func sample() (*session.Session, []*session.Message, *session.File) {
	at := func(s int64) session.Stamp { return session.Stored(1767268800000 + s*1000) }
	s := &session.Session{
		Head: session.Head{ID: "5d0b2b7e-1111-4000-8000-000000000000", Agent: session.CursorCLI, Title: "Fix the \x1b[31mflaky\u202e test",
			Workspace: "/home/ann/app", Created: at(0), Updated: at(4000), Parent: &session.Link{Session: "aaaa0000", Kind: "explore"}},
		Mode: "agent", Model: "opus", Status: "idle", Branch: "main", Missing: []string{"meta.json"},
		Context: &session.Context{Used: 1001, Max: 200000},
		Todos: []session.Todo{{ID: "1", Content: "find it", Status: "completed"}, {ID: "2", Content: "fix it", Status: "in_progress"},
			{ID: "3", Content: "rest"}},
		Plan:     "# Plan\n\nFirst this, then that.",
		Children: []session.Link{{Session: "cccc0000", Title: "Look around", Kind: "explore"}},
		Branches: []session.Branch{{Name: "b1", From: "m3"}},
	}
	text := func(words string) session.Part { return &session.Text{Text: words} }
	tool := func(id, kind, args string, from, to int64) *session.ToolCall {
		return &session.ToolCall{ID: id, Name: strings.ToUpper(kind[:1]) + kind[1:], Kind: kind, Args: session.Raw(args), Start: at(from),
			End: at(to)}
	}
	came := func(id, call, status, value string) *session.Message {
		return &session.Message{ID: id, Role: session.Tool, Parts: []session.Part{&session.ToolResult{Call: call, Status: status,
			Error: status != "success", Value: session.Raw(value)}}}
	}
	child := tool("c5", "task", `{"description":"Look around","subagentType":{"explore":{}}}`, 60, 185)
	child.Child = "cccc0000"
	return s, []*session.Message{
		{ID: "m0", Role: session.System, Parts: []session.Part{text("You are a good agent.")}},
		{ID: "m1", Role: session.User, Archived: true, Turn: &session.Turn{Number: 1, Model: "sonnet", Status: "finished", Start: at(0),
			End: at(185), Usage: &session.Usage{Input: 1200, Output: 88, CacheRead: -1, CacheWrite: -1, Reasoning: -1, Total: -1}},
			Parts: []session.Part{&session.Injected{Tag: "user_info", Text: "OS: linux"}, &session.Injected{Tag: "rules", Text: "Be brief."},
				text("Why is the test flaky? See <b>here</b>:\n\n```go\nfunc TestIt(t *testing.T) {\n\tif a < b { t.Fatal(\"x\") }\n}\n```"),
				&session.Media{Mime: "image/png", Name: "shot.png", Data: make([]byte, 12345)}}},
		{ID: "m2", Role: session.Assistant, Archived: true, Parts: []session.Part{&session.Thinking{Text: "It must be the clock."},
			text("I will run the tests first and then look at what the clock has to do with it, for it nearly always is the clock.\n\n- one\n- two, which is a much longer entry of the list than the first one and goes on\n\n| a | b |\n|---|---|"),
			tool("c1", "shell", `{"command":"go test ./...","timeout":30000}`, 2, 5),
			tool("c2", "read", `{"path":"/home/ann/app/clock.go"}`, 5, 6)}},
		came("m3", "c1", "failure", `{"failure":{"command":"go test ./...","exitCode":1,"stdout":"--- FAIL: TestIt\n`+
			strings.Repeat(`    clock_test.go:7: tick\n`, 20)+`FAIL\n","stderr":"","executionTime":2345}}`),
		came("m4", "c2", "success", `{"success":{"content":"package clock\n\nvar now = time.Now\n"}}`),
		{ID: "m5", Role: session.System, Parts: []session.Part{&session.Boundary{Archived: 5},
			&session.Summary{Text: "The user has a flaky test."}}},
		{ID: "m6", Role: session.User, Turn: &session.Turn{Number: 2, Model: "opus", Status: "error", Error: "the model is overloaded",
			Start: at(200)}, Parts: []session.Part{text("Fix it.")}},
		{ID: "m7", Role: session.Assistant, Parts: []session.Part{tool("c3", "edit", `{"path":"/home/ann/app/clock.go"}`, 10, 11),
			tool("c4", "updateTodos", `{"todos":[{"id":"1","content":"find it"}],"merge":false}`, 11, 11), child,
			tool("c6", "shell", `{"command":"sleep 100"}`, 12, 0)}},
		came("m8", "c3", "success", `{"success":{"path":"/home/ann/app/clock.go","beforeFullFileContent":"package clock\n\nvar now = time.Now\n","afterFullFileContent":"package clock\n\n// now can be replaced in tests.\nvar now = time.Now\n"}}`),
		came("m9", "c4", "success", `{"success":{"todos":[{"id":"1","content":"find it","status":"TODO_STATUS_COMPLETED"}]}}`),
		came("m10", "c5", "success", `{"success":{"agentId":"cccc0000","conversationSteps":[{"assistantMessage":{"text":"Nothing else is flaky."}}]}}`),
		{ID: "m11", Role: session.Assistant, Parts: []session.Part{text("Done."),
			&session.Opaque{Kind: "retry/starting", Raw: session.Raw(`{"attempt":1}`)},
			&session.Opaque{Kind: "retry/resuming", Raw: session.Raw(`{"attempt":1}`)}}},
		{ID: "m12", Role: session.User, Turn: &session.Turn{Number: 3, Kind: "shell", Status: "finished"}, Parts: []session.Part{text("ls")}},
		{ID: "m13", Role: session.User, Branch: "b1", Turn: &session.Turn{Number: 2, Status: "cancelled"},
			Parts: []session.Part{text("Fix it another way.")}},
	}, &session.File{Path: "/home/ann/app/clock.go", Before: &session.Body{Bytes: []byte("package clock\n")}}
}

// sampleLines is the sample as canonical text.
func sampleLines() []byte {
	s, messages, file := sample()
	out := append(session.AppendHead(nil, s), '\n')
	for _, m := range messages {
		out = append(session.AppendMessage(out, m), '\n')
	}
	return append(session.AppendFile(out, file), '\n')
}

// furnishSession puts the sample into a case's folder, and beside it a folder
// with two sessions.
func furnishSession(t *testing.T, dir string) {
	t.Helper()
	text := sampleLines()
	other := bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("5d0b2b7e-"), []byte("77777777-")), []byte("Fix the"), []byte("Mend the"))
	for name, data := range map[string][]byte{"session.jsonl": text, "two/cursor-cli/5d0b2b7e.jsonl": text, "two/cursor-cli/77777777.jsonl": other} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShowJSON: what is printed is what is stored, line by line, but for how
// characters are spelled that would act on a terminal.
func TestShowJSON(t *testing.T) {
	dir := t.TempDir()
	furnishSession(t, dir)
	path := filepath.Join(dir, "session.jsonl")
	for _, args := range [][]string{{"show", path, "--format", "json"}, {"show", path, "--json"}} {
		stdout, stderr, code := call(t, append(args, "--history")...)
		if code != 0 || stderr != "" || stdout != string(screen.JSON(sampleLines())) || !strings.Contains(stdout, `\u202e`) {
			t.Errorf("%q: exit %d, stderr %q\n%.2000s", args, code, stderr, stdout)
		}
	}
	stdout, _, code := call(t, "show", path, "--json", "--turns", "3")
	if n := strings.Count(stdout, "\n"); code != 0 || n != 2 {
		t.Errorf("exit %d, %d lines: %s", code, n, stdout)
	}
}

// TestShowTurns: a range may count from the end without "=", and one that selects
// nothing is an error, before anything is printed.
func TestShowTurns(t *testing.T) {
	dir := t.TempDir()
	furnishSession(t, dir)
	path := filepath.Join(dir, "session.jsonl")
	for _, form := range []string{"text", "markdown", "json"} {
		for _, args := range [][]string{{"--turns", "4"}, {"--turns", "9-"}, {"--turns=7-9", "--history"}} {
			stdout, stderr, code := call(t, append([]string{"show", path, "--format", form}, args...)...)
			if code != 1 || stdout != "" || !strings.Contains(stderr, "the session has 3 turns\n  hint: omit --turns") {
				t.Errorf("%s %q: exit %d, stderr %q\n%s", form, args, code, stderr, stdout)
			}
		}
	}
	want, _, _ := call(t, "show", path, "--turns=-2")
	got, stderr, code := call(t, "show", "--turns", "-2", path)
	if code != 0 || got != want || !strings.Contains(got, "turn 3") || strings.Contains(got, "turn 1") {
		t.Errorf("exit %d, stderr %q\n%s", code, stderr, got)
	}
	if _, stderr, code := call(t, "show", path, "--turns", "-x"); code != 2 && code != 80 {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
}

// TestShowInner: a subagent that lies inside of another session is shown by the
// command that its parent's page gives, however deep it lies, and is carried by
// that name; and who names nobody is still asked who is meant.
func TestShowInner(t *testing.T) {
	dir := t.TempDir()
	user := ideCase(t, dir, "subagents")
	for parent, kids := range map[string][]string{"main": {"kid-inline", "kid-ref"}, "bare": {"kid-bare"}, "kid-bare": {"grandkid"}} {
		page, stderr, code := call(t, "show", user+"#"+parent)
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", parent, code, stderr)
		}
		for _, kid := range kids {
			if !strings.Contains(page, "    rehome show "+user+"#"+kid+"\n") {
				t.Errorf("the page of %s has no command for %s:\n%s", parent, kid, page)
			}
			got, stderr, code := call(t, "show", user+"#"+kid)
			if code != 0 || !strings.Contains(got, "> prompt of "+kid+"\n") || !strings.Contains(got, "subagent of  "+parent) {
				t.Errorf("%s: exit %d: %s%s", kid, code, stderr, got)
			}
		}
	}
	out := filepath.Join(dir, "out")
	if _, stderr, code := call(t, "convert", user+"#grandkid", out, "--to", "canonical"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if got, err := filepath.Glob(filepath.Join(out, "*", "*")); err != nil || len(got) != 1 || filepath.Base(got[0]) != "grandkid.jsonl" {
		t.Errorf("placed: %q, %v", got, err)
	}
	if _, stderr, code := call(t, "show", user+"#nobody"); code != 2 || !strings.Contains(stderr, "no such session") ||
		!strings.Contains(stderr, "  main") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestShowPipe: a pipe is shown as it comes, and the last turns of one at its
// end.
func TestShowPipe(t *testing.T) {
	clitest.PipeStdin(t, "npm warn\n"+clitest.StreamJSON)
	stdout, stderr, code := call(t, "show", "-")
	if code != 0 || !strings.Contains(stdout, "> hello\n\n● hi\n") || stderr != "" {
		t.Errorf("exit %d, stderr %q\n%s", code, stderr, stdout)
	}
}

func TestShowPipeLast(t *testing.T) {
	clitest.PipeStdin(t, clitest.StreamJSON+strings.ReplaceAll(clitest.StreamJSON, "hello", "again"))
	stdout, stderr, code := call(t, "show", "-", "--turns=-1")
	if code != 0 || strings.Contains(stdout, "> hello") || !strings.Contains(stdout, "turn 2") ||
		!strings.Contains(stdout, "> again\n\n● hi\n") {
		t.Errorf("exit %d, stderr %q\n%s", code, stderr, stdout)
	}
}

// TestShowBroken: what could be read is shown, and stderr says that it is not
// all.
func TestShowBroken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken.jsonl")
	lines := bytes.SplitAfter(sampleLines(), []byte("\n"))
	broken := append(bytes.Join(lines[:4], nil), "{\"type\":\"message\",\"id\":7}\n"...)
	if err := os.WriteFile(path, append(broken, lines[5]...), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"text", "markdown", "json"} {
		stdout, stderr, code := call(t, "show", path, "--format", form)
		if code != 0 || !strings.Contains(stdout, "Why is the test flaky?") || !strings.HasPrefix(stderr, "rehome: unreadable: ") {
			t.Errorf("%s: exit %d, stderr %q\n%s", form, code, stderr, stdout)
		}
	}
}

// TestShowFails: an error in the middle is told on stderr, behind what could be
// shown; with --json, no second object follows the lines.
func TestShowFails(t *testing.T) {
	for _, form := range []string{"text", "markdown", "json"} {
		var stdout, stderr strings.Builder
		out := console.NewOutput(&stdout, &stderr, func(string) string { return "" }, console.OutputFlags{JSON: form == "json"})
		v := &viewer{App: &console.App{Ctx: t.Context(), Out: out}, cmd: &showCmd{Tools: "brief"}, format: form}
		err := v.show(func(context.Context, formats.View) iter.Seq2[*session.Session, error] {
			return func(yield func(*session.Session, error) bool) {
				s, messages, _ := sample()
				s.Messages = func(yield func(*session.Message, error) bool) {
					for _, m := range messages[:3] {
						if !yield(m, nil) {
							return
						}
					}
					yield(nil, &formats.Error{At: "store.db", Err: formats.ErrBusy, Hint: "wait"})
				}
				yield(s, nil)
			}
		})
		if code := out.Fail(err); code != 5 || !strings.Contains(stdout.String(), "Why is the test flaky?") ||
			strings.Contains(stdout.String(), `"error"`) || stderr.String() != "rehome: store.db: in use\n  hint: wait\n" {
			t.Errorf("%s: exit %d, stderr %q\n%s", form, code, stderr.String(), stdout.String())
		}
	}
}

// TestShowMemory: a session need not fit in memory to be shown.
func TestShowMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	s, _, _ := sample()
	fmt.Fprintf(f, "%s\n", session.AppendHead(nil, s))
	words := strings.Repeat("all work and no play ", 500)
	const messages, most = 4000, 32 << 20
	for i := range messages {
		m := &session.Message{ID: fmt.Sprint(i), Role: session.Assistant,
			Parts: []session.Part{&session.Text{Text: words}, &session.ToolCall{ID: "x", Name: "shell", Kind: "shell",
				Args: session.Raw(`{"command":"ls"}`)}}}
		fmt.Fprintf(f, "%s\n", session.AppendMessage(nil, m))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"text", "markdown", "json", "html"} {
		var peak peakWriter
		runtime.GC()
		if code := run(t.Context(), []string{"show", path, "--format", form}, &peak, &peak, func(string) string { return "" }); code != 0 {
			t.Fatalf("exit %d", code)
		}
		if peak.written < messages*int64(len(words)) || peak.heap > most {
			t.Errorf("%s: %d bytes written, %d bytes of heap", form, peak.written, peak.heap)
		}
	}
}

// peakWriter looks now and then, while it is written to, at what is in use: how
// far the collector lags behind depends on the machine.
type peakWriter struct {
	written, looked int64
	heap            uint64
}

func (p *peakWriter) Write(b []byte) (int, error) {
	p.written += int64(len(b))
	if p.written-p.looked > 4<<20 {
		p.looked = p.written
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		p.heap = max(p.heap, m.HeapAlloc)
	}
	return len(b), nil
}

// checkLines holds canonical lines against their schema.
func checkLines(t *testing.T, text []byte) {
	t.Helper()
	for line := range bytes.Lines(text) {
		if err := schemas.Validate("canonical-1", line); err != nil {
			t.Errorf("%s\n%v", line, err)
		}
	}
}

// writeSession writes a session in which the same words stand in many places.
func writeSession(t *testing.T, path string, s *session.Session, messages []*session.Message, words string) {
	t.Helper()
	out := append(session.AppendHead(nil, s), '\n')
	for _, m := range messages {
		m.Parts = append(m.Parts, &session.Text{Text: words}, &session.Thinking{Text: words}, &session.Opaque{Kind: words, Raw: session.Raw("1")},
			&session.ToolCall{ID: "h" + m.ID, Name: words, Args: session.AppendString([]byte{}, words)})
		out = append(session.AppendMessage(out, m), '\n')
	}
	if err := os.WriteFile(path, out, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestShowNotSent: what a client keeps and does not send is printed on request, and named
// otherwise.
func TestShowNotSent(t *testing.T) {
	const play = "../../../testdata/sdk/play/jsonl#ff8ed8f9"
	const named = "left out: 4 messages that the client showed and does not send, kept as branches (L118); --history prints them"
	if _, stderr, code := call(t, "show", play); code != 0 || !strings.Contains(stderr, named) {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if stdout, stderr, code := call(t, "show", play, "--history"); code != 0 || stderr != "" || !strings.Contains(stdout, "branch-1") {
		t.Errorf("--history: exit %d, %s", code, stderr)
	}
}

package prose

import (
	"errors"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// stream makes a session of messages.
func stream(list ...*session.Message) *session.Session {
	return &session.Session{Head: session.Head{ID: "5d0b2b7e", Agent: "cursor-cli", Workspace: "/home/ann/app"}, Messages: each(list, nil)}
}

func each(list []*session.Message, last error) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		for _, m := range list {
			if !yield(m, nil) {
				return
			}
		}
		if last != nil {
			yield(nil, last)
		}
	}
}

func user(turn int, text string) *session.Message {
	return &session.Message{Role: session.User, Turn: &session.Turn{Number: turn, Status: "finished"}, Parts: []session.Part{&session.Text{Text: text}}}
}

func said(parts ...session.Part) *session.Message {
	return &session.Message{Role: session.Assistant, Parts: parts}
}

func result(call, status string, value string) *session.Message {
	return &session.Message{Role: session.Tool, Parts: []session.Part{&session.ToolResult{Call: call, Status: status, Value: session.Raw(value)}}}
}

func call(id, kind, args string) *session.ToolCall {
	return &session.ToolCall{ID: id, Name: kind, Kind: kind, Args: session.Raw(args)}
}

func shown(t *testing.T, s *session.Session, o Options) string {
	t.Helper()
	if o.Width == 0 {
		o.Width = 80
	}
	if o.Tools == "" {
		o.Tools = Brief
	}
	var b strings.Builder
	if err := Text(&b, s, o); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(b.String(), "\n\n")
	return body
}

// TestCallsMeetTheirResults: results come in any order, or not at all.
func TestCallsMeetTheirResults(t *testing.T) {
	list := []*session.Message{
		user(1, "go"),
		said(call("a", "shell", `{"command":"sleep 2"}`), call("b", "read", `{"path":"/home/ann/app/b.go"}`), call("c", "grep", `{"pattern":"x"}`)),
		result("b", "success", `{"success":{"content":"package b"}}`),
		result("a", "failure", `{"failure":{"exitCode":3,"stdout":"","stderr":"boom","executionTime":2100}}`),
		result("zz", "success", `{"success":{"content":"whose?"}}`),
		said(&session.Text{Text: "Done."}),
	}
	want := `── turn 1 ──────────────────────────────────────────────────────────────────────

> go

  read  b.go
    package b

  shell  sleep 2  exit 3  2.1 s
    boom

  result zz
    whose?

  grep  x  no result

● Done.
`
	if got := shown(t, stream(list...), Options{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = "── turn 1 ──────────────────────────────────────────────────────────────────────\n\n> go\n\n[4 tool calls]\n\n● Done.\n"
	if got := shown(t, stream(list...), Options{Tools: None}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestSubagentElsewhere: how to see a subagent is said only where the source
// holds it. A capture names those that it started, and holds none.
func TestSubagentElsewhere(t *testing.T) {
	here, away := call("a", "task", `{"description":"near"}`), call("b", "task", `{"description":"far"}`)
	here.Child, away.Child = "c1", "c2"
	for name, write := range map[string]func(io.Writer, *session.Session, Options) error{"text": Text, "markdown": Markdown} {
		s := stream(said(here, away))
		s.Children = []session.Link{{Session: "c1"}}
		var b strings.Builder
		if err := write(&b, s, Options{Source: "run.log"}); err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(b.String(), "`", "")
		if !strings.Contains(got, "subagent: rehome show run.log#c1") || !strings.Contains(got, "subagent c2, not in this file") || strings.Contains(got, "#c2") {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}

// TestCallsOfSeveralMessages: results may follow several messages of calls, and
// where a source holds no results at all it is not said of every call.
func TestCallsOfSeveralMessages(t *testing.T) {
	list := []*session.Message{said(call("a", "shell", `{"command":"one"}`)), said(call("b", "shell", `{"command":"two"}`)), user(2, "stop")}
	if got := shown(t, stream(list...), Options{}); !strings.HasPrefix(got, "  shell  one\n\n  shell  two\n\n──") {
		t.Errorf("got\n%s", got)
	}
	list = append(list[:2:2], result("b", "success", `{"success":{"stdout":"2"}}`), result("a", "success", `{"success":{"stdout":"1"}}`))
	if got := shown(t, stream(list...), Options{}); got != "  shell  two\n    2\n\n  shell  one\n    1\n" {
		t.Errorf("got\n%s", got)
	}
	list = list[:0]
	for range 2 * maxHeld / callSize {
		list = append(list, said(call("a", "shell", `{"command":"one"}`)))
	}
	w := &walker{o: Options{Tools: Brief}, out: &textRenderer{lineWriter: newLineWriter(io.Discard), o: Options{Width: 80}}, s: stream()}
	for _, m := range list {
		if w.message(m); w.pending.waiting > maxHeld/callSize+1 {
			t.Fatalf("%d calls wait", w.pending.waiting)
		}
	}
}

// TestWordsBetween: what the client says between a call and its result does not
// make the call one without a result; and a command of the user's is readable.
func TestWordsBetween(t *testing.T) {
	came := result("a", "success", `{"success":{"stdout":"1"}}`)
	for name, between := range map[string]*session.Message{
		"a notice":       {Role: session.System, Parts: []session.Part{&session.Text{Text: "Running"}}},
		"a queued line":  {Role: session.System, Parts: []session.Part{&session.Opaque{Kind: "queue-operation", Raw: session.Raw("{}")}}},
		"a reminder":     {Role: session.User, Simulated: true, Parts: []session.Part{&session.Text{Text: "Be quiet."}}},
		"some context":   {Role: session.User, Simulated: true, Parts: []session.Part{&session.Injected{Tag: "date", Text: "today"}}},
		"nothing at all": {Role: session.System},
	} {
		got := shown(t, stream(said(call("a", "shell", `{"command":"one"}`)), between, came), Options{All: true})
		if strings.Count(got, "shell  one") != 1 || !strings.HasSuffix(got, "  shell  one\n    1\n") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	command := &session.Message{Role: session.User, Simulated: true, Parts: []session.Part{&session.Injected{Tag: "command-name", Text: "/model"}, &session.Injected{Tag: "command-args", Text: "opus\x1b[2J"}}}
	if got := shown(t, stream(command), Options{}); !strings.Contains(got, "context: command-name /model, command-args opus") || strings.Contains(got, "\x1b") {
		t.Errorf("got\n%s", got)
	}
}

// TestNothingIsKept: a call outlives its message, whose memory is used again.
func TestNothingIsKept(t *testing.T) {
	args := session.Raw(`{"command":"make"}`)
	c := &session.ToolCall{ID: "a", Name: "shell", Kind: "shell", Args: args}
	s := stream()
	s.Messages = func(yield func(*session.Message, error) bool) {
		if !yield(said(c), nil) {
			return
		}
		copy(args, `{"overwritten":12345}`)
		*c = session.ToolCall{}
		yield(result("a", "success", `{"success":{"exitCode":0,"stdout":"ok"}}`), nil)
	}
	if got := shown(t, s, Options{}); !strings.Contains(got, "shell  make\n    ok\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestDetail(t *testing.T) {
	lines := strings.Repeat(`line\n`, 30)
	list := []*session.Message{
		said(call("a", "read", `{"path":"long","limit":100,"list":[1,2]}`)), result("a", "success", `{"success":{"content":"`+lines+`"}}`),
		said(call("b", "shell", `{"command":"cat <<E\n`+lines+`E"}`)), result("b", "success", `{"success":{"exitCode":0,"stdout":"first\n`+lines+`last\n"}}`),
	}
	got := shown(t, stream(list...), Options{})
	for _, want := range []string{"    … 20 more lines (--tools full)\n", "    … 22 more lines (--tools full)\n", "  shell  cat <<E …\n    first\n", "    last\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	got = shown(t, stream(list...), Options{Tools: Full})
	if n := strings.Count(got, "line\n"); n != 90 || !strings.Contains(got, "    list: [1,2]\n") || strings.Contains(got, "more lines") {
		t.Errorf("%d lines in\n%s", n, got)
	}
}

// TestCommandOfCodex: its tool calls the command cmd.
func TestCommandOfCodex(t *testing.T) {
	c := &session.ToolCall{ID: "a", Name: "exec_command", Kind: "shell", Input: session.Raw(`{"cmd":"go test ./...","workdir":"/home/ann/app"}`)}
	if got := shown(t, stream(said(c), result("a", "success", `{}`)), Options{}); !strings.Contains(got, "shell  go test ./...\n") {
		t.Errorf("the call is shown as\n%s", got)
	}
}

// TestReadUpToTheError: what came before it is shown.
func TestReadUpToTheError(t *testing.T) {
	broken := errors.New("broken")
	for _, write := range []func() (string, error){
		func() (string, error) {
			var b strings.Builder
			s := stream()
			s.Messages = each([]*session.Message{user(1, "hello"), said(call("a", "shell", `{"command":"ls"}`))}, broken)
			err := Text(&b, s, Options{Width: 80, Tools: Brief})
			return b.String(), err
		},
		func() (string, error) {
			var b strings.Builder
			s := stream()
			s.Messages = each([]*session.Message{user(1, "hello"), said(call("a", "shell", `{"command":"ls"}`))}, broken)
			err := Markdown(&b, s, Options{Tools: Brief})
			return b.String(), err
		},
	} {
		got, err := write()
		if !errors.Is(err, broken) || !strings.Contains(got, "hello") || !strings.Contains(got, "ls") {
			t.Errorf("%v\n%s", err, got)
		}
	}
}

func TestTurns(t *testing.T) {
	for in, want := range map[string]Turns{"": {}, "3": {from: 3, to: 3}, "2-5": {from: 2, to: 5}, "7-": {from: 7}, "-3": {last: 3}, "4-4": {from: 4, to: 4}} {
		if got, err := ParseTurns(in); got != want || err != nil {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
	for _, in := range []string{"0", "-", "-0", "5-2", "a", "1-b", "b-1", "+3", "1-2-3", "--3", "1,2", " 1"} {
		if got, err := ParseTurns(in); err == nil {
			t.Errorf("%q: %+v", in, got)
		}
	}
	list := []*session.Message{{Role: session.System, Parts: []session.Part{&session.Text{Text: "be good"}}}}
	for n := range 5 {
		list = append(list, user(n+1, "prompt"), said(&session.Text{Text: "answer"}))
	}
	for in, want := range map[string]string{"": "s1a2a3a4a5a", "1": "s1a", "2-3": "2a3a", "4-": "4a5a", "-2": "4a5a", "-9": "s1a2a3a4a5a", "9": "the session has 5 turns"} {
		turns, err := ParseTurns(in)
		if err != nil {
			t.Fatal(err)
		}
		last, err := LastTurn(stream(list...))
		if err != nil || last != 5 {
			t.Fatal(last, err)
		}
		var got strings.Builder
		for m, err := range turns.Resolve(last).Pick(stream(list...)).Messages {
			switch {
			case err != nil:
				got.WriteString(err.Error())
			case m.Turn != nil:
				got.WriteByte(byte('0' + m.Turn.Number))
			case m.Role == session.System:
				got.WriteByte('s')
			default:
				got.WriteByte('a')
			}
		}
		if got.String() != want {
			t.Errorf("%s: %s, want %s", in, got.String(), want)
		}
	}
}

// TestPickStops: nothing is read behind the last turn that is wanted.
func TestPickStops(t *testing.T) {
	turns, err := ParseTurns("1-2")
	if err != nil {
		t.Fatal(err)
	}
	s := stream()
	s.Messages = each([]*session.Message{user(1, "a"), user(2, "b"), user(3, "c")}, errors.New("read too far"))
	for _, err := range turns.Pick(s).Messages {
		if err != nil {
			t.Error(err)
		}
	}
}

// FuzzText: nothing that acts on a terminal comes through, and outside of code
// every line keeps to the width.
func FuzzText(f *testing.F) {
	f.Add("# Title\x1b[31m\n\n- a list \u202ewith words "+strings.Repeat("x", 300)+"\n```go\n\tcode\n```\n", `{"success":{"stdout":"\u001b[2Jhello"}}`, 80)
	f.Add("👩\u200d👩\u200d👧 می\u200cخواهم", `{"success":{"diffString":"--- a\n+++ b\n@@ -1 +1 @@\n-\u001b\n+\u202e"}}`, 20)
	f.Add("~~~\n| a | b |\n", `[[[[{"a":"b"}]]]]`, 200)
	f.Add("**bold\x1b[31m *em* `code\x1b[2J`** [a\x1b](\x1b) _x_ ~~y~~ > q\n> > **q** "+strings.Repeat("*a* ", 100), `"*x*"`, 40)
	f.Fuzz(func(t *testing.T, words, value string, width int) {
		width = 40 + max(0, width)%300
		for _, color := range []screen.Palette{false, true} {
			got := shown(t, hostile(words, value), Options{Width: width, Palette: color, Thinking: true, All: true, Zone: nil, Source: words})
			if color {
				got = unstyled(t, got)
			}
			for _, r := range got {
				if r != '\n' && r != 0x200c && r != 0x200d && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
					t.Fatalf("%q, %q: %U comes through", words, value, r)
				}
			}
			if strings.Contains(words, "```") || strings.Contains(words, "~~~") || strings.Contains(words, "|") || bool(color) && (strings.Contains(words, "    ") || strings.Contains(words, "\t")) {
				continue // code and tables are not wrapped
			}
			for line := range strings.Lines(got) {
				if n := screen.Cells(screen.Safe(strings.TrimRight(line, "\n"))); n > width && !strings.Contains(line, "rehome show") {
					t.Fatalf("%q, %q in %d: %d cells: %q", words, value, width, n, line)
				}
			}
		}
	})
}

// unstyled takes our own styles out of a text. Each ends before another begins,
// and on its own line: no style reaches what follows.
func unstyled(t *testing.T, s string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(s) {
		open := false
		rest := styleCode.ReplaceAllStringFunc(line, func(code string) string {
			if reset := code == "\x1b[0m"; reset != open {
				t.Fatalf("%q: %q begins or ends twice", line, code)
			}
			open = !open
			return ""
		})
		if open {
			t.Fatalf("%q: a style does not end", line)
		}
		out.WriteString(rest)
	}
	return out.String()
}

var styleCode = regexp.MustCompile(`\x1b\[(?:0|(?:[12349]|3[1-6]|38;5;\d+)(?:;(?:[349]|36))*)m`)

// hostile is a session that says the same words in every place.
func hostile(words, value string) *session.Session {
	s := stream(
		&session.Message{Role: session.System, Parts: []session.Part{&session.Text{Text: words}}},
		&session.Message{Role: session.User, Turn: &session.Turn{Number: 1, Kind: words, Model: words, Status: words, Error: words}, Parts: []session.Part{
			&session.Injected{Tag: words, Text: words}, &session.Text{Text: words}, &session.Media{Mime: words, Name: words, URI: words}}},
		said(&session.Thinking{Text: words}, &session.Text{Text: words}, &session.Opaque{Kind: words},
			&session.ToolCall{ID: "1", Name: words, Kind: words, Args: session.Raw(value), Child: words}),
		&session.Message{Role: session.Tool, Parts: []session.Part{&session.ToolResult{Call: "1", Status: words, Error: true, Content: []session.Part{&session.Text{Text: words}}}}},
		said(&session.ToolCall{ID: "2", Name: words, Input: session.Raw(value)}), result("2", "success", value),
		&session.Message{Role: session.System, Branch: words, Archived: true, Parts: []session.Part{&session.Boundary{Archived: 3}, &session.Summary{Text: words}}},
	)
	s.Title, s.ID, s.Workspace, s.Agent, s.Status, s.Model, s.Branch, s.Plan = words, words, words, words, words, words, words, words
	s.Missing, s.Todos, s.Children = []string{words}, []session.Todo{{Content: words, Status: words}}, []session.Link{{Session: words, Title: words, Kind: words}}
	s.Branches = []session.Branch{{Name: words, From: words}}
	s.Files = func(yield func(*session.File, error) bool) {
		yield(&session.File{Path: words, After: &session.Body{}}, nil)
	}
	return s
}

// TestEnding is how a run ended where its line comes behind everything else: a
// failure must not look like the end of a good one.
func TestEnding(t *testing.T) {
	for _, c := range []struct{ kind, raw, want, not string }{
		{"result/success", `{"is_error":false,"duration_ms":2500,"result":"Ten.","usage":{"inputTokens":7,"outputTokens":"3"}}`, "── run ended · 2.5 s · tokens 7 in, 3 out ─", "Ten."},
		{"result/success", `{"is_error":true,"result":"out of quota"}`, "── run failed ─", "run ended"},
		{"result/error_during_execution", `{"is_error":false,"result":"no such model"}`, "no such model", "run ended"},
		{"result/success", `{"is_error":true,"result":"\u001b[31mred"}`, `\x1b[31mred`, "\x1b"},
		{"result/paused", `{"is_error":false}`, "── run ended ─", "failed"},
		{"result/success", `[1]`, "[result/success 3 B]", "run"},
		{"results", `{}`, "[results 2 B]", "run"},
	} {
		got := shown(t, stream(user(1, "hi"), said(&session.Opaque{Kind: c.kind, Raw: session.Raw(c.raw)})), Options{Streaming: true, All: true})
		if !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("%s %s:\n%s", c.kind, c.raw, got)
		}
	}
}

// TestLateResult is a result that comes behind what was said in between: it
// says which call it is of, and the call is counted once.
func TestLateResult(t *testing.T) {
	list := func() *session.Session {
		return stream(user(1, "go"), said(call("b1", "shell", `{"command":"serve"}`), &session.Text{Text: "It starts."}),
			result("b1", "success", `{"success":{"stdout":"listening"}}`), result("other", "success", `{"success":{"stdout":"lost"}}`))
	}
	got := shown(t, list(), Options{})
	if strings.Count(got, "shell  serve") != 2 || strings.Contains(got, "result b1") || !strings.Contains(got, "listening") || !strings.Contains(got, "result other") {
		t.Errorf("not told which call it is of:\n%s", got)
	}
	if got := shown(t, list(), Options{Tools: None}); strings.Count(got, "[1 tool call]") != 2 || strings.Contains(got, "2 tool calls") {
		t.Errorf("counted wrongly:\n%s", got)
	}
}

// TestQueue: calls are found by their ids, the first of one id first, and what
// was taken leaves no room behind.
func TestQueue(t *testing.T) {
	var q callQueue
	for i := range 10_000 {
		q.put(&session.ToolCall{ID: strconv.Itoa(i % 5_000), Name: strconv.Itoa(i)})
	}
	for i := 9_999; i >= 0; i-- {
		want := strconv.Itoa((i + 5_000) % 10_000)
		if c := q.take(strconv.Itoa(i % 5_000)); c == nil || c.Name != want {
			t.Fatalf("%d: %v, want %s", i, c, want)
		}
		if len(q.calls) > 2*q.waiting+maxUnanswered+1 {
			t.Fatalf("%d places for %d calls", len(q.calls), q.waiting)
		}
	}
	if q.take("1") != nil || q.waiting != 0 {
		t.Error("something is left")
	}
}

// TestFactsFolder: a folder that is the workspace, too, is named once.
func TestFactsFolder(t *testing.T) {
	s := &session.Session{Head: session.Head{Workspace: "/app"}, Folders: []string{"/app", "/lib"}, Branch: "main"}
	for _, f := range (&Options{}).Facts(s) {
		if f.Name == "folder" && f.Value != "/app (main), /lib" {
			t.Errorf("folder: %s", f.Value)
		}
	}
}

// TestTwoTruths: what the model received is printed, and another text that the client recorded
// beside it is named.
func TestTwoTruths(t *testing.T) {
	diff := `"diffString":"@@ -1 +1 @@\n-dry\n+recorded\n"`
	for name, c := range map[string]struct {
		input, args, sent, value string
		want, never              string
	}{
		"output": {`{"command":"cat a"}`, "", "Exit code: 0\nOutput:\nsent", `{"stdout":"recorded"}`, "not sent, but recorded by the client: recorded", "    recorded"},
		"empty":  {`{"command":"true"}`, "", "", `{"stdout":"recorded"}`, "not sent, but recorded by the client: recorded", "    recorded"},
		"edit":   {`{"path":"a","old_string":"dry","new_string":"sent"}`, "", "done", `{` + diff + `}`, "+sent", "recorded"},
		"patch":  {`"*** Begin Patch\n*** Update File: a\n-dry\n+sent\n"`, "", "done sent", `{` + diff + `}`, "done sent", "recorded"},
		"write":  {`{"path":"a","contents":"wet"}`, "", "sent", `{"beforeFullFileContent":"dry","afterFullFileContent":"recorded"}`, "sent", "recorded"},
		"input":  {`{"command":"cat sent"}`, `{"command":"cat recorded"}`, "sent", `{}`, "cat sent", "recorded"},
		"same":   {`{"path":"a","old_string":"dry","new_string":"x recorded y"}`, "", "done", `{` + diff + `}`, "@@ -1 +1 @@", "sent"},
	} {
		r := result("c", "success", c.value)
		r.Parts[0].(*session.ToolResult).Content = []session.Part{&session.Text{Text: c.sent}}
		one := &session.ToolCall{ID: "c", Name: "x", Input: session.Raw(c.input), Args: session.Raw(c.args)}
		for _, detail := range []Detail{Brief, Full} {
			out := shown(t, stream(user(1, "go"), said(one), r), Options{Tools: detail})
			if !strings.Contains(out, c.want) || strings.Contains(out, c.never) {
				t.Errorf("%s: want %q and not %q in\n%s", name, c.want, c.never, out)
			}
		}
	}
}

package lineclient_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/formatstest"
	"rehome/formats/loss"
	"rehome/formats/pi"
	"rehome/formats/session"
)

// written is a session as Pi would read it: what its lines say, the losses, and the lines.
type written struct {
	said   []string
	losses []string
	lines  []line
	path   string
}

type line struct {
	Type, ID, ParentID, Timestamp, Summary string
	Message                                struct {
		Role, ToolCallID, Command, Output, Model string
		ExitCode                                 int
		Content                                  any
	}
	Content any
}

// say returns what a line says, in short.
func (l line) say() string {
	words := func(content any) string {
		blocks, _ := content.([]any)
		var out []string
		for _, b := range blocks {
			b := b.(map[string]any)
			switch b["type"] {
			case "text":
				out = append(out, b["text"].(string))
			case "toolCall":
				args, _ := json.Marshal(b["arguments"])
				out = append(out, fmt.Sprintf("%s %s%s", b["id"], b["name"], args))
			default:
				out = append(out, fmt.Sprint(b["type"]))
			}
		}
		return strings.Join(out, " + ")
	}
	switch m := l.Message; {
	case l.Type == "compaction":
		return "compaction: " + l.Summary
	case l.Type == "custom_message":
		return "context: " + words(l.Content)
	case m.Role == "bashExecution":
		return fmt.Sprintf("command: %s: %s, %d", m.Command, strings.TrimSpace(m.Output), m.ExitCode)
	case m.Role == "toolResult":
		return "result " + m.ToolCallID + ": " + words(m.Content)
	case m.Role != "":
		return m.Role + ": " + words(m.Content)
	}
	return l.Type
}

// write writes messages of a session of another client, which the client accepts.
func write(t *testing.T, b formats.SessionBuild, s *session.Session, messages ...*session.Message) written {
	t.Helper()
	if s == nil {
		s = &session.Session{}
	}
	if s.Agent == "" {
		s.Head = session.Head{ID: "one", Agent: session.Codex, Created: session.Stored(1767225600000), Workspace: "/w"}
	}
	s.Messages = each(messages)
	return put(t, b, s)
}

func each(messages []*session.Message) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		for _, m := range messages {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// put writes a session, which the client accepts.
func put(t *testing.T, b formats.SessionBuild, s *session.Session) written {
	t.Helper()
	var w written
	if b.Path == "" {
		b.Path = filepath.Join(t.TempDir(), "2026-01-01T00-00-00-000Z_one.jsonl")
	}
	b.OnLoss = func(n loss.Loss) { w.losses = append(w.losses, string(n.Code)+" "+n.At.File) }
	d, err := pi.Format().Writer.New().Put(t.Context(), s, b)
	if err == nil {
		err = d.Verify(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	w.path = b.Path
	w.read(t)
	return w
}

func (w *written) read(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(w.path)
	if err != nil {
		t.Fatal(err)
	}
	w.said, w.lines = nil, nil
	for one := range strings.Lines(string(text)) {
		var l line
		if err := json.Unmarshal([]byte(one), &l); err != nil {
			t.Fatal(err)
		}
		if w.lines = append(w.lines, l); l.Type != "session" && l.Type != "custom" {
			w.said = append(w.said, l.say())
		}
	}
}

func (w *written) wants(t *testing.T, losses string, said ...string) {
	t.Helper()
	if !slices.Equal(w.said, said) {
		t.Errorf("it says\n\t%s\nand not\n\t%s", strings.Join(w.said, "\n\t"), strings.Join(said, "\n\t"))
	}
	var codes []string
	for _, l := range w.losses {
		if code, _, _ := strings.Cut(l, " "); code != string(loss.TimeUnknown) && code != string(loss.TurnRecord) {
			codes = append(codes, l)
		}
	}
	if got := strings.Join(codes, ", "); got != losses {
		t.Errorf("losses %q, want %q", got, losses)
	}
}

// at returns the line that says something.
func (w *written) at(t *testing.T, said string) line {
	t.Helper()
	i := slices.IndexFunc(w.lines, func(l line) bool { return l.say() == said })
	if i < 0 {
		t.Fatalf("no line says %q", said)
	}
	return w.lines[i]
}

var ids int

func message(role session.Role, parts ...session.Part) *session.Message {
	ids++
	return &session.Message{ID: fmt.Sprint("m", ids), Role: role, Parts: parts}
}

func text(s string) session.Part { return &session.Text{Text: s} }

func prompt(s string) *session.Message {
	m := message(session.User, text(s))
	m.Turn = &session.Turn{Number: 1}
	return m
}

func answer(s string, calls ...string) *session.Message {
	m := message(session.Assistant)
	if s != "" {
		m.Parts = append(m.Parts, text(s))
	}
	for _, id := range calls {
		m.Parts = append(m.Parts, &session.ToolCall{ID: id, Name: "run", Input: session.Raw(`{"of":"` + id + `"}`)})
	}
	return m
}

func result(call, s string) *session.Message {
	return message(session.Tool, &session.ToolResult{Call: call, Content: []session.Part{text(s)}})
}

// from names the record of a message, for its losses.
func from(at string, m *session.Message) *session.Message {
	m.Origin = []string{at}
	return m
}

// TestResults: results follow their calls, and nothing stands between.
func TestResults(t *testing.T) {
	for name, c := range map[string]struct {
		losses   string
		messages []*session.Message
		want     []string
	}{
		"in their order": {"", []*session.Message{answer("", "a", "b"), result("b", "B"), result("a", "A"), answer("ok")},
			[]string{`assistant: a run{"of":"a"} + b run{"of":"b"}`, "result b: B", "result a: A", "assistant: ok"}},
		"after another answer": {"", []*session.Message{answer("", "a"), answer("then", "b"), message(session.System, &session.Summary{Text: "short"}), result("a", "A"), result("b", "B")},
			[]string{`assistant: a run{"of":"a"}`, "result a: A", `assistant: then + b run{"of":"b"}`, "result b: B", "context: short"}},
		"of the second first": {"", []*session.Message{answer("", "a"), answer("", "b"), result("b", "B"), result("a", "A")},
			[]string{`assistant: a run{"of":"a"}`, "result a: A", `assistant: b run{"of":"b"}`, "result b: B"}},
		"none before a prompt": {"", []*session.Message{answer("", "a"), answer("", "b"), result("b", "B"), prompt("go on")},
			[]string{`assistant: a run{"of":"a"}`, `assistant: b run{"of":"b"}`, "result b: B", "user: go on"}},
		"none at the end": {"", []*session.Message{answer("", "a"), answer("end")},
			[]string{`assistant: a run{"of":"a"}`, "assistant: end"}},
		"after a prompt": {"L221 late", []*session.Message{answer("", "a"), prompt("go on"), from("late", result("a", "A"))},
			[]string{`assistant: a run{"of":"a"}`, "user: go on", "context: Result of a tool call: + A"}},
		"twice": {"L221 again", []*session.Message{answer("", "a"), result("a", "A"), from("again", result("a", "more"))},
			[]string{`assistant: a run{"of":"a"}`, "result a: A", "context: Result of a tool call: + more"}},
		"twice while the call waits": {"L221 again", []*session.Message{answer("", "a"), answer("", "b"), result("b", "B"), from("again", result("b", "more")), result("a", "A")},
			[]string{`assistant: a run{"of":"a"}`, "result a: A", `assistant: b run{"of":"b"}`, "result b: B", "context: Result of a tool call: + more"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := write(t, formats.SessionBuild{}, nil, append([]*session.Message{prompt("go")}, c.messages...)...)
			w.wants(t, c.losses, append([]string{"user: go"}, c.want...)...)
		})
	}
}

// TestCallIDs: no two calls have the same id, each result that of its call, and arguments are objects.
func TestCallIDs(t *testing.T) {
	w := write(t, formats.SessionBuild{}, nil, prompt("go"), from("1", answer("", "a", "a")), result("a", "first"), result("a", "second"),
		from("2", answer("", "a")), result("a", "third"), from("3", message(session.Assistant, &session.ToolCall{Input: session.Raw(`"text"`)})), result("", "fourth"))
	w.wants(t, "L215 1, L215 2, L212 3, L225 3, L215 3", "user: go",
		`assistant: a run{"of":"a"} + a-2 run{"of":"a"}`, "result a: first", "result a-2: second",
		`assistant: a-3 run{"of":"a"}`, "result a-3: third",
		`assistant: call unknown{"input":"text"}`, "result call: fourth")
}

// TestWaiting: what waits for a result is bounded. A result that comes later is told as text, and
// that of the last call is still its result.
func TestWaiting(t *testing.T) {
	for name, many := range map[string][]*session.Message{
		"lines": slices.Repeat([]*session.Message{answer("so many")}, 1000),
		"bytes": slices.Repeat([]*session.Message{answer(strings.Repeat("so much ", 1<<17))}, 8),
	} {
		t.Run(name, func(t *testing.T) {
			list := append([]*session.Message{prompt("go"), answer("", "a")}, many...)
			list = append(list, answer("last", "b"), from("late", result("a", "A")), result("b", "B"))
			w := write(t, formats.SessionBuild{}, nil, list...)
			if n := len(many) + 5; len(w.said) != n {
				t.Fatalf("%d lines, want %d", len(w.said), n)
			}
			w.said = append(w.said[:2], w.said[len(w.said)-3:]...)
			w.wants(t, "L221 late", "user: go", `assistant: a run{"of":"a"}`, `assistant: last + b run{"of":"b"}`, "result b: B", "context: Result of a tool call: + A")
		})
	}
}

// TestWaitingIsCopied: what waits shares no memory with its message.
func TestWaitingIsCopied(t *testing.T) {
	s := &session.Session{Head: session.Head{ID: "one", Agent: session.Codex}}
	list := []*session.Message{
		prompt("go"), answer("", "a"), answer("", "b"),
		message(session.Tool, &session.ToolResult{Call: "b", Content: []session.Part{&session.Media{Data: picture}, text("B")}}), result("a", "A"),
	}
	s.Messages = formatstest.Fleeting(each(list))
	w := put(t, formats.SessionBuild{}, s)
	w.wants(t, "", "user: go", `assistant: a run{"of":"a"}`, "result a: A", `assistant: b run{"of":"b"}`, "result b: image + B")
	if got := w.at(t, "result b: image + B").Message.Content.([]any)[0].(map[string]any)["data"]; got != base64.StdEncoding.EncodeToString(picture) {
		t.Errorf("the image is %q", got)
	}
}

// picture is a black dot.
var picture, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

// branched returns a session with an answer that was left, and its messages.
func branched(from string) (*session.Session, []*session.Message) {
	list := []*session.Message{prompt("first"), answer("one"), prompt("second"), answer("two"), prompt("left"), answer("gone")}
	for i, m := range list {
		if m.ID = fmt.Sprint("b", i); i >= 4 {
			m.Branch = "x"
		}
	}
	return &session.Session{Branches: []session.Branch{{Name: "x", From: from}}}, list
}

// TestBranches: a branch begins at the line that it follows, and the client continues the live one.
func TestBranches(t *testing.T) {
	for from, after := range map[string]string{"b1": "assistant: one", "b2": "user: second", "b3": "assistant: two", "": ""} {
		s, list := branched(from)
		w := write(t, formats.SessionBuild{}, s, list...)
		w.wants(t, "", "user: first", "assistant: one", "user: second", "assistant: two", "user: left", "assistant: gone")
		want := ""
		if after != "" {
			want = w.at(t, after).ID
		}
		if got := w.at(t, "user: left").ParentID; got != want {
			t.Errorf("from %q: the branch follows %q, want %q", from, got, want)
		}
		if got, want := w.at(t, "assistant: gone").ParentID, w.at(t, "user: left").ID; got != want {
			t.Errorf("from %q: the answer follows %q, want %q", from, got, want)
		}
		if got, want := w.lines[len(w.lines)-1].ParentID, w.at(t, "assistant: two").ID; got != want {
			t.Errorf("from %q: the client continues %q, want %q", from, got, want)
		}
	}
}

// TestBranchOfNothing: a branch can follow a message that no line has, and one that nobody knows is
// reported.
func TestBranchOfNothing(t *testing.T) {
	s, list := branched("b1")
	list[1].Parts = []session.Part{&session.Thinking{Redacted: true, Data: "secret"}}
	w := write(t, formats.SessionBuild{}, s, list...)
	w.wants(t, "L529 b1", "user: first", "user: second", "assistant: two", "user: left", "assistant: gone")
	if got, want := w.at(t, "user: left").ParentID, w.at(t, "user: first").ID; got != want {
		t.Errorf("the branch follows %q, want %q", got, want)
	}
	s, list = branched("nowhere")
	w = write(t, formats.SessionBuild{}, s, list...)
	w.wants(t, "L517 b4, L517 b5", "user: first", "assistant: one", "user: second", "assistant: two")
}

// TestCompaction: a summary stands for what comes before it, unless all is to be shown.
func TestCompaction(t *testing.T) {
	gap := func(summary string) *session.Message {
		m := message(session.System, &session.Boundary{Archived: 2})
		if m.ID = "gap"; summary != "" {
			m.Parts = append(m.Parts, &session.Summary{Text: summary})
		}
		return m
	}
	early := func() []*session.Message {
		list := []*session.Message{prompt("first"), answer("one")}
		list[0].Archived, list[1].Archived = true, true
		return list
	}
	after := prompt("second")
	w := write(t, formats.SessionBuild{}, nil, append(early(), gap("It was short."), after)...)
	w.wants(t, "", "user: first", "assistant: one", "compaction: It was short.", "user: second")
	w = write(t, formats.SessionBuild{}, nil, append(early(), gap(""), after)...)
	w.wants(t, "L505 gap", "user: first", "assistant: one", "compaction: The conversation up to here was compacted. Its summary was not kept.", "user: second")
	w = write(t, formats.SessionBuild{FullHistory: true}, nil, append(early(), gap("It was short."), after)...)
	w.wants(t, "L504 gap", "user: first", "assistant: one", "user: second")
	older := gap("Older.")
	older.Archived = true
	w = write(t, formats.SessionBuild{}, nil, append(early(), older, gap("It was short."), after)...)
	w.wants(t, "", "user: first", "assistant: one", "compaction: Older.", "compaction: It was short.", "user: second")
}

// TestThinking: thinking is text for another client, which can leave it out.
func TestThinking(t *testing.T) {
	list := []*session.Message{prompt("go"), from("1", message(session.Assistant, &session.Thinking{Text: "Hm."}, text("So."))),
		from("2", message(session.Assistant, &session.Thinking{Signature: "s"})), from("3", message(session.Assistant, &session.Thinking{Redacted: true, Data: "d"})),
		from("4", message(session.Assistant, &session.Media{Data: picture}, text("See.")))}
	w := write(t, formats.SessionBuild{}, nil, list...)
	w.wants(t, "L527 1, L528 2, L529 3, L525 4", "user: go", "assistant: <thinking>\nHm.\n</thinking> + So.", "assistant: See.")
	w = write(t, formats.SessionBuild{DropThinking: true}, nil, list...)
	w.wants(t, "L526 1, L528 2, L529 3, L525 4", "user: go", "assistant: So.", "assistant: See.")
}

// TestCommand: a command that the user ran has its output and its exit code.
func TestCommand(t *testing.T) {
	ran := func() *session.Message {
		m := prompt("make")
		m.Turn.Kind = "shell"
		return m
	}
	came := func() *session.Message {
		return from("came", message(session.Tool, &session.ToolResult{Value: session.Raw(`{"stdout":"built\n","exitCode":2}`), Error: true}))
	}
	w := write(t, formats.SessionBuild{}, nil, ran(), came(), prompt("go"))
	w.wants(t, "L222 came, L218 came, L221 came", "command: make: built, 2", "user: go")
	w = write(t, formats.SessionBuild{}, nil, ran(), prompt("go"), answer("ok"), ran())
	w.wants(t, "", "command: make: , 0", "user: go", "assistant: ok", "command: make: , 0")
}

// TestModels: an answer that does not name its model has that of its turn.
func TestModels(t *testing.T) {
	first, second := prompt("first"), prompt("second")
	first.Turn.Model, second.Model = "m-1", "m-2"
	named := answer("three")
	named.Model = "m-3"
	w := write(t, formats.SessionBuild{}, nil, first, answer("one"), second, answer("two"), named, prompt("third"), answer("four"))
	for said, want := range map[string]string{"one": "m-1", "two": "m-2", "three": "m-3", "four": "unknown"} {
		if got := w.at(t, "assistant: "+said).Message.Model; got != want {
			t.Errorf("%s: model %q, want %q", said, got, want)
		}
	}
}

// TestContinue: messages are added after the line that the client continues, with ids and times of
// their own, also if there are branches among them.
func TestContinue(t *testing.T) {
	w := write(t, formats.SessionBuild{}, nil, prompt("go"), answer("ok", "a"), result("a", "A"))
	before, n := w.lines[len(w.lines)-1], len(w.lines)
	s, list := branched("b3")
	s.Head = session.Head{ID: "two", Agent: "pi"}
	list[0].ID = w.lines[1].ID
	add := write(t, formats.SessionBuild{Path: w.path, Continues: &formats.Continuation{ID: "one", Turns: 1}}, s, list...)
	add.wants(t, "", "user: go", `assistant: ok + a run{"of":"a"}`, "result a: A", "user: first", "assistant: one", "user: second", "assistant: two", "user: left", "assistant: gone")
	if got := add.lines[n]; got.ParentID != before.ID || got.Timestamp != before.Timestamp {
		t.Errorf("it goes on after %q at %s, want %q at %s", got.ParentID, got.Timestamp, before.ID, before.Timestamp)
	}
	if got, want := add.lines[len(add.lines)-1].ParentID, add.at(t, "assistant: two").ID; got != want {
		t.Errorf("the client continues %q, want %q", got, want)
	}
	seen := map[string]bool{}
	for _, l := range add.lines {
		if seen[l.ID] {
			t.Errorf("two lines have the id %q", l.ID)
		}
		seen[l.ID] = true
	}
}

// TestContinueTorn: a file whose last line is cut is not continued.
func TestContinueTorn(t *testing.T) {
	w := write(t, formats.SessionBuild{}, nil, prompt("go"))
	b, err := os.ReadFile(w.path)
	if err == nil {
		err = os.WriteFile(w.path, b[:len(b)-9], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &session.Session{Head: session.Head{ID: "two", Agent: session.Codex}, Messages: each([]*session.Message{prompt("more")})}
	_, err = pi.Format().Writer.New().Put(t.Context(), s, formats.SessionBuild{Path: w.path, Continues: &formats.Continuation{ID: "one"}})
	if err == nil || !strings.Contains(err.Error(), "incomplete") {
		t.Errorf("it was continued: %v", err)
	}
}

// TestSettings: a setting of a turn is a line of its branch.
func TestSettings(t *testing.T) {
	s, list := branched("b1")
	s.Head = session.Head{ID: "two", Agent: "pi"}
	set := session.Raw(`{"type":"model_change","id":"set","timestamp":"2026-01-01T00:00:09.000Z","provider":"p","modelId":"m"}`)
	list[4].Turn.Extras = []session.Extra{{Name: "model_change", Raw: set}}
	w := write(t, formats.SessionBuild{}, s, list...)
	w.wants(t, "", "user: first", "assistant: one", "user: second", "assistant: two", "user: left", "model_change", "assistant: gone")
	got, want := w.at(t, "model_change"), w.at(t, "user: left").ID
	if got.ParentID != want || got.ID != "set" || got.Timestamp != "2026-01-01T00:00:09.000Z" {
		t.Errorf("the setting is %q after %q at %s", got.ID, got.ParentID, got.Timestamp)
	}
}

package agentwrite_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/agentwrite"
	"rehome/formats/internal/cursortools"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// TestUnlinked: a link to a subagent whose session is not written is reported, of the call and of
// the session; one that is written is not.
func TestUnlinked(t *testing.T) {
	call := func(id, child string) *session.ToolCall {
		return &session.ToolCall{ID: id, Name: "Task", Kind: "task", Input: session.Raw(`{"prompt":"look"}`), Child: child}
	}
	h := &held{Session: session.Session{Head: session.Head{ID: "s", Agent: session.CursorSDK}, Children: []session.Link{{Session: "kid", Call: "a"}, {Session: "gone", Call: "b"}}}, list: []*session.Message{
		{Role: session.User, Turn: &session.Turn{}, Parts: []session.Part{&session.Text{Text: "go"}}},
		{ID: "m", Role: session.Assistant, Parts: []session.Part{call("a", "kid"), call("b", "gone")}},
	}}
	kid := &held{Session: session.Session{Head: session.Head{ID: "kid", Agent: session.CursorSDK, Parent: &session.Link{Session: "s", Call: "a", Title: "Look around"}}}}
	w := write(t, agentwrite.Options{}, h, kid)
	var got []string
	for _, line := range w.text {
		if l, _, _ := strings.Cut(line, ":"); strings.HasPrefix(l, string(loss.LinkDropped)) {
			got = append(got, l)
		}
	}
	if want := []string{"L845 m", "L845 s"}; !slices.Equal(got, want) {
		t.Errorf("losses %q, want %q", got, want)
	}
	if !slices.ContainsFunc(w.order, func(id agentstate.ID) bool { return strings.Contains(string(w.data[id]), "Look around") }) {
		t.Error("the title that only the subagent knows is not in the state")
	}
}

// TestNamed: what a state has no place for is reported, and of the message that had it.
func TestNamed(t *testing.T) {
	more := []session.Extra{{Name: "odd", Raw: session.Raw(`"x"`)}}
	says := func(role session.Role, parts ...session.Part) *session.Message {
		return &session.Message{Role: role, Parts: parts}
	}
	asks := func(kind string, parts ...session.Part) *session.Message {
		m := says(session.User, parts...)
		m.Turn = &session.Turn{Number: 1, Kind: kind, Status: "finished"}
		return m
	}
	aside := func(m *session.Message) *session.Message {
		m.Branch = "b"
		return m
	}
	call := &session.ToolCall{ID: "c", Name: "Shell", Kind: "shell", Input: session.Raw(`{"command":"ls"}`), Extras: more}
	result := &session.ToolResult{Call: "c", Content: []session.Part{&session.Text{Text: "a"}}}
	messageID := []session.Extra{{Name: "messageId", Raw: session.Raw(`"u"`)}}
	run := asks(agentstate.ShellTurn, &session.Text{Text: "ls"})
	run.Extras = messageID
	for name, c := range map[string]struct {
		agent string
		said  []*session.Message
		want  string // a loss, and which message it names
	}{
		"extras of a call":    {session.Codex, []*session.Message{asks("", &session.Text{Text: "go"}), says(session.Assistant, call), says(session.Tool, result)}, "L519 1"},
		"no result":           {session.Codex, []*session.Message{asks("", &session.Text{Text: "go"}), says(session.Assistant, call), asks("", &session.Text{Text: "on"})}, "L216 1"},
		"a call that waits":   {session.CursorCLI, []*session.Message{asks("", &session.Text{Text: "go"}), says(session.Assistant, call)}, "L519 1"},
		"a tool's other name": {session.ClaudeCode, []*session.Message{asks("", &session.Text{Text: "go"}), says(session.Assistant, &session.ToolCall{ID: "c", Name: "Bash", Kind: "shell", Input: session.Raw(`{"command":"ls"}`)}), says(session.Tool, result)}, "L214 1"},
		"context of a prompt": {session.CursorCLI, []*session.Message{asks("", &session.Injected{Tag: "user_info", Text: "x", Extras: more}, &session.Text{Text: "go"})}, "L519 0"},
		"a branch":            {session.CursorCLI, []*session.Message{asks("", &session.Text{Text: "go"}), aside(asks("", &session.Text{Text: "try"})), aside(says(session.Assistant, &session.Text{Text: "no"}))}, "L830 1"},
		"a branch of answers": {session.CursorCLI, []*session.Message{asks("", &session.Text{Text: "go"}), aside(says(session.Assistant, &session.Text{Text: "no"})), aside(says(session.Assistant, &session.Text{Text: "no, no"}))}, "L830 1"},
		"a command's id":      {session.CursorCLI, []*session.Message{run}, "L518 0"},
		"a command's status":  {session.CursorCLI, []*session.Message{asks(agentstate.ShellTurn, &session.Text{Text: "ls"})}, "L833 0"},
	} {
		h := &held{Session: session.Session{Head: session.Head{ID: "s", Agent: c.agent}}, list: c.said}
		for i, m := range c.said {
			m.ID, m.Origin = fmt.Sprint("m", i), []string{fmt.Sprint(i)}
		}
		var got []string
		for _, line := range write(t, agentwrite.Options{Runs: noRuns{}}, h).text {
			if loss, _, _ := strings.Cut(line, ":"); strings.HasPrefix(loss, c.want[:4]) {
				got = append(got, loss)
			}
		}
		if !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	h := &held{Session: session.Session{Head: session.Head{ID: "s", Agent: session.CursorCLI}}, list: []*session.Message{{ID: "m", Role: session.User, Turn: &session.Turn{Number: 1}, Parts: []session.Part{&session.Text{Text: "go"}}}}}
	for _, text := range []string{"a", "b"} {
		h.files = append(h.files, &session.File{Path: "/w/f", Before: &session.Body{Bytes: []byte(text)}})
	}
	if got := write(t, agentwrite.Options{}, h).text; len(got) != 1 || !strings.HasPrefix(got[0], string(loss.FileStatesMerged)+" /w/f:") {
		t.Errorf("states of a file: %q", got)
	}
}

// TestLateResult: the result of an earlier call leaves nothing of an answer that waits for its own.
func TestLateResult(t *testing.T) {
	call := func(id string) *session.ToolCall {
		return &session.ToolCall{ID: id, Name: "Shell", Input: session.Raw(`{"command":"ls"}`)}
	}
	h := &held{Session: session.Session{Head: session.Head{ID: "s", Agent: session.CursorCLI}}, list: []*session.Message{
		{ID: "1", Role: session.User, Turn: &session.Turn{Number: 1}, Parts: []session.Part{&session.Text{Text: "go"}}},
		{ID: "2", Role: session.Assistant, Parts: []session.Part{call("a")}},
		{ID: "3", Role: session.Assistant, Parts: []session.Part{&session.Text{Text: "and"}, call("b")}},
		{ID: "4", Role: session.Tool, Parts: []session.Part{&session.ToolResult{Call: "a", Content: []session.Part{&session.Text{Text: "x"}}}}},
	}}
	write(t, agentwrite.Options{}, h).reached(t)
}

// noRuns has a place for what a state has none for, and forgets it.
type noRuns struct{}

func (noRuns) Turn(m *session.Message, _ string) string        { return m.Turn.RequestID }
func (noRuns) Text(string, session.Stamp)                      {}
func (noRuns) Thinking(*session.Thinking, session.Stamp)       {}
func (noRuns) Call(string, *cursortools.Call, session.Stamp)   {}
func (noRuns) Result(string, *cursortools.Call, session.Stamp) {}

// TestNamedImage: an image of a prompt is shown to the model as an image, with a name or without.
func TestNamedImage(t *testing.T) {
	for _, name := range []string{"", "stairs.png"} {
		h := &held{Session: session.Session{Head: session.Head{ID: "s", Agent: session.CursorSDK}}, list: []*session.Message{
			{Role: session.User, Turn: &session.Turn{}, Parts: []session.Part{&session.Text{Text: "go"}, &session.Media{Mime: "image/png", Name: name, Data: []byte("png")}}},
		}}
		w := write(t, agentwrite.Options{}, h)
		if !slices.ContainsFunc(w.order, func(id agentstate.ID) bool { return strings.Contains(string(w.data[id]), `{"type":"image","image":`) }) {
			t.Errorf("%q: no message has the image", name)
		}
	}
}

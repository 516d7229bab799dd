package agentwrite_test

import (
	"strings"
	"testing"

	"rehome/formats/internal/agentwrite"
	"rehome/formats/internal/toolmap"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// TestWaiting writes answers that the session may end with, whose calls have no results. If
// it does, nothing is stored that the root does not lead to.
func TestWaiting(t *testing.T) {
	text := func(s string) *session.Text { return &session.Text{Text: s} }
	waits := func(id string) *session.Message {
		return &session.Message{Role: session.Assistant, Model: "m", Parts: []session.Part{text("On it " + id + "."), &session.Thinking{Text: "how " + id},
			&session.ToolCall{ID: id, Name: "Shell", Input: session.Raw(`{"command":"ls"}`)}}}
	}
	ask := func(s string) *session.Message {
		return &session.Message{Role: session.User, Turn: &session.Turn{}, Parts: []session.Part{text(s)}}
	}
	shell := ask("ls")
	shell.Turn.Kind = "shell"
	file := func(before, after string) *session.File {
		return &session.File{Path: "/w/a", Before: &session.Body{Bytes: []byte(before)}, After: &session.Body{Bytes: []byte(after)}}
	}
	compacts := &session.Message{Role: session.System, Parts: []session.Part{&session.Boundary{}, &session.Summary{Text: "short"}}}
	result := &session.Message{Role: session.Tool, Parts: []session.Part{&session.ToolResult{Call: "a", Content: []session.Part{text("ok")}}}}
	for _, c := range []struct {
		name  string
		list  []*session.Message
		files []*session.File
		added int // results
		calls int // 1 if it is 0
	}{
		{name: "last", list: []*session.Message{ask("go"), waits("a")}},
		{name: "before any prompt", list: []*session.Message{waits("a")}},
		{name: "twice", list: []*session.Message{ask("go"), waits("a"), waits("b")}, added: 1, calls: 2},
		{name: "then nothing to write", list: []*session.Message{ask("go"), waits("a"), {Role: session.Assistant, Parts: []session.Part{&session.Opaque{Kind: "odd"}}}}},
		{name: "answered", list: []*session.Message{ask("go"), waits("a"), result}},
		{name: "with a file", list: []*session.Message{ask("go"), waits("a")}, files: []*session.File{file("1", "2")}},
		{name: "with a file of two states", list: []*session.Message{ask("go"), waits("a")}, files: []*session.File{file("1", "2"), file("2", "3")}},
		{name: "then a prompt", list: []*session.Message{ask("go"), waits("a"), ask("on")}, added: 1},
		{name: "then a command", list: []*session.Message{ask("go"), waits("a"), shell}, added: 1},
		{name: "then a compaction", list: []*session.Message{ask("go"), waits("a"), compacts}, added: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &held{Session: session.Session{Head: session.Head{ID: "s", Agent: session.CursorSDK, Workspace: "/w"}}, list: c.list, files: c.files}
			w := write(t, agentwrite.Options{}, h)
			if w.notes[loss.ResultAdded] != c.added {
				t.Errorf("losses %q", w.text)
			}
			calls := 0
			for _, m := range w.read(t, &h.Session)[0].list {
				for _, p := range m.Parts {
					if k, ok := p.(*session.ToolCall); ok {
						if calls++; k.Name != "Shell" || string(k.Input) != `{"command":"ls"}` || m.Model != "m" || len(m.Parts) != 3 {
							t.Errorf("%s %s", k.Name, session.AppendMessage(nil, m))
						}
					}
				}
			}
			if calls != max(1, c.calls) {
				t.Errorf("%d calls", calls)
			}
		})
	}
}

// TestSummaries: the archive of a compaction has all of its summaries, and each is one again.
func TestSummaries(t *testing.T) {
	text := func(s string) *session.Text { return &session.Text{Text: s} }
	ask := func(s string) *session.Message {
		return &session.Message{Role: session.User, Turn: &session.Turn{}, Archived: s == "go", Parts: []session.Part{text(s)}}
	}
	h := &held{Session: session.Session{Head: session.Head{ID: "s", Agent: session.Codex}}, list: []*session.Message{ask("go"),
		{Role: session.System, Parts: []session.Part{&session.Boundary{Archived: 1}, &session.Summary{Text: "They went."}, &session.Summary{Text: "Then they ran."}}}, ask("on")}}
	w := write(t, agentwrite.Options{}, h)
	joined := 0
	for _, data := range w.data {
		joined += strings.Count(string(data), "They went.\n\nThen they ran.")
	}
	if joined != 1 {
		t.Errorf("%d archives have both summaries", joined)
	}
	for _, m := range w.read(t, &h.Session)[0].list {
		if m.Role == session.System && (len(m.Parts) != 3 || m.Parts[2].(*session.Summary).Text != "Then they ran.") {
			t.Errorf("%s", session.AppendMessage(nil, m))
		}
	}
}

// TestPlaceholder: nothing that was written claims that a call without a result succeeded.
func TestPlaceholder(t *testing.T) {
	h := &held{Session: session.Session{Head: session.Head{ID: "s", Agent: session.ClaudeCode, Workspace: "/w"}}}
	ask := &session.Message{Role: session.User, Turn: &session.Turn{}, Parts: []session.Part{&session.Text{Text: "go"}}}
	answer := &session.Message{Role: session.Assistant}
	for name, input := range map[string]string{
		"Bash": `{"command":"ls"}`, "Read": `{"file_path":"/a"}`, "Edit": `{"file_path":"/a","old_string":"x","new_string":"y"}`, "Grep": `{"pattern":"x"}`, "Glob": `{"pattern":"*"}`,
		"TodoWrite": `{"todos":[]}`, "Agent": `{"prompt":"p"}`, "WebFetch": `{"url":"https://x"}`, "AskUserQuestion": `{"questions":[]}`, "mcp__a__b": `{}`, "Skill": `{}`,
	} {
		answer.Parts = append(answer.Parts, &session.ToolCall{ID: name, Name: name, Input: session.Raw(input)})
	}
	h.list = []*session.Message{ask, answer, ask}
	w := write(t, agentwrite.Options{}, h)
	results := 0
	for _, m := range w.read(t, &h.Session)[0].list {
		for _, p := range m.Parts {
			if r, ok := p.(*session.ToolResult); ok {
				if results++; !r.Error || !toolmap.Failed(r.Status) {
					t.Errorf("%s: status %q, error %v: %s", r.Call, r.Status, r.Error, r.Value)
				}
			}
		}
	}
	if results != len(answer.Parts) || w.notes[loss.ResultAdded] != results {
		t.Errorf("%d results, losses %q", results, w.text)
	}
}

// TestHalves: half a character that a prompt keeps is no loss; in an answer it is one.
func TestHalves(t *testing.T) {
	const half = "half \xed\xa0\xbd"
	for _, c := range []struct {
		text   string
		answer bool
		lost   int
	}{{half, false, 0}, {half, true, 1}, {"bad \xff", false, 1}, {"whole 😀", true, 0}} {
		list := []*session.Message{{Role: session.User, Turn: &session.Turn{}, Parts: []session.Part{&session.Text{Text: c.text}}}}
		if c.answer {
			list[0].Parts[0] = &session.Text{Text: "go"}
			list = append(list, &session.Message{Role: session.Assistant, Parts: []session.Part{&session.Text{Text: c.text}}})
		}
		h := &held{Session: session.Session{Head: session.Head{ID: "s", Agent: session.CursorSDK, Workspace: "/w"}}, list: list}
		w := write(t, agentwrite.Options{}, h)
		got := w.read(t, &h.Session)[0].list
		if text := got[len(got)-1].Parts[0].(*session.Text).Text; (text == c.text) != (c.lost == 0) || w.notes[loss.TextRepaired] != c.lost {
			t.Errorf("%q, answer %v: %q, losses %q", c.text, c.answer, text, w.text)
		}
	}
}

// TestHalvesInCalls: a prompt message keeps the input of a call and the text of its result as
// they are; what only the step holds is reported.
func TestHalvesInCalls(t *testing.T) {
	const whole, half = `{"command":"ls"}`, `{"command":"ls \ud83d"}`
	for name, c := range map[string]struct {
		call  session.ToolCall
		seen  string
		value string
		lost  int
	}{
		"whole":     {session.ToolCall{Name: "Shell", Input: session.Raw(whole), Args: session.Raw(whole)}, "ok", `{"success":{"stdout":"ok"}}`, 0},
		"input":     {session.ToolCall{Name: "Shell", Input: session.Raw(half)}, "ok", "", 0},
		"seen":      {session.ToolCall{Name: "Shell", Input: session.Raw(whole)}, "half \xed\xa0\xbd", "", 0},
		"arguments": {session.ToolCall{Name: "Shell", Input: session.Raw(whole), Args: session.Raw(half)}, "ok", "", 1},
		"record":    {session.ToolCall{Name: "Shell", Input: session.Raw(whole)}, "ok", `{"success":{"stdout":"half \ud83d"}}`, 1},
		"names":     {session.ToolCall{Name: "mcp__a__b", Input: session.Raw(`{"x\ud83d":{"y\ud83d":1}}`)}, "ok", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			c.call.ID = "a"
			result := &session.ToolResult{Call: "a", Content: []session.Part{&session.Text{Text: c.seen}}, Value: session.Raw(c.value)}
			h := &held{Session: session.Session{Head: session.Head{ID: "s", Agent: session.CursorSDK, Workspace: "/w"}}, list: []*session.Message{
				{Role: session.User, Turn: &session.Turn{}, Parts: []session.Part{&session.Text{Text: "go"}}},
				{Role: session.Assistant, Parts: []session.Part{&c.call}},
				{Role: session.Tool, Parts: []session.Part{result}},
			}}
			w := write(t, agentwrite.Options{}, h)
			got := w.read(t, &h.Session)[0].list // which reports what no client writes
			if w.notes[loss.TextRepaired] != c.lost {
				t.Errorf("losses %q", w.text)
			}
			if text := got[2].Parts[0].(*session.ToolResult).Content[0].(*session.Text).Text; text != c.seen {
				t.Errorf("the model saw %q, not %q", text, c.seen)
			}
		})
	}
}

package claudecode

import (
	"context"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// own is a command of the user's own, and what came of it.
func own(command, output string) []*session.Message {
	asked := &session.Message{ID: "c", Role: session.User, Turn: &session.Turn{Number: 1, Kind: "shell"}}
	if command != "" {
		asked.Parts = []session.Part{words(command)}
	}
	return []*session.Message{asked, {ID: "o", Role: session.Tool, Parts: []session.Part{&session.ToolResult{Status: "success", Value: session.Raw(output)}}}}
}

// TestOwnCommand: the client draws a line that begins with its tag as the output
// of a command, and does not take it for a prompt.
func TestOwnCommand(t *testing.T) {
	for _, c := range []struct {
		name, command, output, want string
		meta                        bool
	}{
		{"it failed", "ls -la", `{"stdout":"total 0\n","exitCode":1}`, "<bash-stdout>total 0\n</bash-stdout><bash-stderr>Exit code 1</bash-stderr>", false},
		{"both", "x", `{"stdout":"out","stderr":"err\n","exitCode":2}`, "<bash-stdout>out</bash-stdout><bash-stderr>err\nExit code 2</bash-stderr>", false},
		{"without a word", "true", `{}`, "<bash-stdout></bash-stdout><bash-stderr></bash-stderr>", false},
		{"the command is lost", "", `{"stdout":"a"}`, "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", true},
		{"a record of another form", "x", `{"stdout":7}`, "Result of a tool call:\n{\"stdout\":7}", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := encoded(t, chat(own(c.command, c.output)...), formats.SessionBuild{})
			lint(t, w)
			blocks := w.blocks()
			if got := blocks[len(blocks)-1]["text"]; got != c.want {
				t.Errorf("it is told as %q, want %q", got, c.want)
			}
			if c.command != "" && blocks[0]["text"] != c.command {
				t.Errorf("the command is %q", blocks[0]["text"])
			}
			if meta := w.lines[len(blocks)-1]["isMeta"] == true; meta != c.meta {
				t.Errorf("nobody is shown it: %v", meta)
			}
			if !slices.ContainsFunc(w.notes, func(n loss.Loss) bool { return n.Kind() == loss.Reshaped }) {
				t.Error("nothing is noted")
			}
			if title := w.lines[len(w.lines)-1]["aiTitle"]; title != "A title" {
				t.Errorf("the title is %v", title)
			}
		})
	}
	later := append(own("ls", `{"stdout":"a"}`), &session.Message{ID: "u", Role: session.User, Parts: []session.Part{words("go")}, Turn: &session.Turn{Number: 2}},
		say(session.Tool, &session.ToolResult{Value: session.Raw(`{"stdout":"b"}`)}))
	w := encoded(t, chat(later...), formats.SessionBuild{})
	if got := w.blocks()[3]["text"].(string); !strings.HasPrefix(got, "Result of a tool call") {
		t.Errorf("a result without a call in a turn of the agent's is told as %q", got)
	}
}

// TestOwnCommandAgain: read again, the output is no turn of its own; written
// again, it is shown as before.
func TestOwnCommandAgain(t *testing.T) {
	w := encoded(t, chat(own("ls -la", `{"stdout":"total 0\n"}`)...), formats.SessionBuild{})
	s, list := reread(t, w.path)
	if s.Head.Turns != 1 || len(list) < 2 || list[0].Turn == nil || list[1].Turn != nil || !list[1].Simulated {
		t.Fatalf("%d turns, %+v", s.Head.Turns, list)
	}
	again := encoded(t, &session.Session{Head: s.Head, Messages: stream(list[:2]...)}, formats.SessionBuild{})
	if again.lines[1]["isMeta"] == true || again.blocks()[1]["text"] != w.blocks()[1]["text"] {
		t.Errorf("again it is %v", again.lines[1])
	}
}

// TestMarks: what stands in for something is said to.
func TestMarks(t *testing.T) {
	torn := &session.ToolCall{ID: "c", Kind: "edit", Name: "edit_file", Input: session.Raw(`"{\"path\":\"/proj "`), Args: session.Raw(`{"relativeWorkspacePath":"/proj/a"}`)}
	w := encoded(t, chat(say(session.User, words("go")), say(session.Assistant, &session.Thinking{Redacted: true}, torn)), formats.SessionBuild{})
	if !w.noted(loss.ThinkingRedacted) || !w.noted(loss.ArgumentsRepaired) {
		t.Errorf("%v", w.notes)
	}
	if blocks := w.blocks(); len(blocks) != 3 || blocks[1]["type"] != "tool_use" {
		t.Errorf("it says %v", blocks)
	}
}

// reread decodes a file.
func reread(t *testing.T, path string) (s *session.Session, list []*session.Message) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	for s, err = range Format().Sessions.Decode(context.Background(), l, formats.View{OnLoss: func(loss.Loss) {}}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, m)
		}
	}
	return s, list
}

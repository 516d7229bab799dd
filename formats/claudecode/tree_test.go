package claudecode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/formatstest"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/golden"
)

// TestShapes: lines that other versions of the client write, and other tools.
func TestShapes(t *testing.T) {
	const shapes = "../../testdata/claude/shapes"
	golden.Bytes(t, "claude-code-to-canonical/shapes.jsonl", spelled(t, shapes, session.Selection{}))
	golden.Bytes(t, "claude-code-to-canonical/shapes-history.jsonl", spelled(t, shapes, session.Selection{History: true, IDs: []string{"30000000-0000-4000-8000-000000000006"}}))
}

// file writes a session's file.
func file(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Lines of a file: up is what one hangs on, "" for none and "-" where it does not
// say so.
func lineOf(kind, id, up, rest string) string {
	line := `{"type":"` + kind + `"`
	switch up {
	case "":
		line += `,"parentUuid":null`
	case "-":
	default:
		line += `,"parentUuid":"` + up + `"`
	}
	if id != "" {
		line += `,"uuid":"` + id + `"`
	}
	return line + "," + rest + "}"
}

func promptLine(id, up, words string) string {
	return lineOf("user", id, up, `"message":{"role":"user","content":"`+words+`"}`)
}

func answerLine(id, up, response, block string) string {
	if block[0] != '{' {
		block = `{"type":"text","text":"` + block + `"}`
	}
	return lineOf("assistant", id, up, `"message":{"id":"`+response+`","role":"assistant","content":[`+block+`]}`)
}

func callLine(id, up, response, call string) string {
	return answerLine(id, up, response, `{"type":"tool_use","id":"`+call+`","name":"Bash","input":{}}`)
}

func resultLine(id, up, call string) string {
	return lineOf("user", id, up, `"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+call+`","content":"of `+call+`"}]}`)
}

// told is what a file says, a message a word; b1: of the first branch, 1: the turn.
func told(t *testing.T, path string, sel session.Selection) (out, notes []string) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range Format().Sessions.Decode(t.Context(), l, formats.View{OnLoss: func(n loss.Loss) {
		notes = append(notes, fmt.Sprintf("%v %s", n.Kind(), strings.Join(append([]string{string(n.Code)}, n.Args...), " ")))
	}}, sel) {
		if err != nil {
			t.Fatal(err)
		}
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			var parts []string
			for _, p := range m.Parts {
				switch p := p.(type) {
				case *session.Text:
					parts = append(parts, p.Text)
				case *session.Injected:
					parts = append(parts, p.Tag+"="+p.Text)
				case *session.ToolCall:
					parts = append(parts, "call "+p.ID)
				case *session.ToolResult:
					parts = append(parts, "came "+p.Call)
				}
			}
			if len(parts) == 0 {
				continue // progress
			}
			said := strings.Join(parts, "+")
			if m.Turn != nil {
				said = fmt.Sprint(m.Turn.Number, ":", said)
			}
			if m.Branch != "" {
				said = strings.TrimPrefix(m.Branch, "branch-") + "|" + said
			}
			out = append(out, said)
		}
	}
	return out, notes
}

// TestTree: which lines are said, in which order, and which of them are one
// response. What the client sends of each is what it is read as.
func TestTree(t *testing.T) {
	progress := func(id, up string) string { return lineOf("progress", id, up, `"data":{}`) }
	notice := func(id, up string) string { return lineOf("system", id, up, `"content":"Running…"`) }
	inOrder := "inferred L541"
	gone := "missing L540"
	left := "dropped L542"
	for _, c := range []struct {
		name  string
		lines []string
		want  string
		notes []string
	}{
		{"progress in a response", []string{promptLine("1", "", "go"), callLine("2", "1", "m", "a"), progress("3", "2"), callLine("4", "3", "m", "b"), resultLine("5", "2", "a"), resultLine("6", "4", "b"), answerLine("7", "6", "n", "done")},
			"1:go, call a+call b, came a, came b, done", nil},
		{"a notice in a response", []string{promptLine("1", "", "go"), callLine("2", "1", "m", "a"), notice("3", "2"), callLine("4", "3", "m", "b"), resultLine("5", "4", "a"), resultLine("6", "5", "b")},
			"1:go, call a+call b, Running…, came a, came b", nil},
		{"a result before the next call", []string{promptLine("1", "", "go"), callLine("2", "1", "m", "a"), resultLine("3", "2", "a"), callLine("4", "2", "m", "b"), resultLine("5", "4", "b"), answerLine("6", "5", "n", "done")},
			"1:go, call a+call b, came a, came b, done", nil},
		{"results beside the way", []string{promptLine("1", "", "go"), callLine("2", "1", "m", "a"), callLine("3", "2", "m", "b"), callLine("4", "3", "m", "c"), resultLine("5", "2", "a"), resultLine("6", "5", "b"), resultLine("7", "4", "c"), answerLine("8", "7", "n", "done")},
			"1:go, call a+call b+call c, came a, came b, came c, done", nil},
		{"a result that hangs on progress", []string{promptLine("1", "", "go"), callLine("2", "1", "m", "a"), callLine("3", "2", "m", "b"), progress("4", "2"), resultLine("5", "4", "a"), resultLine("6", "3", "b"), answerLine("7", "6", "n", "done")},
			"1:go, call a+call b, came a, came b, done", nil},
		{"a result that hangs on nothing", []string{promptLine("1", "", "go"), callLine("2", "1", "m", "a"), callLine("3", "2", "m", "b"), resultLine("4", "gone", "a"), resultLine("5", "3", "b"), answerLine("6", "5", "n", "done")},
			"1:go, call a+call b, came a, came b, done", nil},
		{"a prompt between", []string{promptLine("1", "", "go"), answerLine("2", "1", "m", "one"), promptLine("3", "2", "on"), answerLine("4", "3", "m", "two")}, "1:go, one, 2:on, two", nil},
		{"a second result stays behind", []string{promptLine("1", "", "go"), callLine("2", "1", "m", "a"), resultLine("3", "2", "a"), answerLine("4", "3", "n", "no"), resultLine("5", "2", "a"), answerLine("6", "5", "o", "yes")},
			"1:go, call a, came a, yes", []string{left}},
		{"no uuid", []string{promptLine("", "-", "go"), callLine("", "-", "m", "a"), resultLine("", "-", "a"), answerLine("", "-", "n", "done"), promptLine("", "-", "on")}, "1:go, call a, came a, done, 2:on", []string{inOrder}},
		{"no parent", []string{promptLine("1", "-", "go"), answerLine("2", "-", "n", "done"), promptLine("3", "-", "on")}, "1:go, done, 2:on", []string{inOrder}},
		{"all parents null", []string{promptLine("1", "", "go"), answerLine("2", "", "n", "done"), promptLine("3", "", "on")}, "1:go, done, 2:on", []string{inOrder}},
		{"one line without a parent", []string{promptLine("1", "", "go"), answerLine("2", "1", "n", "done"), promptLine("3", "-", "on"), answerLine("4", "3", "o", "yes")}, "1:go, done, 2:on, yes", []string{inOrder}},
		{"a second root", []string{promptLine("1", "", "go"), answerLine("2", "1", "n", "done"), promptLine("3", "", "on"), answerLine("4", "3", "o", "yes")}, "1:on, yes", []string{left}},
		{"a progress of another file's", []string{promptLine("1", "", "go"), answerLine("2", "1", "n", "done"), progress("3", "elsewhere")}, "1:go, done", nil},
		{"the way leads over it", []string{promptLine("1", "", "go"), answerLine("2", "1", "n", "done"), progress("3", "elsewhere"), promptLine("4", "3", "on")}, "1:go, done, 2:on", nil},
		{"a parent that is gone", []string{promptLine("1", "", "go"), answerLine("2", "1", "n", "done"), promptLine("4", "gone", "on")}, "1:go, done, 2:on", []string{gone}},
		{"a notice before all", []string{notice("0", ""), promptLine("1", "", "go"), answerLine("2", "1", "n", "done")}, "Running…, 1:go, done", nil},
		{"a subagent's line as a parent", []string{promptLine("1", "", "go"), `{"type":"user","uuid":"s","parentUuid":null,"isSidechain":true,"message":{"content":"aside"}}`, answerLine("2", "s", "n", "done")}, "1:go, done, 1:aside", []string{gone}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, notes := told(t, file(t, c.lines...), session.Selection{})
			if strings.Join(got, ", ") != c.want {
				t.Errorf("it says\n%s, want\n%s", strings.Join(got, ", "), c.want)
			}
			if !slices.Equal(notes, c.notes) {
				t.Errorf("the notes are %q, want %q", notes, c.notes)
			}
		})
	}
}

// TestBranchesRead: what the user went back on stays behind with a note, or comes
// as branches.
func TestBranchesRead(t *testing.T) {
	path := file(t, promptLine("1", "", "go"), answerLine("2", "1", "m", "one"), promptLine("3", "2", "no"), callLine("4", "3", "n", "a"), resultLine("5", "4", "a"), promptLine("6", "1", "else"), promptLine("7", "2", "on"))
	got, notes := told(t, path, session.Selection{History: true})
	if want := "1:go, one, 2:on, 1|3:no, 1|call a, 1|came a, 2|4:else"; strings.Join(got, ", ") != want || len(notes) > 0 {
		t.Errorf("%q, want %s; %q", got, want, notes)
	}
	books := &session.SharedAccount{}
	got, notes = told(t, path, session.Selection{Account: books})
	if sum := books.Total(); strings.Join(got, ", ") != "1:go, one, 2:on" || len(notes) != 2 || sum.Superseded != 0 || sum.Unreadable != 4 || !sum.Balanced() {
		t.Errorf("%q, %q, %+v", got, notes, sum)
	}
}

// TestCommands: a slash command is no prompt, unless the model was to carry it
// out; its pieces are told apart, and spelled as they were.
func TestCommands(t *testing.T) {
	name := `<command-name>/model</command-name>\n            <command-message>model</command-message>\n            <command-args>opus</command-args>`
	review := `<command-message>review is running…</command-message>\n<command-name>/review</command-name>`
	printed := `<local-command-stdout>Set model\nto opus</local-command-stdout>`
	path := file(t, promptLine("1", "", name), promptLine("2", "1", printed), promptLine("3", "2", review), lineOf("user", "4", "3", `"isMeta":true,"message":{"content":"Review it."}`), answerLine("5", "4", "m", "fine"),
		lineOf("system", "6", "5", `"subtype":"local_command","content":"`+name+`"`), lineOf("system", "7", "6", `"subtype":"local_command","content":"`+printed+`"`), promptLine("8", "7", "<command-name>/odd</command-name> by hand"), promptLine("9", "8", "on"))
	got, _ := told(t, path, session.Selection{})
	model := "command-name=/model+command-message=model+command-args=opus"
	want := []string{model, "local-command-stdout=Set model\nto opus", "1:command-message=review is running…+command-name=/review", "Review it.", "fine", model, "local-command-stdout=Set model\nto opus", "<command-name>/odd</command-name> by hand", "2:on"}
	if !slices.Equal(got, want) {
		t.Errorf("it says\n%q, want\n%q", got, want)
	}
	s, list := reread(t, path)
	w := encoded(t, &session.Session{Head: s.Head, Messages: stream(list...)}, formats.SessionBuild{})
	var said []string
	for _, b := range w.blocks() {
		said = append(said, b["text"].(string))
	}
	real := strings.NewReplacer(`\n`, "\n")
	if want := []string{real.Replace(name), real.Replace(printed), real.Replace(review), "Review it.", "fine", real.Replace(name), real.Replace(printed), "<command-name>/odd</command-name> by hand", "on"}; !slices.Equal(said, want) {
		t.Errorf("written again it says\n%q, want\n%q", said, want)
	}
	if s.Head.Turns != 2 || w.lines[len(w.lines)-1]["aiTitle"] != "on" {
		t.Errorf("%d turns, and the title %v", s.Head.Turns, w.lines[len(w.lines)-1]["aiTitle"])
	}
}

// TestSelection: who wants one session gets it, whatever becomes of the others.
func TestSelection(t *testing.T) {
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "10000000-0000-4000-8000-000000000001.jsonl"), filepath.Join(dir, "10000000-0000-4000-8000-000000000002.jsonl"), filepath.Join(dir, "10000000-0000-4000-8000-000000000003.jsonl")
	side := `{"type":"user","uuid":"s","parentUuid":null,"isSidechain":true,"agentId":"inner","message":{"content":"aside"}}`
	for path, line := range map[string]string{a: promptLine("1", "", "one"), b: promptLine("1", "", "two"), c: promptLine("1", "", "three") + "\n" + side} {
		if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	grow := func(path string) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(promptLine("9", "1", "more") + "\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	for _, want := range []string{"10000000-0000-4000-8000-000000000002", "agent-inner"} {
		n := 0
		for s, err := range Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{IDs: []string{want}}) {
			if err != nil {
				t.Fatalf("%s: %v", want, err)
			}
			for _, err := range s.Messages {
				if err != nil {
					t.Fatal(err)
				}
			}
			if n++; s.ID != want {
				t.Errorf("%s comes, and %s was asked for", s.ID, want)
			}
			grow(a)
		}
		if n != 1 {
			t.Errorf("%s: %d sessions", want, n)
		}
	}
	if err := os.WriteFile(a, []byte(promptLine("1", "", strings.Repeat("long ", 1<<18))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"10000000-0000-4000-8000-000000000002", "20000000-0000-4000-8000-000000000002"} {
		cost := formatstest.Measure(func(ctx context.Context) {
			for s, err := range Format().Sessions.Decode(ctx, l, formats.View{}, session.Selection{IDs: []string{want}}) {
				if err != nil || s.ID != want {
					t.Errorf("%v, %v", s, err)
				}
			}
		})
		if cost.Read > 1<<19 || cost.Bytes > 1<<19 {
			t.Errorf("for %s other sessions are read: %+v", want, cost)
		}
	}
}

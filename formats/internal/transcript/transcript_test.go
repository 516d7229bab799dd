package transcript

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"rehome/formats/loss"
	"rehome/formats/session"
)

func survey(t *testing.T, text string) (*Survey, []string) {
	t.Helper()
	var notes []string
	s, err := NewSurvey(t.Context(), io.NewSectionReader(strings.NewReader(text), 0, int64(len(text))), "f.jsonl", func(n loss.Loss) {
		notes = append(notes, n.Kind().String()+" "+n.At.String())
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, notes
}

func tell(t *testing.T, s *Survey) (out []string) {
	t.Helper()
	for m, err := range s.Messages(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(session.AppendMessage(nil, m)))
	}
	return out
}

func TestMessages(t *testing.T) {
	s, notes := survey(t, "\ufeff"+`{"type":"metadata","metadata":{"overview":"o"}}
{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nhi\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"A","bubbleId":"b"},{"type":"tool_use","name":"Shell","input":{"command":"ls"}},{"type":"image","x":1}]},"more":1}

{"type":"turn_ended","status":"aborted","error":"User aborted"}
{"role":"user","message":{"content":"plain"}}
{"type":"error","error":"Provider Error"}
{"type":"error","error":"again"}
{"type":"result","x":1}
broken
[1]
{"role":"user","mess`)
	want := []string{
		`{"type":"message","id":"line-2","role":"user","turn":{"number":1,"status":"cancelled","error":"User aborted"},"parts":[{"type":"text","text":"hi","from":"transcript"}],"origin":["f.jsonl:2"]}`,
		`{"type":"message","id":"line-3","role":"assistant","parts":[{"type":"text","text":"A","from":"transcript","extras":[{"name":"bubbleId","raw":"b"}]},` +
			`{"type":"tool_call","id":"line-3.2","name":"Shell","kind":"shell","input":{"command":"ls"},"from":"transcript"},{"type":"opaque","kind":"image","raw":{"type":"image","x":1},"from":"transcript"}],` +
			`"origin":["f.jsonl:3"],"extras":[{"name":"more","raw":1}]}`,
		`{"type":"message","id":"line-6","role":"user","turn":{"number":2,"error":"Provider Error"},"parts":[{"type":"text","text":"plain","from":"transcript"}],"origin":["f.jsonl:6"]}`,
		`{"type":"message","id":"line-8","role":"assistant","parts":[{"type":"opaque","kind":"turn_ended","raw":{"status":"","error":"again"},"from":"transcript"}],"origin":["f.jsonl:8"]}`,
		`{"type":"message","id":"line-9","role":"assistant","parts":[{"type":"opaque","kind":"line","raw":{"type":"result","x":1},"from":"transcript"}],"origin":["f.jsonl:9"]}`,
	}
	if got := tell(t, s); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want := []string{"unreadable f.jsonl:10", "unreadable f.jsonl:11", "unreadable f.jsonl:12"}; !slices.Equal(notes, want) {
		t.Errorf("%q", notes)
	}
	if !s.Account.Balanced() || s.Account.Read != 12 || s.Account.CarriedRaw != 1 || len(s.Extras) != 1 {
		t.Errorf("%+v %v", s.Account, s.Extras)
	}
	parts, err := s.Prompt(t.Context(), 1)
	if err != nil || len(parts) != 1 || parts[0].(*session.Text).Text != "plain" || s.At(1) != "f.jsonl:6" {
		t.Error(parts, err, s.At(1))
	}
	var rest []string
	for m, err := range s.Rest(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		rest = append(rest, m.ID)
	}
	if !slices.Equal(rest, []string{"line-3"}) {
		t.Errorf("%q", rest)
	}
}

// TestThinking: reasoning in a block of its own is reasoning.
func TestThinking(t *testing.T) {
	s, _ := survey(t, `{"role":"assistant","message":{"content":[{"type":"thinking","thinking":"plan","signature":"sig","more":1},{"type":"thinking","text":"odd"},{"type":"text","text":"A","thinking":"x"}]}}`)
	want := []string{`{"type":"message","id":"line-1","role":"assistant","parts":[{"type":"thinking","text":"plan","signature":"sig","from":"transcript","extras":[{"name":"more","raw":1}]},` +
		`{"type":"opaque","kind":"thinking","raw":{"type":"thinking","text":"odd"},"from":"transcript"},{"type":"text","text":"A","from":"transcript","extras":[{"name":"thinking","raw":"x"}]}],"origin":["f.jsonl:1"]}`}
	if got := tell(t, s); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !s.Account.Balanced() {
		t.Errorf("%+v", s.Account)
	}
}

func TestFind(t *testing.T) {
	found, others, err := Find(fstest.MapFS{
		"agent-transcripts/a/a.jsonl":           {},
		"agent-transcripts/a/subagents/b.jsonl": {},
		"agent-transcripts/old.txt":             {},
		"agent-transcripts/flat.jsonl":          {},
		"agent-transcripts/a/other.jsonl":       {},
		"agent-transcripts/a/notes.md":          {},
		"elsewhere/a.jsonl":                     {},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []File{{Path: "agent-transcripts/a/a.jsonl", Name: "a"}, {Path: "agent-transcripts/a/subagents/b.jsonl", Name: "b", Parent: "a"},
		{Path: "agent-transcripts/flat.jsonl", Name: "flat"}, {Path: "agent-transcripts/old.txt", Name: "old", Text: true}}
	if !slices.Equal(found, want) || !slices.Equal(others, []string{"agent-transcripts/a/notes.md", "agent-transcripts/a/other.jsonl"}) {
		t.Errorf("%v %q", found, others)
	}
}

// TestOf: of each session it gives what Find gives, and of odd ids nothing.
func TestOf(t *testing.T) {
	files := fstest.MapFS{
		"agent-transcripts/a/a.jsonl": {}, "agent-transcripts/a/subagents/b.jsonl": {}, "agent-transcripts/a/subagents/c.md": {}, "agent-transcripts/a.txt": {}, "agent-transcripts/b.jsonl": {},
		"agent-transcripts/x_2Fy/x_2Fy.jsonl": {}, "agent-transcripts/d/d.jsonl/e": {}, "a.jsonl": {},
	}
	for id, want := range map[string]int{"a": 3, "b": 1, "x/y": 1, "d": 0, "": 0, ".": 0, "..": 0, "../a": 0, "no": 0} {
		found, err := Of(files, id)
		if err != nil || len(found) != want {
			t.Errorf("%q: %v %v", id, found, err)
		}
		all, _, err := Find(files)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if !slices.Contains(all, f) {
				t.Errorf("%q: %v", id, f)
			}
		}
	}
}

func TestSpell(t *testing.T) {
	for id, want := range map[string]string{"agent-1": "agent-1", "a/b c%é": "a_2Fb_20c_25_C3_A9", "-_.!~*'()": "-_.!~*'()", strings.Repeat("/", 100): strings.Repeat("_2F", 66) + "_2"} {
		if got := Spell(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	files, err := filepath.Glob("../../../testdata/sdk/*/agent-transcripts/*/*.jsonl")
	if err != nil || len(files) == 0 {
		f.Fatal("no samples", err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			f.Add(line)
		}
	}
	f.Add(`{"role":"user","message":{"content":[[[`)
	f.Add(`{"role":"tool","message":{"content":[{"type":"tool_use","id":7,"input":null}]}}` + "\n" + `{"type":"turn_ended"}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, _ := survey(t, text)
		lines := tell(t, s)
		if !s.Account.Balanced() {
			t.Errorf("the books do not balance: %+v", s.Account)
		}
		if again := tell(t, s); !slices.Equal(again, lines) {
			t.Error("told twice, and not the same")
		}
		turns := 0
		for m := range s.Messages(t.Context(), nil) {
			if m.Turn != nil {
				turns++
			}
		}
		if turns != len(s.Turns) || len(s.Prompts()) != turns {
			t.Error(fmt.Sprint(turns, " turns told, ", len(s.Turns), " outlined"))
		}
		for i := range s.Turns {
			if _, err := s.Prompt(t.Context(), i); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestWithheld: the client writes reasoning behind the words, and a mark where it
// may not.
func TestWithheld(t *testing.T) {
	part := func(role, text string) []string {
		s, notes := survey(t, fmt.Sprintf(`{"role":%q,"message":{"content":[{"type":"text","text":%q}]}}`, role, text))
		if len(notes) != 0 {
			t.Errorf("a survey notes %q", notes)
		}
		var told []string
		s.note = func(n loss.Loss) { told = append(told, n.Kind().String()+" "+n.At.String()) }
		for m, err := range s.Messages(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range m.Parts {
				switch p := p.(type) {
				case *session.Text:
					told = append(told, "says "+p.Text)
				case *session.Thinking:
					told = append(told, fmt.Sprintf("withheld %v from %s", p.Redacted && p.Text == "" && p.Data == "", p.From))
				}
			}
		}
		return told
	}
	const note, gone = "missing f.jsonl:1", "withheld true from transcript"
	for _, c := range []struct {
		role, text string
		want       []string
	}{
		{"assistant", "[REDACTED]", []string{note, gone}},
		{"assistant", "Let me look.\n\n[REDACTED]", []string{note, "says Let me look.", gone}},
		{"assistant", "Let me look.\n\n[REDACTED]\n\n[REDACTED]", []string{note, "says Let me look.", gone}},
		{"assistant", "\n\n[REDACTED]", []string{note, gone}},
		{"assistant", "It says [REDACTED]", []string{"says It says [REDACTED]"}},
		{"assistant", "It says:\n[REDACTED]", []string{"says It says:\n[REDACTED]"}},
		{"assistant", "[REDACTED]\n\nis what it says", []string{"says [REDACTED]\n\nis what it says"}},
		{"user", "[REDACTED]", []string{"says [REDACTED]"}},
	} {
		if got := part(c.role, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s %q: %q, want %q", c.role, c.text, got, c.want)
		}
	}
}

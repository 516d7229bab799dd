package leaves_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/formatstest/leaves"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// store0 is a store of the codec of these tests.
const store0 = `{"type":"user","text":"What is in the picture?","n":12,"cwd":"/w"}
{"type":"model","thought":"It could be a cat.","parts":["It is","a cat."],"args":"{\"path\":\"/w/cat.png\"}","cwd":"/w"}
{"type":"tool","results":["first part","second part"],"image":"aGVsbG8=","at":"2026-01-02T03:04:05Z","cwd":"/w"}
{"type":"echo","text":"What is in the picture?"}
{"type":"noise","key":"s3cr3t","count":7}
`

const declared0 = `kinds type

said user
	user text
	echo text
said thinking
	model thought
said model
	model parts[]
	model args.**
said tool
	tool results[]
	tool image
member session.workspace
	user cwd

derived json Arguments are JSON.
	model args
derived joined The parts of an answer are one text.
	model parts[]
derived base64 Images are bytes.
	tool image
derived time Times are kept in milliseconds.
	tool at
superseded The line repeats the prompt.
	echo text by user text
superseded Each line repeats the folder.
	model|tool cwd by user cwd
secret The key opens everything.
	noise key
lost L001 The line is damaged.
	noise count
dropped The role of a message says the same.
	* type
`

// reader is a codec with a fault.
func reader(fault string) *formats.Format {
	text := func(s string) session.Part { return &session.Text{Text: s} }
	return &formats.Format{Name: "fake", Sessions: &formats.Sessions{Decode: func(_ context.Context, l *formats.Location, v formats.View, _ session.Selection) iter.Seq2[*session.Session, error] {
		file := filepath.Base(l.Path)
		line := func(n int) []string { return []string{fmt.Sprintf("%s:%d", file, n)} }
		messages := []*session.Message{
			{ID: "1", Role: session.User, Origin: line(1), Parts: []session.Part{text("What is in the picture?")}, Extras: []session.Extra{{Name: "n", Raw: session.Raw("12")}}},
			{ID: "2", Role: session.Assistant, Origin: line(2), Parts: []session.Part{&session.Thinking{Text: "It could be a cat."}, text("It is\n\na cat."),
				&session.ToolCall{Input: session.Raw(`{"path":"/w/cat.png"}`)}}},
			{ID: "3", Role: session.Tool, At: session.Stored(1767323045000), Origin: line(3), Parts: []session.Part{&session.ToolResult{Content: []session.Part{text("first part"), text("second part"), &session.Media{Data: []byte("hello")}}}}},
		}
		result := messages[2].Parts[0].(*session.ToolResult)
		s := &session.Session{Head: session.Head{ID: "s", Workspace: "/w"}}
		v.OnLoss(loss.Loss{Code: "L001", At: store.Addr{File: file, Line: 5}})
		switch fault {
		case "thinking":
			messages[1].Parts = messages[1].Parts[1:]
		case "image":
			result.Content[2] = &session.Media{}
		case "record":
			messages = messages[1:]
		case "first":
			result.Content = append(result.Content[:1], result.Content[2])
		case "cut":
			messages[0].Parts[0] = text("What is in the pictur")
		case "role":
			messages[0].Role = session.Assistant
		case "simulated":
			messages[0].Simulated = true
		case "extras":
			messages[1].Parts = messages[1].Parts[1:]
			messages[1].Extras = []session.Extra{{Name: "thought", Raw: session.Raw(`"It could be a cat."`)}}
		case "opaque":
			messages[1].Parts[0] = &session.Opaque{Raw: session.Raw(`{"thought":"It could be a cat."}`)}
		case "path":
			messages[0].Extras[0].Name = "m"
		case "cwd":
			s.Workspace = ""
		case "member":
			s.Workspace, s.Extras = "", []session.Extra{{Name: "cwd", Raw: session.Raw(`"/w"`)}}
		case "time":
			messages[2].At = session.Stored(1767323045001)
		case "joined":
			messages[1].Parts[1] = text("It was\n\na cat.")
		case "origin":
			messages[1].Origin = line(1)
		case "args":
			messages[1].Parts[2] = &session.ToolCall{}
		case "twice":
			messages = append(messages, &session.Message{ID: "4", Role: session.User, Origin: line(4), Parts: []session.Part{text("What is in the picture?")}})
		case "once":
			result.Content[1] = text("first part")
		}
		s.Messages = func(yield func(*session.Message, error) bool) {
			for _, m := range messages {
				if !yield(m, nil) {
					return
				}
			}
		}
		return func(yield func(*session.Session, error) bool) { yield(s, nil) }
	}}}
}

// record takes what a test reports.
type recorder struct {
	testing.TB
	text strings.Builder
}

func (r *recorder) Helper()                      {}
func (r *recorder) Error(args ...any)            { fmt.Fprintln(&r.text, args...) }
func (r *recorder) Errorf(f string, args ...any) { fmt.Fprintf(&r.text, f+"\n", args...) }

// judge tests the law on a store and a codec with a fault.
func judge(t *testing.T, text, declared, fault string) (*leaves.Law, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	law, r := leaves.NewLaw(t, leaves.Lines(), declared, nil), &recorder{TB: t}
	law.Holds(r, reader(fault), path)
	return law, r.text.String()
}

// TestLaw: a codec without a fault passes, and each fault is reported with the leaf it loses.
func TestLaw(t *testing.T) {
	law, got := judge(t, store0, declared0, "")
	if list := law.Unused(); got != "" || len(list) > 0 {
		t.Errorf("without a fault: %s%q", got, list)
	}
	for fault, want := range map[string]string{
		"thinking":  `s.jsonl:2: model thought: "It could be a cat." is missing`,
		"image":     `s.jsonl:3: tool image: "aGVsbG8=" is missing`,
		"record":    `s.jsonl:1: user text: "What is in the picture?" is missing: no message comes from that record`,
		"first":     `s.jsonl:3: tool results[]: "second part" is missing`,
		"cut":       `s.jsonl:1: user text: "What is in the picture?" is missing`,
		"role":      `s.jsonl:1: user text: "What is in the picture?" is what the model says`,
		"simulated": `s.jsonl:1: user text: "What is in the picture?" is what the client says`,
		"extras":    `s.jsonl:2: model thought: "It could be a cat." is what extra data says`,
		"opaque":    `s.jsonl:2: model thought: "It could be a cat." is what extra data says`,
		"path":      `s.jsonl:1: user n: "12" is in extra data of another path: m`,
		"cwd":       `s.jsonl:2: model cwd: "/w" is missing`,
		"member":    `s.jsonl:1: user cwd: "/w" is not in session.workspace`,
		"time":      `s.jsonl:3: tool at: "2026-01-02T03:04:05Z" is missing`,
		"joined":    `s.jsonl:2: model parts[]: "It is" is missing`,
		"origin":    `s.jsonl:2: model thought: "It could be a cat." is missing: no message comes from that record`,
		"args":      `s.jsonl:2: model args.path: "/w/cat.png" is missing`,
		"twice":     `s.jsonl:4: echo text: "What is in the picture?" is told, and so is that of user text`,
		"once":      `s.jsonl:3: tool results[]: "second part" is missing`,
	} {
		if _, got := judge(t, store0, declared0, fault); !strings.Contains(got, want+"\n") {
			t.Errorf("%s: want\n%s\ngot\n%s", fault, want, got)
		}
	}
}

// TestUnused: a declaration that covers nothing is reported, and so is one of what arrives.
func TestUnused(t *testing.T) {
	for line, want := range map[string]string{
		"\tuser none":           "dropped user none: no store has such a leaf",
		"\tuser n":              "dropped user n: all of these leaves are found anyway",
		"said user\n\tuser say": "said user say: no store has such a leaf",
	} {
		law, _ := judge(t, store0, declared0+line+"\n", "")
		if got := strings.Join(law.Unused(), "\n"); got != want {
			t.Errorf("%q: want %q, got %q", line, want, got)
		}
	}
	if _, got := judge(t, store0, strings.ReplaceAll(declared0, "by user text", "by user none"), ""); !strings.Contains(got, "echo text") {
		t.Errorf("what supersedes is not there: %s", got)
	}
}

// TestParseDeclared: each mistake in the text of declarations is named.
func TestParseDeclared(t *testing.T) {
	for text, want := range map[string]string{
		"said user\n":                                  "line 1: the first line must name the kinds",
		"kinds\n\ta\n":                                 "line 2: a pattern without a declaration",
		"kinds a\nsaid user\n\ta b c\n":                `line 3: "a b c": want 1 words and a path`,
		"kinds a\nsaid nobody\n":                       `line 2: nobody is "nobody"`,
		"kinds a\nsaid\n":                              "line 2: said needs a word",
		"kinds a\ndropped\n":                           "line 2: dropped without a reason",
		"kinds a\nforgotten Why not.\n":                `line 2: "forgotten" is not one of said, told, member, client, calls, answers, derived, superseded, quoted, kept, lost, dropped, secret, copied, invented`,
		"kinds a\nderived magic By magic.\n":           `line 2: "magic" is not one of json, time, later, base64, dataurl, fileuri, within, joined, tagged, mixed, members, trimmed, letters, hex, field, flag, name`,
		"kinds a\nsuperseded It is.\n\ta b\n":          `line 3: "a b": only what is superseded or quoted is so by another pattern`,
		"kinds a\ndropped It is.\n\ta b by c d\n":      `line 3: "a b": only what is superseded or quoted is so by another pattern`,
		"kinds a\nsuperseded It is.\n\ta b by c d e\n": `line 3: "c d e": want 1 words and a path`,
	} {
		if _, err := leaves.ParseDeclared(text); err == nil || err.Error() != want {
			t.Errorf("%q: want %q, got %v", text, want, err)
		}
	}
}

package claudecode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/golden"
)

func calling(id, name string) *session.ToolCall {
	return &session.ToolCall{ID: id, Name: name, Kind: "shell", Input: session.Raw(`{"command":"x"}`)}
}

func resulting(id, text string) *session.ToolResult {
	return &session.ToolResult{Call: id, Status: "success", Content: []session.Part{words(text)}}
}

func at(ms int64, m *session.Message) *session.Message {
	m.At = session.Stored(ms)
	return m
}

func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestAdversarial: sources that a careless writer would make a session of that
// the API refuses for good. Each is a golden, large ones by their outline.
func TestAdversarial(t *testing.T) {
	parallel := []session.Part{}
	var results []*session.Message
	for i := range 300 {
		parallel = append(parallel, calling(fmt.Sprintf("c%d", i), "Shell"))
		results = append(results, say(session.Tool, resulting(fmt.Sprintf("c%d", 299-i), fmt.Sprint("out ", 299-i))))
	}
	var long []*session.Message
	for i := range 5000 {
		long = append(long, say(session.User, words(fmt.Sprint("question ", i))), say(session.Assistant, words(fmt.Sprint("answer ", i))))
	}
	edit := &session.ToolCall{ID: "e", Name: "edit", Kind: "edit", Args: session.Raw(`{"path":"/a"}`)}
	for _, c := range []struct {
		name  string
		list  []*session.Message
		build formats.SessionBuild
		note  loss.Code
	}{
		{"parallel calls", append([]*session.Message{say(session.User, words("go")), say(session.Assistant, parallel...)}, results...), formats.SessionBuild{}, ""},
		{"no result", []*session.Message{say(session.User, words("go")), say(session.Assistant, calling("a", "Shell"), calling("b", "Shell")), say(session.Tool, resulting("b", "x")), say(session.Assistant, words("on"))}, formats.SessionBuild{}, loss.ResultAdded},
		{"no result at the end", []*session.Message{say(session.User, words("go")), say(session.Assistant, calling("a", "Shell"))}, formats.SessionBuild{}, loss.ResultAdded},
		{"no call", []*session.Message{say(session.User, words("go")), say(session.Tool, resulting("gone", "x")), say(session.Assistant, words("on"))}, formats.SessionBuild{}, loss.ResultOrphan},
		{"late result", []*session.Message{say(session.User, words("go")), say(session.Assistant, calling("a", "Shell")), say(session.Assistant, words("on")), say(session.Tool, resulting("a", "late"))}, formats.SessionBuild{}, loss.ResultMoved},
		{"result of another turn", []*session.Message{say(session.User, words("go")), say(session.Assistant, calling("a", "Shell")), say(session.User, words("on")), say(session.Tool, resulting("a", "late"))}, formats.SessionBuild{}, loss.ResultOrphan},
		{"ids twice", []*session.Message{say(session.User, words("go")), say(session.Assistant, calling("a", "Shell"), calling("a", "Shell")), say(session.Tool, resulting("a", "1")), say(session.Tool, resulting("a", "2")), say(session.Assistant, calling("a", "Shell")), say(session.Tool, resulting("a", "3"), resulting("a", "4"))}, formats.SessionBuild{}, loss.CallIDChanged},
		{"odd ids", []*session.Message{say(session.User, words("go")), say(session.Assistant, calling("a\nb", "Shell"), calling("", "Shell"), calling(strings.Repeat("x", 65), "Shell"), calling("a:b", "Shell")), say(session.Tool, resulting("a\nb", "1")), say(session.Tool, resulting("", "2"))}, formats.SessionBuild{}, loss.CallIDChanged},
		{"odd names", []*session.Message{say(session.User, words("go")), say(session.Assistant, &session.ToolCall{ID: "a", Name: "my tool é", Input: session.Raw(`[1]`)}, &session.ToolCall{ID: "b"}, &session.ToolCall{ID: "c", Name: strings.Repeat("long ", 60), Input: session.Raw(`"text"`)})}, formats.SessionBuild{}, loss.ToolUnknown},
		{"empty texts", []*session.Message{say(session.User, words("")), say(session.User, words(" \n\u00a0\ufeff")), say(session.User), say(session.Assistant, words("")), say(session.User, words("go")), say(session.Assistant, words("\t"), words("yes"))}, formats.SessionBuild{}, loss.BlankText},
		{"nothing at all", nil, formats.SessionBuild{}, loss.SessionEmpty},
		{"assistant first", []*session.Message{say(session.Assistant, words("hello")), say(session.User, words("go"))}, formats.SessionBuild{}, loss.FirstPromptAdded},
		{"result of 2 MB", []*session.Message{say(session.User, words("go")), say(session.Assistant, calling("a", "Shell")), say(session.Tool, resulting("a", strings.Repeat("0123456789abcdef", 1<<17)))}, formats.SessionBuild{}, ""},
		{"5000 turns", long, formats.SessionBuild{}, ""},
		{"only thinking", []*session.Message{say(session.User, words("go")), say(session.Assistant, &session.Thinking{Text: "hm", Signature: "c2ln"}), say(session.Assistant, &session.Thinking{Redacted: true, Data: "x"}, &session.Thinking{})}, formats.SessionBuild{}, loss.ThinkingAsText},
		{"thinking dropped", []*session.Message{say(session.User, words("go")), say(session.Assistant, &session.Thinking{Text: "hm"}, words("yes"))}, formats.SessionBuild{DropThinking: true}, loss.ThinkingUnsigned},
		{"only images", []*session.Message{say(session.User, &session.Media{Mime: "image/jpeg", Data: picture(t)}), say(session.Assistant, words("a dot")), say(session.User, &session.Media{Mime: "image/png", Data: []byte("broken")}), say(session.User, &session.Media{Mime: "text/plain", Name: "a.txt", Data: []byte("words")}, &session.Media{URI: "file:///x.png"})}, formats.SessionBuild{}, loss.MediaNamed},
		{"invalid UTF-8", []*session.Message{say(session.User, words("a\xffb\xed\xa0\x80c\x00")), say(session.Assistant, calling("\xff", "\xfe"))}, formats.SessionBuild{}, ""},
		{"times", []*session.Message{at(2000, say(session.User, words("a"))), at(1000, say(session.Assistant, words("b"))), say(session.User, words("c")), at(2000, say(session.Assistant, words("d"))), at(1<<60, say(session.User, words("e"))), at(9000, say(session.Assistant, words("f")))}, formats.SessionBuild{}, loss.TimeBackwards},
		{"compacted", compacted(), formats.SessionBuild{}, ""},
		{"full history", compacted(), formats.SessionBuild{FullHistory: true}, loss.SummaryUnused},
		{"context", []*session.Message{say(session.System, words("you are")), say(session.User, &session.Injected{Tag: "user info", Text: "linux"}, &session.Injected{Tag: "rule", Data: session.Raw(`{"a":1}`)}, words("go")), say(session.Assistant, calling("a", "Shell")), say(session.User, &session.Injected{Tag: "late", Text: "context"}), say(session.Tool, resulting("a", "x")), say(session.System, words("a word"))}, formats.SessionBuild{Cwd: "/other"}, loss.SystemPromptUnsent},
		{"edits that wait", []*session.Message{say(session.User, words("go")), say(session.Assistant, words("now"), edit, calling("b", "Shell")), say(session.Tool, resulting("b", "x")), say(session.Tool, &session.ToolResult{Call: "e", Value: session.Raw(`{"success":{"beforeFullFileContent":"a\n","afterFullFileContent":"b\n"}}`)}), say(session.Assistant, words("done"))}, formats.SessionBuild{}, loss.ArgumentsRenamed},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, m := range c.list {
				m.ID = fmt.Sprintf("m%d", i)
			}
			w := encoded(t, chat(c.list...), c.build)
			lint(t, w)
			if c.note != "" && !w.noted(c.note) {
				t.Errorf("not noted: %v, of %v", c.note, w.notes)
			}
			again := encoded(t, chat(c.list...), c.build)
			a, _ := os.ReadFile(w.path)
			b, _ := os.ReadFile(again.path)
			if !bytes.Equal(a, b) {
				t.Error("written again it is another file")
			}
			golden.Bytes(t, "canonical-to-claude-code/"+strings.ReplaceAll(c.name, " ", "-")+".txt", outlined(w))
			kept(t, w, c.list)
		})
	}
}

func compacted() []*session.Message {
	old := say(session.User, words("one"))
	old.Archived = true
	answer := say(session.Assistant, words("two"))
	answer.Archived = true
	return []*session.Message{old, answer, say(session.System, &session.Boundary{Archived: 2}, &session.Summary{Text: "they counted"}), say(session.User, words("three")), say(session.System, &session.Boundary{Archived: 4}), say(session.User, words("four")), say(session.Assistant, words("five"))}
}

// outlined is a file as people can read it: the first and last lines of a long
// one, and of long texts their beginning.
func outlined(w *written) []byte {
	var out []byte
	for i, l := range w.lines {
		if len(w.lines) > 60 && i >= 20 && i < len(w.lines)-20 {
			if i == 20 {
				out = fmt.Appendf(out, "… %d lines …\n", len(w.lines)-40)
			}
			continue
		}
		b, _ := json.Marshal(shortened(l))
		out = append(append(out, b...), '\n')
	}
	return out
}

func shortened(v any) any {
	switch t := v.(type) {
	case string:
		if len(t) > 2000 {
			return fmt.Sprintf("%s… (%d bytes)", t[:100], len(t))
		}
	case map[string]any:
		for k := range t {
			t[k] = shortened(t[k])
		}
	case []any:
		for i := range t {
			t[i] = shortened(t[i])
		}
	}
	return v
}

// kept: what a source says comes back when the file is decoded, in its order.
func kept(t *testing.T, w *written, list []*session.Message) {
	t.Helper()
	l, err := formats.Locate(w.path)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	calls := 0
	books := &session.SharedAccount{}
	for s, err := range Format().Sessions.Decode(context.Background(), l, formats.View{OnLoss: func(n loss.Loss) { t.Errorf("decoded again: %+v", n) }}, session.Selection{Account: books}) {
		if err != nil {
			t.Fatal(err)
		}
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range m.Parts {
				switch p := p.(type) {
				case *session.Text:
					got.WriteString(p.Text + "\n")
				case *session.Injected:
					got.WriteString(p.Text + "\n")
				case *session.Summary:
					got.WriteString(p.Text + "\n")
				case *session.ToolCall:
					calls++
				case *session.ToolResult:
					for _, c := range p.Content {
						if text, ok := c.(*session.Text); ok {
							got.WriteString(text.Text + "\n")
						}
					}
				}
			}
		}
	}
	if sum := books.Total(); !sum.Balanced() || sum.Read != int64(len(w.lines)) {
		t.Errorf("the books of %d lines: %+v", len(w.lines), sum)
	}
	rest := got.String()
	wanted := 0
	for _, m := range list {
		for _, p := range m.Parts {
			if _, ok := p.(*session.ToolCall); ok {
				wanted++
			}
		}
	}
	if calls != wanted {
		t.Errorf("%d calls came back, want %d", calls, wanted)
	}
	for _, m := range list {
		if m.Role != session.User && m.Role != session.Assistant {
			continue
		}
		for _, p := range m.Parts {
			text, ok := p.(*session.Text)
			if !ok || outline.Blank(text.Text) {
				continue
			}
			s := strings.ReplaceAll(text.Text, "\xff", "\ufffd")
			i := strings.Index(rest, s)
			if i < 0 {
				t.Errorf("lost, or out of order: %.100q", s)
				continue
			}
			rest = rest[i+len(s):]
		}
	}
}

package cursorchat

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
)

// talk is a session of alternating prompts and answers.
func talk(h session.Head, texts ...string) *session.Session {
	return &session.Session{Head: h, Messages: func(yield func(*session.Message, error) bool) {
		for i, text := range texts {
			m := &session.Message{ID: "m" + string(rune('0'+i)), Role: session.Assistant, At: session.Stored(1790000000000 + int64(i)*1000), Parts: []session.Part{&session.Text{Text: text}}}
			if i%2 == 0 {
				m.Role, m.Turn = session.User, &session.Turn{Number: i/2 + 1}
			}
			if !yield(m, nil) {
				return
			}
		}
	}}
}

// wrote writes sessions as one chat, and returns its folder.
func wrote(t *testing.T, list ...*session.Session) string {
	t.Helper()
	k := Format().Writer.New().(formats.FamilySink)
	path := filepath.Join(t.TempDir(), filepath.FromSlash(sessionPath(&list[0].Head)))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	var drafts []*formats.Draft
	for _, s := range list {
		d, err := k.Put(t.Context(), s, formats.SessionBuild{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		drafts = append(drafts, d)
	}
	if err := k.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := drafts[0].Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns the sessions of a chat, and their texts.
func read(t *testing.T, path string) (heads []*session.Session, texts [][]string) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		heads, texts = append(heads, s), append(texts, textsOf(t, s.Messages))
	}
	return heads, texts
}

func textsOf(t *testing.T, list iter.Seq2[*session.Message, error]) (out []string) {
	t.Helper()
	for m, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Parts {
			if text, ok := p.(*session.Text); ok {
				out = append(out, string(m.Role)+" "+strings.Clone(text.Text))
			}
		}
	}
	return out
}

func TestWrite(t *testing.T) {
	head := session.Head{ID: "5d0b2b7e-2222-4000-8000-000000000000", Agent: session.ClaudeCode, Title: "Fix the login", Workspace: "/w/app", Created: session.Stored(1780000000000)}
	s := talk(head, "hello", "hi", "bye", "see you")
	s.Model = "claude-opus-4-8"
	path := wrote(t, s)
	heads, texts := read(t, path)
	if len(heads) != 1 || !slices.Equal(texts[0], []string{"user hello", "assistant hi", "user bye", "assistant see you"}) {
		t.Fatalf("%q", texts)
	}
	h := heads[0]
	if h.ID != sessionID(&head) || h.Title != head.Title || h.Workspace != head.Workspace || h.Created != head.Created || h.Updated.Millis() != 1790000003000 || h.Model != s.Model {
		t.Errorf("%+v", h)
	}
}

func TestUnmodified(t *testing.T) {
	path := wrote(t, talk(session.Head{ID: "a", Agent: session.Codex}, "hello", "hi"))
	is := func() bool {
		t.Helper()
		is, err := unmodified(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if !is() {
		t.Error("modified when it is new")
	}
}

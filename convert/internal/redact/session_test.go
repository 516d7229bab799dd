package redact

import (
	"errors"
	"iter"
	"strings"
	"testing"

	"rehome/formats/session"
)

// talks yields a session for each text.
func talks(texts ...string) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		for _, text := range texts {
			s := &session.Session{Head: session.Head{ID: "a", Workspace: "/home/ann"}, Graph: &session.Graph{}}
			s.Messages = func(yield func(*session.Message, error) bool) {
				body := func() (before, after *session.Body) { return nil, &session.Body{Bytes: []byte(text)} }
				yield(&session.Message{ID: "m", Parts: []session.Part{&session.ToolResult{FileChange: body}}}, nil)
			}
			s.Files = func(yield func(*session.File, error) bool) {
				yield(&session.File{Path: "x", After: &session.Body{Bytes: []byte(text)}}, nil)
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

// TestSessions redacts sessions: also the state of files that results refer to. The raw state
// of an agent is gone.
func TestSessions(t *testing.T) {
	for _, keep := range []bool{false, true} {
		l := Sessions{Redactor: redactor(t, Policy{Paths: true}), KeepFolder: keep}
		if err := l.Learn(t.Context(), talks("nothing", "say "+token()+" to /home/ann/x")); err != nil {
			t.Fatal(err)
		}
		var places []*Places
		var got []string
		for s, err := range l.Redact(t.Context(), talks("nothing", "say "+token()+" to /home/ann/x"), nil, func(p *Places) { places = append(places, p) }) {
			if err != nil || s.Graph != nil || (s.Workspace == "/home/ann") != keep {
				t.Fatal(err, s)
			}
			err := session.Each(t.Context(), s.Messages, func(m *session.Message) error {
				_, after := m.Parts[0].(*session.ToolResult).FileChange()
				got = append(got, string(after.Bytes))
				return nil
			})
			err = errors.Join(err, session.Each(t.Context(), s.Files, func(f *session.File) error {
				got = append(got, string(f.After.Bytes))
				return nil
			}))
			if err != nil {
				t.Fatal(err)
			}
		}
		const want = "nothing|nothing|say redacted-github-pat-1 to /home/redacted-user-1/x|say redacted-github-pat-1 to /home/redacted-user-1/x"
		if strings.Join(got, "|") != want || len(places) != 2 || len(places[0].Counts) > 1 || places[1].Counts["github-pat"] != 1 {
			t.Errorf("%v: %q, %+v", keep, got, places)
		}
	}
}

// TestChanged: a session that is not as it was learned is an error.
func TestChanged(t *testing.T) {
	for _, now := range []string{"say " + token(), "say more"} {
		l := Sessions{Redactor: redactor(t, Policy{})}
		if err := l.Learn(t.Context(), talks("same", "say")); err != nil {
			t.Fatal(err)
		}
		n := 0
		for s := range l.Redact(t.Context(), talks("same", now), nil, nil) {
			err := session.Each(t.Context(), s.Messages, func(*session.Message) error { return nil })
			err = errors.Join(err, session.Each(t.Context(), s.Files, func(*session.File) error { return nil }))
			if n++; errors.Is(err, ErrChanged) != (n == 2) {
				t.Errorf("session %d, %q: %v", n, now, err)
			}
		}
	}
}

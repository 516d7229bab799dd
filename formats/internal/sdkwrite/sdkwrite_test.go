package sdkwrite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/internal/sdkwrite"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// codec returns a format of this build.
func codec(name string) *formats.Format { return all.Registry().Lookup(name) }

// decode yields the sessions of a store, with subagents.
func decode(t *testing.T, format, path string, do func(s *session.Session)) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	v := formats.View{OnLoss: func(l loss.Loss) { t.Logf("%s: %s", format, l) }}
	for s, err := range codec(format).Sessions.Decode(t.Context(), l, v, session.Selection{Inner: true}) {
		if err != nil {
			t.Fatal(err)
		}
		do(s)
	}
}

// write writes the sessions of a store as drafts, and returns their folders.
func write(t *testing.T, format, path string) (drafts []string) {
	t.Helper()
	sink := sdkwrite.Writer().New().(formats.FamilySink)
	dir := t.TempDir()
	var root *session.Head
	var verify func(context.Context) error
	finish := func() {
		t.Helper()
		if verify == nil {
			return
		}
		if err := sink.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := verify(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	decode(t, format, path, func(s *session.Session) {
		b := formats.SessionBuild{OnLoss: func(l loss.Loss) { t.Logf("written: %s", l) }}
		if s.Parent == nil {
			finish()
			head := s.Head
			root, b.Path = &head, filepath.Join(dir, fmt.Sprint(len(drafts)))
			drafts = append(drafts, b.Path)
		} else {
			b.Root = root
		}
		d, err := sink.Put(t.Context(), s, b)
		if err != nil {
			t.Fatal(err)
		}
		if s.Parent == nil {
			verify = d.Verify
		} else if !d.Within {
			t.Errorf("subagent %s is a draft of its own", s.ID)
		}
	})
	finish()
	return drafts
}

// text is what a session says, part by part.
func text(t *testing.T, s *session.Session) (out []string) {
	for m, err := range s.Messages {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case *session.Text:
				out = append(out, string(m.Role)+" "+strings.TrimSpace(p.Text))
			case *session.Thinking:
				out = append(out, "thinks "+strings.TrimSpace(p.Text))
			case *session.ToolCall:
				out = append(out, "calls "+p.ID)
			case *session.ToolResult:
				out = append(out, "gives "+p.Call)
			}
		}
	}
	return out
}

// TestWritten: what is written of a session is read again, once.
func TestWritten(t *testing.T) {
	for format, path := range map[string]string{"claude-code": "claude/config", "codex": "codex/home", "cursor-ndjson": "sdk/play/jsonl"} {
		path = filepath.Join("..", "..", "..", "testdata", filepath.FromSlash(path))
		want := map[string][]string{}
		decode(t, format, path, func(s *session.Session) {
			if s.Parent == nil {
				want[sdkwrite.AgentID(&s.Head)] = text(t, s)
			}
		})
		for _, dir := range write(t, format, path) {
			decode(t, "cursor-ndjson", dir, func(s *session.Session) {
				got := text(t, s)
				for _, said := range want[s.ID] {
					if !slices.Contains(got, said) && (strings.HasPrefix(said, "user") || strings.HasPrefix(said, "assistant")) {
						t.Errorf("%s: %s: %q is missing", format, s.ID, said)
					}
				}
				delete(want, s.ID)
			})
		}
		for id := range want {
			t.Errorf("%s: %s is not written", format, id)
		}
	}
}

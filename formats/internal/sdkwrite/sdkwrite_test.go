package sdkwrite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest/graphgen"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkwrite"
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
	for s, err := range codec(format).Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{Inner: true}) {
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
	known := map[string]bool{}
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
		b := formats.SessionBuild{}
		if s.Parent == nil || !known[s.Parent.Session] {
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
		if b.Root == nil {
			verify = d.Verify
		} else if !d.Within {
			t.Errorf("subagent %s is a draft of its own", s.ID)
		}
		known[s.ID] = true
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
				if text := strings.TrimSpace(p.Text); text != "" { // else its provider hides it
					out = append(out, "thinks "+text)
				}
			case *session.ToolCall:
				out = append(out, "calls "+p.ID)
			case *session.ToolResult:
				out = append(out, "gives "+p.Call)
			}
		}
	}
	return out
}

// sources are the stores that sessions are written from, by format.
func sources(t *testing.T) map[string]string {
	t.Helper()
	data := filepath.Join("..", "..", "..", "testdata")
	out := map[string]string{}
	for path, format := range map[string]string{
		"claude/config": "claude-code", "claude/shapes": "claude-code", "codex/home": "codex", "stream/*.json*": "stream-json",
		"canonical/strange.jsonl": "canonical", "sdk/play/jsonl": "cursor-ndjson", "sdk/e2e-jsonl": "cursor-ndjson", "sdk/gen/jsonl": "cursor-ndjson",
		"sdk/legacy-1.0.14": "cursor-sdk", "transcript": "cursor-transcript",
	} {
		found, err := filepath.Glob(filepath.Join(data, filepath.FromSlash(path)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", path, err)
		}
		for _, f := range found {
			out[f] = format
		}
	}
	return out
}

// TestWritten: what is written of a session is read again, once.
func TestWritten(t *testing.T) {
	for path, format := range sources(t) {
		written(t, format, path)
	}
}

// TestGenerated is TestWritten for agents that are made at random: runs that ended badly,
// parallel and failing tools, compaction, subagents.
func TestGenerated(t *testing.T) {
	for n := range uint64(4 * graphgen.Shapes) {
		p, dir := graphgen.New(n, graphgen.Shape(n)%graphgen.Shapes), filepath.Join(t.TempDir(), "store")
		if err := errors.Join(os.Mkdir(dir, 0o700), p.WriteLines(dir, p.Graph())); err != nil {
			t.Fatal(err)
		}
		written(t, "cursor-ndjson", dir)
	}
}

// written writes the sessions of a store and reads them again. Notices of the system can
// move, and results come right after their calls.
func written(t *testing.T, format, path string) {
	t.Helper()
	want := map[string][]string{}
	known := map[string]bool{}
	decode(t, format, path, func(s *session.Session) {
		id := s.ID
		if known[id] = true; s.Parent == nil || !known[s.Parent.Session] {
			id = sdkwrite.AgentID(&s.Head)
		}
		want[id] = text(t, s)
	})
	for _, dir := range write(t, format, path) {
		decode(t, "cursor-ndjson", dir, func(s *session.Session) {
			if s.Parent != nil && want[s.ID] == nil {
				return // from the steps that a call has of its subagent
			}
			got := slices.DeleteFunc(text(t, s), func(said string) bool { // a call must have a result
				return strings.HasPrefix(said, "gives") && !slices.Contains(want[s.ID], said)
			})
			if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want[s.ID]))) || !slices.Equal(talked(got), talked(want[s.ID])) {
				t.Errorf("%s: %s:\n%.60q\nwant:\n%.60q", path, s.ID, got, want[s.ID])
			}
			delete(want, s.ID)
		})
	}
	for id := range want {
		t.Errorf("%s: %s is not written", path, id)
	}
}

// TestWrittenAgain: an agent that was read from a draft is written as the same documents.
// That what was added to make it one is there the second time can change its blobs.
func TestWrittenAgain(t *testing.T) {
	root := regexp.MustCompile(`"rootBlobId":"[0-9a-f]{64}"`)
	for path, format := range sources(t) {
		for _, first := range write(t, format, path) {
			first = write(t, "cursor-ndjson", first)[0]
			want := files(t, first)
			got := files(t, write(t, "cursor-ndjson", first)[0])
			for name, text := range want {
				text, again := root.ReplaceAllString(text, ""), root.ReplaceAllString(got[name], "")
				if name != sdkdoc.Checkpoint.File() && text != again {
					t.Errorf("%s: %s:\n%s\nwas:\n%s", path, name, again, text)
				}
			}
		}
	}
}

// talked leaves out what can move.
func talked(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return strings.HasPrefix(s, "system") || strings.HasPrefix(s, "gives") })
}

package sdkwrite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/formatstest"
	"rehome/formats/internal/sdkwrite"
	"rehome/formats/session"
)

// talk is a session of messages that are written down.
func talk(id string, parent *session.Link, list ...*session.Message) *session.Session {
	s := &session.Session{Head: session.Head{ID: id, Agent: session.ClaudeCode, Workspace: "/w", Parent: parent}}
	s.Messages = formatstest.Fleeting(func(yield func(*session.Message, error) bool) {
		for _, m := range list {
			if !yield(m, nil) {
				return
			}
		}
	})
	return s
}

func prompt(text string, at int64) *session.Message {
	return &session.Message{ID: "u " + text, Role: session.User, At: session.Stored(at), Turn: &session.Turn{}, Parts: []session.Part{&session.Text{Text: text}}}
}

func answer(text string, at int64) *session.Message {
	return &session.Message{ID: "a " + text, Role: session.Assistant, At: session.Stored(at), Parts: []session.Part{&session.Text{Text: text}}}
}

// draft writes a family, and returns its folder.
func draft(t *testing.T, root *session.Session, subagents ...*session.Session) string {
	t.Helper()
	sink := sdkwrite.Writer().New().(formats.FamilySink)
	path := filepath.Join(t.TempDir(), "draft")
	d, err := sink.Put(t.Context(), root, formats.SessionBuild{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range subagents {
		if _, err := sink.Put(t.Context(), s, formats.SessionBuild{Root: &root.Head}); err != nil && !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
	}
	if err := errors.Join(sink.Finish(t.Context()), d.Verify(t.Context())); err != nil {
		t.Fatal(err)
	}
	return path
}

var errBroken = errors.New("the source is broken")

// broken is a session whose messages end in an error.
func broken(s *session.Session) *session.Session {
	messages := s.Messages
	s.Messages = func(yield func(*session.Message, error) bool) {
		for m, err := range messages {
			if !yield(m, err) {
				return
			}
		}
		yield(nil, errBroken)
	}
	return s
}

// files reads all files of a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBrokenSubagent: nothing is left of a subagent that could not be written.
func TestBrokenSubagent(t *testing.T) {
	parent := func() *session.Session { return talk("p", nil, prompt("go", 1000), answer("gone", 2000)) }
	link := &session.Link{Session: "p", Call: "c"}
	want := files(t, draft(t, parent()))
	got := files(t, draft(t, parent(), broken(talk("k", link, prompt("look around", 1500), answer("nothing", 1600)))))
	for name, text := range got {
		if text != want[name] {
			t.Errorf("%s:\n%s\nwant:\n%s", name, text, want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

// TestUnfinished: a family must be finished before the next one begins, and a session that
// fails takes its draft with it.
func TestUnfinished(t *testing.T) {
	sink := sdkwrite.Writer().New().(formats.FamilySink)
	dir := t.TempDir()
	put := func(ctx context.Context, name string, s *session.Session) error {
		_, err := sink.Put(ctx, s, formats.SessionBuild{Path: filepath.Join(dir, name)})
		return err
	}
	if err := put(t.Context(), "a", broken(talk("a", nil, prompt("x", 1)))); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if err := sink.Finish(t.Context()); err != nil {
		t.Error(err)
	}
	if err := put(t.Context(), "b", talk("b", nil, prompt("x", 1))); err != nil {
		t.Error(err)
	}
	if err := put(t.Context(), "c", talk("c", nil, prompt("x", 1))); err == nil {
		t.Error("two families are open")
	}
	if err := put(t.Context(), "b", talk("b", nil)); !errors.Is(err, os.ErrExist) {
		t.Error(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := put(canceled, "d", talk("d", nil, prompt("x", 1))); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestEmpty: a session without a message is an agent without a run.
func TestEmpty(t *testing.T) {
	got := files(t, draft(t, talk("e", nil)))
	if got["runs.ndjson"] != "" || got["run_events.ndjson"] != "" || !strings.Contains(got["agents.ndjson"], `"name":"New Agent"`) {
		t.Errorf("%q", got)
	}
}

// TestVerify: a draft that is not as it was written is refused.
func TestVerify(t *testing.T) {
	for name, damage := range map[string]func(string) string{
		"agents.ndjson":     func(s string) string { return s + s },
		"agents.ndjson ":    func(s string) string { return strings.Replace(s, `"rootBlobId":"`, `"rootBlobId":"00`, 1) },
		"agents.ndjson  ":   func(s string) string { return strings.Replace(s, `"agentId":"agent-`, `"agentId":"agent`, 1) },
		"runs.ndjson":       func(s string) string { return strings.Replace(s, `"turnNumber":2`, `"turnNumber":3`, 1) },
		"runs.ndjson    ":   func(s string) string { return strings.Replace(s, `"turnNumber":2`, `"turnNumber":1`, 1) },
		"runs.ndjson ":      func(s string) string { return strings.Replace(s, `"status":"finished"`, `"status":"running"`, 1) },
		"runs.ndjson  ":     func(s string) string { return s[:len(s)-1] },
		"runs.ndjson   ":    func(s string) string { return strings.Replace(s, `,"`, `, "`, 1) },
		"run_events.ndjson": func(s string) string { return s[strings.IndexByte(s, '\n')+1:] },
		"run_events.ndjson ": func(s string) string {
			return strings.Replace(s, `"schemaVersion":1`, `"schemaVersion":2`, 1)
		},
		"checkpoints.ndjson":   func(s string) string { return strings.Replace(s, `"dataBase64":"`, `"dataBase64":"AAAA`, 1) },
		"checkpoints.ndjson ":  func(s string) string { return s[strings.IndexByte(s, '\n')+1:] },
		"checkpoints.ndjson  ": func(string) string { return "" },
	} {
		sink := sdkwrite.Writer().New().(formats.FamilySink)
		dir := filepath.Join(t.TempDir(), "draft")
		d, err := sink.Put(t.Context(), talk("v", nil, prompt("one", 1000), answer("two", 2000), prompt("three", 3000)), formats.SessionBuild{Path: dir})
		if err = errors.Join(err, sink.Finish(t.Context()), d.Verify(t.Context())); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, strings.TrimSpace(name))
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bad := damage(string(b)); bad == string(b) {
			t.Errorf("%s is as it was", name)
		} else if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if fe := (*formats.Error)(nil); !errors.As(d.Verify(t.Context()), &fe) || fe.Hint == "" {
			t.Errorf("%s: damage is not found: %v", name, err)
		}
	}
}

// TestManyDrafts: more drafts than files can be open at once are joined in the order of
// their times.
func TestManyDrafts(t *testing.T) {
	var drafts []string
	for i := range 150 {
		var list []*session.Message
		for k := range 3 {
			at := int64(1_000_000 + 1000*k + i)
			list = append(list, prompt(fmt.Sprint("step ", k), at), answer(strings.Repeat("x", 70_000*(i%50/49)+1), at))
		}
		drafts = append(drafts, draft(t, talk(fmt.Sprint("s", i), nil, list...)))
	}
	slices.Reverse(drafts)
	r, err := sdkwrite.Writer().Join(t.Context(), drafts, formats.View{})
	if err != nil {
		t.Fatal(err)
	}
	runs, last := 0, []byte(nil)
	for b, err := range r.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows() {
			if b.Set != 1 {
				continue
			}
			_, created, _ := bytes.Cut(b.Cell(i, 0).Bytes(), []byte(`"createdAt":`))
			created = bytes.Clone(created[:bytes.IndexByte(created, ',')])
			if runs++; bytes.Compare(created, last) < 0 {
				t.Errorf("run %d of %s comes after one of %s", runs, created, last)
			}
			last = created
		}
		b.Release()
	}
	if runs != 450 {
		t.Errorf("%d runs", runs)
	}
	build(t, "cursor-ndjson", drafts, false)
}

func TestIDs(t *testing.T) {
	w := sdkwrite.Writer()
	for _, c := range []struct{ agent, id, want string }{
		{session.CursorSDK, "my/agent", "my/agent"},
		{session.ClaudeCode, "20000000-0000-4000-8000-00000000000A", "agent-20000000-0000-4000-8000-00000000000a"},
		{session.CursorIDE, "draft", "agent-9043c44f-856d-5a82-a146-748151382d4a"},
		{session.CursorSDK, "bc-1", "agent-"},
	} {
		h := &session.Head{Agent: c.agent, ID: c.id}
		if got := w.ID(h); got != c.want && c.want != "agent-" || strings.HasPrefix(got, "bc-") {
			t.Errorf("%s %q: %q", c.agent, c.id, got)
		}
		if name := w.Path(h); !filepath.IsLocal(name) || strings.Contains(name, "/") || w.Path(h) != name {
			t.Errorf("%s %q: %q", c.agent, c.id, name)
		}
	}
}

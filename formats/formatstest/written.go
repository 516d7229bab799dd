package formatstest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/session"
)

// written: every format that can be written takes each session, and writes the same
// bytes again. What it wrote passes its own check and breaks no rule, and text for any
// client is the same session when it is read.
func written(t *testing.T, c Case, s source) {
	want := mustDecode(t, c, s.path, formats.View{}, session.Selection{})
	for _, to := range c.Registry.All() {
		if to.Writer == nil {
			continue
		}
		first, again := t.TempDir(), t.TempDir()
		if err := errors.Join(c.put(t.Context(), t, to, s, first), c.put(t.Context(), t, to, s, again)); err != nil {
			t.Fatal(err)
		}
		files := tree(t, first)
		sameTree(t, to.Name+" written again", files, tree(t, again))
		if to.Writer.Many {
			var all []byte
			for _, name := range slices.Sorted(maps.Keys(files)) {
				all = append(all, files[name]...)
			}
			path := filepath.Join(t.TempDir(), "all.jsonl")
			if err := os.WriteFile(path, all, 0o666); err != nil {
				t.Fatal(err)
			}
			if d := rowDifference(want.of(nil), mustDecode(t, Case{Format: to}, path, formats.View{}, session.Selection{}).of(nil)); d != "" {
				t.Errorf("%s: all in one file: %s", to.Name, d)
			}
		}
		_, families := to.Writer.New().(formats.FamilySink)
		members := map[string]bool{}
		for i, h := range want.heads {
			within := families && inFamily(members, &h)
			if !within && to.Writer.Join == nil { // else it is no store by itself
				accepted(t, to, place(t, to, first, i, &want.heads[i]), want, i)
			}
		}
		if len(want.of(nil)) > len(want.heads) { // without a message there is nothing to stop
			cancelAnywhere(t, func(ctx context.Context) error { return c.put(ctx, t, to, s, t.TempDir()) })
		}
	}
}

// place returns the path of a session in a folder, apart from other sessions.
func place(t *testing.T, to *formats.Format, dir string, i int, h *session.Head) string {
	t.Helper()
	name := filepath.FromSlash(to.Writer.Path(h))
	if !filepath.IsLocal(name) {
		t.Errorf("%s: session %q belongs into %q", to.Name, h.ID, name)
	}
	return filepath.Join(dir, fmt.Sprintf("%03d", i), name)
}

// put writes each session of a source into a folder.
func (c Case) put(ctx context.Context, t *testing.T, to *formats.Format, s source, dir string) error {
	t.Helper()
	l, err := formats.Locate(s.path)
	if err != nil {
		return err
	}
	w := &putting{t: t, to: to, dir: dir, sink: to.Writer.New(), members: map[string]bool{}}
	w.family, _ = w.sink.(formats.FamilySink)
	for one, err := range c.Format.Sessions.Decode(t.Context(), l, silent(), session.Selection{}) {
		if err == nil {
			err = w.put(ctx, one)
		}
		if err != nil {
			return errors.Join(err, w.abandon())
		}
	}
	return w.finish(ctx)
}

// putting writes the sessions of a source, as the pipe of a conversion does.
type putting struct {
	t       *testing.T
	to      *formats.Format
	dir     string
	sink    formats.Sink
	n       int // number of sessions
	family  formats.FamilySink
	members map[string]bool // ids of the sessions of the family
	root    session.Head
	draft   *formats.Draft // of the family, until it is finished
}

// inFamily reports whether a session belongs to the family of the session before. If it
// does not, it begins one.
func inFamily(members map[string]bool, h *session.Head) bool {
	within := h.Parent != nil && members[h.Parent.Session]
	if !within {
		clear(members)
	}
	members[h.ID] = true
	return within
}

func (w *putting) put(ctx context.Context, s *session.Session) error {
	path := place(w.t, w.to, w.dir, w.n, &s.Head)
	w.n++
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	b, within := formats.SessionBuild{Path: path}, false
	if w.family != nil {
		if within = inFamily(w.members, &s.Head); within {
			b.Root = &w.root
		} else {
			s.Parent, w.root = nil, s.Head
			if err := w.finish(ctx); err != nil {
				return err
			}
		}
	}
	d, err := w.sink.Put(ctx, s, b)
	switch {
	case err != nil:
	case d.Within != within:
		w.t.Errorf("%s: session %q is in the draft of another one: %v, want %v", w.to.Name, s.ID, d.Within, within)
	case w.family == nil && d.Verify != nil:
		err = d.Verify(ctx)
	case w.family != nil && !within:
		w.draft = d
	}
	if err != nil {
		return fmt.Errorf("%s: session %q: %w", w.to.Name, s.ID, err)
	}
	return nil
}

// finish finishes the family of the last session.
func (w *putting) finish(ctx context.Context) error {
	d := w.draft
	if w.draft = nil; d == nil {
		return nil
	}
	err := w.family.Finish(ctx)
	if err == nil && d.Verify != nil {
		err = d.Verify(ctx)
	}
	return err
}

// abandon releases what an unfinished family holds.
func (w *putting) abandon() error {
	if w.draft == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.family.Finish(ctx); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: a canceled Finish returned %v", w.to.Name, err)
	}
	return nil
}

// accepted requires that a written file is what it should be.
func accepted(t *testing.T, to *formats.Format, path string, want *talk, i int) {
	t.Helper()
	id := want.heads[i].ID
	if len(to.Clients) == 0 {
		got := mustDecode(t, Case{Format: to}, path, formats.View{}, session.Selection{})
		if d := rowDifference(want.sessions[i], got.of(nil)); d != "" || len(got.notes) > 0 {
			t.Errorf("%s: session %q came back another, with losses %q: %s", to.Name, id, got.notes, d)
		}
	}
	if to.Check != nil {
		for _, f := range Findings(t, to, path, Layers, 1) {
			if rule.Lookup(f.Rule).Severity > rule.Note {
				t.Errorf("%s: session %q: %s", to.Name, id, told([]rule.Finding{f}))
			}
		}
	}
	unmodified := to.Writer.Unmodified
	if unmodified == nil {
		return
	}
	is, err := unmodified(t.Context(), path)
	if err == nil && !to.Writer.Folders {
		err = grow(path, 0)
	}
	if err != nil || !is {
		t.Errorf("%s: session %q is modified when it is new: %v", to.Name, id, err)
	}
	if to.Writer.Folders {
		return // what a client changes in a folder is for the tests of its codec
	}
	if is, err = unmodified(t.Context(), path); err != nil || is {
		t.Errorf("%s: session %q is unmodified with another line: %v", to.Name, id, err)
	}
}

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
		for i := range want.heads {
			accepted(t, to, place(t, to, first, i, &want.heads[i]), want, i)
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
	i, sink := 0, to.Writer.New()
	for one, err := range c.Format.Sessions.Decode(t.Context(), l, silent(), session.Selection{}) {
		if err != nil {
			return err
		}
		path := place(t, to, dir, i, &one.Head)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		draft, err := sink.Put(ctx, one, formats.SessionBuild{Path: path})
		if err == nil && draft.Verify != nil {
			err = draft.Verify(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: session %q: %w", to.Name, one.ID, err)
		}
		i++
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
	if err := errors.Join(err, grow(path, 0)); err != nil || !is {
		t.Errorf("%s: session %q is modified when it is new: %v", to.Name, id, err)
	}
	if is, err = unmodified(t.Context(), path); err != nil || is {
		t.Errorf("%s: session %q is unmodified with another line: %v", to.Name, id, err)
	}
}

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
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/store"
)

// written: every format that can be written takes each session, and writes the same
// bytes again. What it wrote passes its own check and breaks no rule, and is the same
// session when it is read, but for losses that are declared and were reported.
func written(t *testing.T, c Case, s source) {
	want := mustDecode(t, c, s.path, formats.View{}, session.Selection{})
	for _, to := range c.Registry.All() {
		if to.Writer == nil {
			continue
		}
		first, err := c.put(t.Context(), t, to, s, t.TempDir())
		again, err2 := c.put(t.Context(), t, to, s, t.TempDir())
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		files := tree(t, first.dir)
		sameTree(t, to.Name+" written again", files, tree(t, again.dir))
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
		first.accepted(t, to, want)
		if len(want.of(nil)) > len(want.heads) { // without a message there is nothing to stop
			cancelAnywhere(t, func(ctx context.Context) error {
				_, err := c.put(ctx, t, to, s, t.TempDir())
				return err
			})
		}
	}
}

// drafts are the sessions of a source as a format writes them.
type drafts struct {
	dir     string
	paths   []string      // by session; "" if it is within the draft of another
	roots   []int         // by session: the outermost one of its family
	losses  [][]loss.Code // by session
	reports [][]loss.Loss // the same, whole
}

// put writes each session of a source into a folder.
func (c Case) put(ctx context.Context, t *testing.T, to *formats.Format, s source, dir string) (*drafts, error) {
	t.Helper()
	l, err := formats.Locate(s.path)
	if err != nil {
		return nil, err
	}
	out, sink := &drafts{dir: dir}, to.Writer.New()
	family, pending := map[string]int{}, []*formats.Draft(nil)
	verify := func() (err error) {
		all := pending
		pending = nil
		if f, ok := sink.(formats.FamilySink); ok && len(all) > 0 {
			err = f.Finish(ctx)
		}
		for _, d := range all {
			if err == nil && d.Verify != nil {
				err = d.Verify(ctx)
			}
		}
		return err
	}
	defer func() {
		if f, ok := sink.(formats.FamilySink); ok && len(pending) > 0 { // it releases what an unfinished draft holds
			canceled, cancel := context.WithCancel(ctx)
			cancel()
			if err := f.Finish(canceled); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: a canceled Finish returned %v", to.Name, err)
			}
		}
	}()
	var heads []session.Head
	for one, err := range c.Format.Sessions.Decode(t.Context(), l, silent(), session.Selection{}) {
		if err != nil {
			return nil, err
		}
		i, root, b := len(heads), -1, formats.SessionBuild{}
		heads = append(heads, one.Head)
		if one.Parent != nil {
			if up, ok := family[one.Parent.Session]; ok {
				root, b.Root = up, &heads[up]
			}
		}
		if root < 0 {
			if err := verify(); err != nil {
				return nil, fmt.Errorf("%s: before session %q: %w", to.Name, one.ID, err)
			}
			clear(family)
			root = i
		}
		family[one.ID] = root
		out.roots, out.losses, out.reports = append(out.roots, root), append(out.losses, nil), append(out.reports, nil)
		b.OnLoss = func(n loss.Loss) {
			out.losses[i], out.reports[i] = append(out.losses[i], n.Code), append(out.reports[i], n)
		}
		b.Path = place(t, to, dir, i, &one.Head)
		if err := os.MkdirAll(filepath.Dir(b.Path), 0o777); err != nil {
			return nil, err
		}
		one.Messages, one.Files = Fleeting(one.Messages), Fleeting(one.Files)
		d, err := sink.Put(ctx, one, b)
		if err != nil {
			return nil, fmt.Errorf("%s: session %q: %w", to.Name, one.ID, err)
		}
		if pending = append(pending, d); d.Within {
			b.Path = ""
		}
		out.paths = append(out.paths, b.Path)
	}
	return out, verify()
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

// accepted requires that what was written is what it should be.
func (d *drafts) accepted(t *testing.T, to *formats.Format, want *talk) {
	t.Helper()
	for i, codes := range d.losses {
		for _, code := range codes {
			if !slices.Contains(to.Writer.Losses, code) {
				t.Errorf("%s: session %q: loss %s (%s) is not declared", to.Name, want.heads[i].ID, code, code.Definition().One)
			}
		}
	}
	if to.Writer.Join != nil {
		if len(d.paths) > 0 {
			d.store(t, to, joined(t, to, slices.DeleteFunc(slices.Clone(d.paths), func(p string) bool { return p == "" })), want, func(int) bool { return true })
		}
		return
	}
	for i, path := range d.paths {
		if path != "" {
			d.store(t, to, path, want, func(n int) bool { return n == i || d.paths[n] == "" && d.roots[n] == i })
		}
	}
}

// store requires that a store has the sessions of which in reports true.
func (d *drafts) store(t *testing.T, to *formats.Format, path string, want *talk, in func(i int) bool) {
	t.Helper()
	got := mustDecode(t, Case{Format: to}, path, formats.View{}, session.Selection{})
	if len(to.Clients) == 0 {
		var lines []string
		for i := range want.sessions {
			if in(i) {
				lines = append(lines, want.sessions[i]...)
			}
		}
		if diff := rowDifference(lines, got.of(nil)); diff != "" || len(got.notes) > 0 {
			t.Errorf("%s: %s: came back another, with losses %q: %s", to.Name, path, got.notes, diff)
		}
	}
	d.faithful(t, to, want, got, in)
	if to.Check != nil {
		for _, f := range Findings(t, to, path, Layers, 1) {
			if rule.Lookup(f.Rule).Severity > rule.Note {
				t.Errorf("%s: %s", to.Name, told([]rule.Finding{f}))
			}
		}
	}
	unmodified := to.Writer.Unmodified
	if unmodified == nil {
		return
	}
	is, err := unmodified(t.Context(), path)
	if err != nil || !is {
		t.Errorf("%s: %s is modified when it is new: %v", to.Name, path, err)
	}
	if to.Writer.Folders {
		return // what a client changes in a folder is for the tests of its codec
	}
	if err := grow(path, 0); err != nil {
		t.Fatal(err)
	}
	if is, err = unmodified(t.Context(), path); err != nil || is {
		t.Errorf("%s: %s is unmodified with another line: %v", to.Name, path, err)
	}
}

// joined makes a store of drafts, and returns its path.
func joined(t *testing.T, to *formats.Format, paths []string) string {
	t.Helper()
	v := formats.FullView(1)
	for _, k := range to.Records.Kinds {
		if v.Kind = k.Name; k.Name != formats.Tables {
			break
		}
	}
	v.OnLoss = func(n loss.Loss) { t.Errorf("%s: loss %s in a draft", to.Name, n.Code) }
	r, err := to.Writer.Join(t.Context(), paths, v)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := filepath.Join(t.TempDir(), "store")
	w, err := to.Records.Create(t.Context(), formats.Build{Path: path, Schema: r.Schema(), Jobs: 1, OnSidecar: func(store.SidecarItem) {}, OnLoss: v.OnLoss})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	Fill(t, w, r)
	return path
}

// Fill writes all records of a reader, and finishes the writer.
func Fill(t *testing.T, w store.Writer, r store.Reader) {
	t.Helper()
	for b, err := range r.Batches(t.Context()) {
		if err == nil {
			err = w.Put(t.Context(), b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Finish(t.Context()), w.Close()); err != nil {
		t.Fatal(err)
	}
}

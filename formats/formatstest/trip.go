package formatstest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
	"rehome/formats/store"
)

// writing is how one store is made from another.
type writing struct {
	to       *formats.Format
	view     formats.View
	compress string
	jobs     int
	folders  bool                 // a folder for each session, where the format has both forms
	beside   []store.SidecarItem  // the items of the store's sidecar
	told     *[]store.SidecarItem // the items for the one that is made
}

// tell collects sidecar items.
func (w writing) tell(it store.SidecarItem) {
	if w.told != nil {
		*w.told = append(*w.told, it)
	}
}

// write converts the store at path to a new one and returns its path.
func write(t *testing.T, c Case, from *formats.Format, path string, w writing) (string, error) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		return "", err
	}
	w.view.Jobs, w.view.Kind, w.view.OnLeftover = w.jobs, formats.SharedKind(from, w.to), w.tell
	if w.view.Sidecar == nil && w.view.Kind != formats.Tables {
		w.view.Sidecar = w.beside
	}
	r, err := from.Records.Open(t.Context(), l, w.view)
	if err != nil {
		return "", err
	}
	defer r.Close()
	b := formats.Build{
		Flat:   !w.folders,
		Path:   filepath.Join(t.TempDir(), filepath.Base(path)),
		Schema: r.Schema(), Compress: w.compress, Jobs: w.jobs,
		OnSidecar: w.tell, Leftover: w.beside,
	}
	if origin := c.Registry.Lookup(b.Schema.Origin); origin != nil {
		b.Shard, b.Lists = origin.Records.Shard, origin.Records.Lists
	}
	dst, err := w.to.Records.Create(t.Context(), b)
	if err != nil {
		return "", &refusal{err, b.Path}
	}
	return b.Path, errors.Join(pump(t.Context(), r, dst), dst.Close(), dst.Close())
}

// refusal is the error of a Create that rejects a store: a related format need not
// be able to hold every store.
type refusal struct {
	error
	path string
}

func (r *refusal) Unwrap() error { return r.error }

// allowed checks that a refusal leaves no files, and has a hint.
func (r *refusal) allowed(t *testing.T, who string) {
	t.Helper()
	if _, err := os.Lstat(r.path); err == nil {
		t.Errorf("%s refuses the store and leaves %s", who, filepath.Base(r.path))
	}
	if formats.Hint(r.error) == "" {
		t.Errorf("%s refuses the store without a hint: %v", who, r.error)
	}
}

func pump(ctx context.Context, r store.Reader, w store.Writer) error {
	for b, err := range r.Batches(ctx) {
		if err != nil {
			return err
		}
		if err := w.Put(ctx, b); err != nil {
			return err
		}
	}
	return w.Finish(ctx)
}

// targets returns the formats that the case's store converts to exactly, its own
// first.
func (c Case) targets() []*formats.Format {
	out := c.Registry.Relatives(c.Format)
	if c.Format.Records != nil {
		out = append([]*formats.Format{c.Format}, out...)
	}
	return out
}

// viewFor returns how to read a store for a target: a store that a client opens
// must not contain the markers of a text.
func viewFor(from, to *formats.Format) formats.View {
	if from.Text && !to.Text {
		return formats.View{Secrets: formats.OmitWithheld}
	}
	return formats.View{}
}

// trip: whatever the store is converted to has the same schema, records and digests.
func trip(t *testing.T, c Case, s source) {
	accepted := 0
	for _, to := range c.targets() {
		t.Run(to.Name, func(t *testing.T) {
			if tripTo(t, c, s, to, false) {
				accepted++
			}
		})
		if to.Records.Parts != nil {
			t.Run(to.Name+" in folders", func(t *testing.T) { tripTo(t, c, s, to, true) })
		}
	}
	if accepted == 0 {
		t.Error("no format accepts this store")
	}
}

// tripTo reports whether the format accepts the store.
func tripTo(t *testing.T, c Case, s source, to *formats.Format, folders bool) bool {
	view := viewFor(c.Format, to)
	var told []store.SidecarItem
	path, err := write(t, c, c.Format, s.path, writing{to: to, view: view, told: &told, folders: folders})
	if no := (*refusal)(nil); errors.As(err, &no) && to != c.Format {
		no.allowed(t, to.Name)
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	view.Kind = formats.SharedKind(c.Format, to)
	again := formats.View{Kind: view.Kind}
	if again.Kind != formats.Tables {
		again.Sidecar = told // in folders, it has the order of the lines
	}
	same(t, "read back", mustRead(t, c.Format, s.path, view).sorted(), mustRead(t, to, path, again).sorted())
	if found := detect(t, c.Registry, path); (to == c.Format || to.Text) && (len(found) == 0 || found[0].Format.Name != to.Name) {
		t.Errorf("what was written is not recognized: %s", names(found))
	}
	return true
}

var workspace = regexp.MustCompile(`,"workspace":"[^"]*"`)

// cwd: documents that are read for another project folder become sessions of that
// folder, and differ in nothing else.
func cwd(t *testing.T, c Case, s source) {
	for _, to := range c.targets() {
		if kind := formats.SharedKind(c.Format, to); kind == formats.Tables || kind == formats.PlainFiles || to.Sessions == nil {
			continue
		}
		var made [2]*talk
		for i, cwd := range []string{"", "/moved"} {
			path, err := write(t, c, c.Format, s.path, writing{to: to, view: formats.View{Cwd: cwd}})
			if err != nil {
				t.Fatal(err)
			}
			made[i] = mustDecode(t, Case{Format: to}, path, formats.View{}, session.Selection{})
		}
		for i, h := range made[1].heads {
			if h.Workspace != "/moved" && (h.Workspace != "" || made[0].heads[i].Workspace != "") {
				t.Errorf("as %s of another folder: %q is of %q", to.Name, h.ID, h.Workspace)
			}
		}
		without := func(t *talk) []string {
			return strings.Split(workspace.ReplaceAllString(strings.Join(t.lines(), "\n"), ""), "\n")
		}
		if d := rowDifference(without(made[0]), without(made[1])); d != "" {
			t.Errorf("as %s of another folder: %s", to.Name, d)
		}
	}
}

// abandoned: a writer that is cancelled ends with the context's error, leaves no
// goroutine, and may be closed twice.
func abandoned(t *testing.T, c Case, s source) {
	for _, to := range c.targets() {
		l, err := formats.Locate(s.path)
		if err != nil {
			t.Fatal(err)
		}
		view := viewFor(c.Format, to)
		view.Kind = formats.SharedKind(c.Format, to)
		r, err := c.Format.Records.Open(t.Context(), l, view)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		w, err := to.Records.Create(ctx, formats.Build{Path: filepath.Join(t.TempDir(), filepath.Base(s.path)), Schema: r.Schema()})
		if err == nil {
			var failed error
			for b, err := range r.Batches(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if failed = w.Put(ctx, b); failed != nil {
					break
				}
				cancel()
			}
			if failed == nil {
				failed = w.Finish(ctx)
			}
			if ctx.Err() != nil && !errors.Is(failed, context.Canceled) {
				t.Errorf("%s: cancelled, and ends with %v", to.Name, failed)
			}
			w.Close()
			w.Close()
		}
		cancel()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

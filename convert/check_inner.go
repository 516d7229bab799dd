package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// mostInner is how large a text is whose store is made again to be looked at:
// as large as the copy of a store in use.
const mostInner = 2 << 30

// mostHeldInner is how many findings are taken back to their lines. Who has
// more of them has other worries.
const mostHeldInner = 100_000

// inner asks of a text that stands for tables what is asked of the store that
// it holds: that is made again in a folder nobody sees, and what is found there
// is said of the line that it comes from.
func (c *checker) inner(ctx context.Context, one *examined, view formats.View, q *rule.Pass) error {
	if !one.f.Text || one.f.Open == nil || !slices.Contains(one.f.Families, formats.Tables) || c.o.Layers&^rule.Secrets == 0 {
		return nil
	}
	if one.tally.failed() {
		return nil // one that is not whole cannot be restored either
	}
	if one.size > mostInner {
		view.OnNotice(fmt.Sprintf("content not checked: larger than %d GB", mostInner>>30))
		return nil
	}
	private, err := newFolder("check")
	if err != nil {
		return err
	}
	defer private.Remove()
	loc, origin, err := c.restored(ctx, one, view, filepath.Join(private.Path, filepath.Base(cleaned(one.loc.Path))))
	switch {
	case diskFull(err):
		view.OnNotice("content not checked: not enough space in " + os.TempDir())
		return nil
	case err != nil && (ctx.Err() != nil || errors.Is(err, formats.ErrBusy)):
		return err
	case err != nil:
		q.Reportf("RH387", store.Addr{File: "manifest.json"}, withoutPlace(err))
		return nil
	case origin == nil || origin.Check == nil:
		return nil
	}
	f := &foreign{file: filepath.Base(loc.Path), alone: !loc.IsDir(), outer: one.tally.places()}
	inside := *q
	inside.Report = func(found rule.Finding) {
		if c.o.wanted(found.Rule) {
			f.hold(found)
		}
	}
	if err := origin.Check(ctx, loc, formats.View{Jobs: view.Jobs, OnNotice: func(string) {}}, &inside); err != nil {
		return err
	}
	return f.home(ctx, one, view, q)
}

// restored makes the store of a text again. What was left at home when it was
// written is missing, as it is for a client.
func (c *checker) restored(ctx context.Context, one *examined, view formats.View, to string) (*formats.Location, *formats.Format, error) {
	r, err := one.f.Open(ctx, one.loc, formats.View{Family: formats.Tables, Secrets: formats.OmitWithheld, OnOmit: func(store.SidecarItem) {}, Jobs: view.Jobs})
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	origin := c.reg.Lookup(r.Schema().Origin)
	if origin == nil || origin.Create == nil {
		return nil, nil, nil
	}
	w, err := origin.Create(ctx, formats.Build{Path: to, Schema: r.Schema(), Jobs: view.Jobs, OnSidecar: func(store.SidecarItem) {}})
	if err != nil {
		return nil, nil, err
	}
	defer w.Close()
	for b, err := range r.Batches(ctx) {
		if err == nil {
			err = w.Put(ctx, b)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if err := errors.Join(w.Finish(ctx), w.Close()); err != nil {
		return nil, nil, err
	}
	loc, err := formats.Locate(to)
	if err != nil {
		return nil, nil, err
	}
	// Text says itself where it came from, and can be edited. What counts is whose
	// a client or rehome would take the store to be.
	if found, err := c.reg.Detect(ctx, loc); err != nil {
		return nil, nil, err
	} else if len(found) > 0 && found[0].Format.Check != nil {
		origin = found[0].Format
	}
	return loc, origin, nil
}

// withoutPlace is an error without the names of scratch files.
func withoutPlace(err error) string {
	for e := (*formats.Error)(nil); errors.As(err, &e) && e.Err != nil; {
		err = e.Err
	}
	return err.Error()
}

// foreign are findings about a store that was made again, until they are told
// of the text.
type foreign struct {
	file  string // the store's own name
	alone bool   // it is a file
	outer map[string]bool

	mu   sync.Mutex
	held []rule.Finding
}

func (f *foreign) hold(found rule.Finding) {
	found.Detach()
	if f.alone && found.At.File == f.file {
		found.At.File = ""
	}
	if found.At.File == "" && found.At.Set == "" && rule.Lookup(found.Rule).Severity == rule.Note {
		return // of the folder that it was made in
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.held) < mostHeldInner {
		f.held = append(f.held, found)
	}
}

// home reads the text again and tells each finding of the line it comes from.
func (f *foreign) home(ctx context.Context, one *examined, view formats.View, q *rule.Pass) error {
	if len(f.held) == 0 {
		return nil
	}
	r, err := one.f.Open(ctx, one.loc, formats.View{Family: formats.Tables, Jobs: view.Jobs})
	if err != nil {
		return err
	}
	defer r.Close()
	lines := map[string][]int{} // the held ones by the record they are about
	for i := range f.held {
		if key := recordKey(&f.held[i].At); key != "" {
			lines[key] = append(lines[key], i)
		}
	}
	if placed, ok := r.(store.Positioned); ok && len(lines) > 0 {
		if err := f.place(ctx, placed, lines); err != nil {
			return err
		}
	}
	for _, found := range f.held {
		if found.At.Set != "" || found.At.File == "" {
			found.At = tableAddr(r.Schema(), found.At)
		}
		if !f.outer[found.Rule+" "+found.At.String()] {
			q.Report(found)
		}
	}
	return nil
}

// place finds the lines.
func (f *foreign) place(ctx context.Context, r store.Positioned, lines map[string][]int) error {
	schema := r.Schema()
	for b, err := range r.Batches(ctx) {
		if err != nil {
			return err
		}
		set := &schema.Sets[b.Set]
		file, first := r.Position()
		for i := range b.Rows() {
			if set.Kind != store.Table {
				break
			}
			at := store.Addr{File: set.File, Set: set.Name, RowID: b.RowID(i), HasID: set.RowIDs}
			if cell := b.Cell(i, 0); !set.RowIDs && cell.Class == store.Int { // the row id is this column
				at.RowID, at.HasID = cell.Int(), true
			} else if !set.RowIDs {
				at.Key = cell
			}
			for _, n := range lines[recordKey(&at)] {
				f.held[n].At = store.Addr{File: file, Line: first + i}
			}
		}
		b.Release()
	}
	return nil
}

// recordKey is the same for a record in a store and in its text; "" where an
// address names none.
func recordKey(at *store.Addr) string {
	switch {
	case at.Set == "":
		return ""
	case at.HasID:
		return fmt.Sprintf("%s\x00%s\x00%d", at.File, at.Set, at.RowID)
	case at.Key.Class == store.Text || at.Key.Class == store.Blob:
		return fmt.Sprintf("%s\x00%s\x00\x00%s", at.File, at.Set, at.Key.Bytes())
	}
	return ""
}

// tableAddr is the place of a table as a whole: its text, as far as a name can
// tell, else what describes it.
func tableAddr(s *store.Schema, at store.Addr) store.Addr {
	for _, set := range s.Sets {
		if at.Set != "" && set.File == at.File && set.Name == at.Set {
			at.File = path.Join(set.File, strings.ToLower(set.Name)+".ndjson")
			return store.Addr{File: at.File, Key: at.Key}
		}
	}
	return store.Addr{File: "manifest.json", Key: at.Key}
}

// failed reports whether there is an error among what was found so far.
func (t *checkTally) failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range t.rules {
		if b.Rule.Severity == rule.Error {
			return true
		}
	}
	return false
}

// places are what was found where: the store may break a rule as its text does.
func (t *checkTally) places() map[string]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := map[string]bool{}
	for id, b := range t.rules {
		for _, f := range b.Places {
			out[id+" "+f.At.String()] = true
		}
	}
	return out
}

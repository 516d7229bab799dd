package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"rehome/convert/internal/stage"
	"rehome/convert/internal/walk"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// maxRestoredSize is the size up to which text is restored to check the store
// in it: that of the copy of a store in use.
const maxRestoredSize = 2 << 30

// maxHeldFindings is how many findings are traced back to their lines.
const maxHeldFindings = 100_000

// checkRestored checks the store that is in a text of tables. It restores the
// store to a temporary folder, and reports each finding at the line of the text
// that it comes from.
func (c *checker) checkRestored(ctx context.Context, one *storeCheck, view formats.View, q *rule.Pass) error {
	if !one.f.Text || !one.f.Records.Has(formats.Tables) || c.o.Layers&^rule.Secrets == 0 {
		return nil
	}
	if one.findings.hasErrors() {
		return nil // a text with errors cannot be restored
	}
	if one.size > maxRestoredSize {
		view.OnNotice(fmt.Sprintf("content not checked: larger than %d GB", maxRestoredSize>>30))
		return nil
	}
	private, err := stage.NewTemp("check")
	if err != nil {
		return err
	}
	defer private.Remove()
	loc, origin, err := c.restoreText(ctx, one, view, filepath.Join(private.Path, filepath.Base(walk.ResolvedPath(one.loc.Path))))
	switch {
	case stage.DiskFull(err):
		view.OnNotice("content not checked: not enough space in " + os.TempDir())
		return nil
	case err != nil && (ctx.Err() != nil || errors.Is(err, formats.ErrBusy)):
		return err
	case err != nil:
		q.Reportf("RH387", store.Addr{File: "manifest.json"}, innermostMessage(err))
		return nil
	case origin == nil || origin.Check == nil:
		return nil
	}
	f := &restoredFindings{file: filepath.Base(loc.Path), alone: !loc.IsDir(), known: one.findings.placeKeys()}
	inside := *q
	inside.Report = func(found rule.Finding) {
		if c.o.wanted(found.Rule) {
			f.add(found)
		}
	}
	if err := origin.Check(ctx, loc, formats.View{Jobs: view.Jobs, OnNotice: func(string) {}}, &inside); err != nil {
		return err
	}
	return f.report(ctx, one, view, q)
}

// restoreText restores the store in a text. Secrets that were withheld from the
// text are missing, as they would be for a client.
func (c *checker) restoreText(ctx context.Context, one *storeCheck, view formats.View, to string) (*formats.Location, *formats.Format, error) {
	r, err := one.f.Records.Open(ctx, one.loc, formats.View{Kind: formats.Tables, Secrets: formats.OmitWithheld, OnOmit: func(store.SidecarItem) {}, Jobs: view.Jobs})
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	origin := c.reg.Lookup(r.Schema().Origin)
	if origin == nil || origin.Records == nil {
		return nil, nil, nil
	}
	w, err := origin.Records.Create(ctx, formats.Build{Path: to, Schema: r.Schema(), Jobs: view.Jobs, OnSidecar: func(store.SidecarItem) {}})
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
	// A text states its origin, and can be edited. What counts is the format
	// that rehome or a client would detect.
	if found, err := c.reg.Detect(ctx, loc); err != nil {
		return nil, nil, err
	} else if len(found) > 0 && found[0].Format.Check != nil {
		origin = found[0].Format
	}
	return loc, origin, nil
}

// innermostMessage returns the message of the innermost error, without the
// names of temporary files.
func innermostMessage(err error) string {
	for e := (*formats.Error)(nil); errors.As(err, &e) && e.Err != nil; {
		err = e.Err
	}
	return err.Error()
}

// restoredFindings holds findings about a restored store until they are
// reported for its text.
type restoredFindings struct {
	file  string // name of the store
	alone bool   // the store is a file
	known map[string]bool

	mu   sync.Mutex
	held []rule.Finding
}

func (f *restoredFindings) add(found rule.Finding) {
	found.Detach()
	if f.alone && found.At.File == f.file {
		found.At.File = ""
	}
	if found.At.File == "" && found.At.Set == "" && rule.Lookup(found.Rule).Severity == rule.Note {
		return // about the temporary folder
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.held) < maxHeldFindings {
		f.held = append(f.held, found)
	}
}

// report reads the text again, and reports each finding at the line it comes
// from.
func (f *restoredFindings) report(ctx context.Context, one *storeCheck, view formats.View, q *rule.Pass) error {
	if len(f.held) == 0 {
		return nil
	}
	r, err := one.f.Records.Open(ctx, one.loc, formats.View{Kind: formats.Tables, Jobs: view.Jobs})
	if err != nil {
		return err
	}
	defer r.Close()
	lines := map[string][]int{} // indexes in held, by record
	for i := range f.held {
		at := f.held[i].At
		for range 2 { // by row id and by key: the text may lack the row id
			if key := recordKey(&at); key != "" {
				lines[key] = append(lines[key], i)
			}
			if !at.HasID {
				break
			}
			at.HasID = false
		}
	}
	if placed, ok := r.(store.Positioned); ok && len(lines) > 0 {
		if err := f.findLines(ctx, placed, lines); err != nil {
			return err
		}
	}
	for _, found := range f.held {
		if found.At.Set != "" || found.At.File == "" {
			found.At = tableAddr(r.Schema(), found.At)
		}
		if !f.known[found.Rule+" "+found.At.String()] {
			q.Report(found)
		}
	}
	return nil
}

// findLines replaces the addresses of records by their lines in the text.
func (f *restoredFindings) findLines(ctx context.Context, r store.Positioned, lines map[string][]int) error {
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
			if cell := b.Cell(i, 0); !set.RowIDs && cell.Class == store.Int { // the column is the row id
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

// recordKey returns a key that is the same for a record in a store and in its
// text, or "" if the address names no record.
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

// tableAddr returns the address of a whole table: the file of its text if the
// name tells, else the manifest.
func tableAddr(s *store.Schema, at store.Addr) store.Addr {
	for _, set := range s.Sets {
		if at.Set != "" && set.File == at.File && set.Name == at.Set {
			at.File = path.Join(set.File, strings.ToLower(set.Name)+".ndjson")
			return store.Addr{File: at.File, Key: at.Key}
		}
	}
	return store.Addr{File: "manifest.json", Key: at.Key}
}

// placeKeys returns the rules and addresses found so far: a store may break a
// rule in the same place as its text.
func (t *findingSet) placeKeys() map[string]bool {
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

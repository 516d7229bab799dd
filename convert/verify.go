package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"rehome/convert/internal/notify"
	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// verify reads the staged store again and compares it with the source. If it is
// the only store, it is synced to disk at the same time.
func (c *exactConversion) verify(ctx context.Context, to *formats.Format, schema *store.Schema, sum store.Summary) error {
	synced := make(chan error, 1)
	if c.only {
		c.notify.Begin(notify.Checking, c.source.Rel, sum.Bytes())
		if c.opts.DryRun {
			synced <- nil
		} else {
			go func() { synced <- stage.SyncTree(c.stage.Tree) }()
		}
	} else {
		synced <- nil
	}
	err := c.reread(ctx, to, schema, sum)
	if e := <-synced; err == nil {
		err = e
	}
	return err
}

func (c *exactConversion) reread(ctx context.Context, to *formats.Format, schema *store.Schema, sum store.Summary) (err error) {
	l, err := formats.Locate(c.staged)
	if err != nil {
		return err
	}
	view := formats.FullView(c.jobs)
	view.Fresh, view.Kind, view.Sidecar = true, c.kind, c.unheld
	view.HideRowIDs = func(set *store.Set) bool {
		return slices.ContainsFunc(schema.Sets, func(s store.Set) bool { return s.File == set.File && s.Name == set.Name && !s.RowIDs })
	}
	r, err := to.Records.Open(ctx, l, view)
	if err != nil {
		return err
	}
	defer func() {
		if e := r.Close(); err == nil {
			err = e
		}
	}()
	if what := schemaDifference(schema, r.Schema(), to.Text); what != "" {
		return c.verifyError(to, schema, what)
	}
	seen := make([]int64, len(schema.Sets))
	for b, err := range r.Batches(ctx) {
		if err != nil {
			return err
		}
		if err := countRows(seen, b); err != nil {
			return err
		}
		if c.only {
			c.notify.Add(c.source.Rel, b.Size())
		}
		b.Release()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := sameCounts(r, seen); err != nil {
		return err
	}
	if what := summaryDifference(schema, sum, r.Summary()); what != "" {
		return c.verifyError(to, schema, what)
	}
	return nil
}

// verifyError returns the error of a target that differs from its source: a bug, unless a
// sidecar can have done it.
func (c *exactConversion) verifyError(to *formats.Format, schema *store.Schema, what string) error {
	hint := bugHint
	if d := c.source.Detected; len(d) > 0 && c.sidecarAdds(d[0].Format, schema) { // joined sessions have no source of their own
		hint = sidecarHint
	}
	return &formats.Error{Format: to.Name, Op: "verify", Err: errors.New(what), Hint: hint}
}

// refusePlanted returns an error if text whose origin is no client's format
// restores to a store that a client would open, and its schema runs SQL: text
// can be edited. With --to the store is created.
func (c *exactConversion) refusePlanted(ctx context.Context, from, to *formats.Format) error {
	if c.opts.To != "" || !from.Text || to.Text {
		return nil
	}
	l, err := formats.Locate(c.staged)
	if err != nil {
		return err
	}
	found, err := c.reg.Detect(ctx, l)
	if err != nil || len(found) == 0 || found[0].Format == to || found[0].Format.Check == nil {
		return err
	}
	var mu sync.Mutex
	what := ""
	q := &rule.Pass{Layers: rule.Container, Report: func(f rule.Finding) {
		mu.Lock()
		defer mu.Unlock()
		if f.Rule == "RH119" {
			what = f.Text()
		}
	}}
	of := found[0].Format
	if err := of.Check(ctx, l, formats.View{Jobs: c.jobs, OnNotice: func(string) {}}, q); err != nil || what == "" {
		return err
	}
	return &formats.Error{Format: from.Name, At: c.source.Loc.Path, Err: fmt.Errorf("restores to a store of %s whose schema has %s, which no version of this client creates", of.Name, what),
		Hint: "use a trusted copy of the text; to inspect this one, pass --to " + to.Name + " and do not open the result with the client"}
}

// schemaDifference describes the first difference, or returns "". Text states
// its origin; a database cannot.
func schemaDifference(want, got *store.Schema, origin bool) string {
	if origin && want.Origin != got.Origin {
		return fmt.Sprintf("origin %q written, %q read back", want.Origin, got.Origin)
	}
	if len(want.Databases) != len(got.Databases) {
		return fmt.Sprintf("%d databases written, %d read back", len(want.Databases), len(got.Databases))
	}
	for i, w := range want.Databases {
		if what := databaseDifference(w, got.Databases[i]); what != "" {
			return what
		}
	}
	if len(want.Sets) != len(got.Sets) {
		return fmt.Sprintf("%d tables and files written, %d read back", len(want.Sets), len(got.Sets))
	}
	for i, w := range want.Sets {
		g := got.Sets[i]
		if w.File != g.File || w.Name != g.Name || w.Kind != g.Kind || w.RowIDs != g.RowIDs || !slices.Equal(w.Columns, g.Columns) {
			return fmt.Sprintf("%s: its description differs when read back", setName(w))
		}
	}
	return ""
}

func databaseDifference(want, got store.Database) string {
	name := want.Path
	if name != "" {
		name += ": "
	}
	if want.Path != got.Path {
		return fmt.Sprintf("%sread back as database %q", name, got.Path)
	}
	if want.Pragmas != got.Pragmas {
		return fmt.Sprintf("%ssettings %+v written, %+v read back", name, want.Pragmas, got.Pragmas)
	}
	for i, w := range want.Objects {
		if i >= len(got.Objects) {
			return fmt.Sprintf("%s%s %s not read back", name, w.Type, w.Name)
		}
		if w != got.Objects[i] {
			return fmt.Sprintf("%s%s %s differs when read back", name, w.Type, w.Name)
		}
	}
	if n := len(got.Objects) - len(want.Objects); n > 0 {
		return fmt.Sprintf("%s%d more objects read back than written", name, n)
	}
	return ""
}

// summaryDifference describes the first set that differs, or returns "".
func summaryDifference(schema *store.Schema, want, got store.Summary) string {
	for i, set := range schema.Sets {
		w, g := want[i], got[i]
		switch {
		case w.Rows != g.Rows:
			return fmt.Sprintf("%s: %d rows written, %d read back", setName(set), w.Rows, g.Rows)
		case w != g:
			return fmt.Sprintf("%s: the content of its %d rows differs when read back", setName(set), w.Rows)
		}
	}
	return ""
}

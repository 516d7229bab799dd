package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rehome/formats"
	"rehome/formats/internal/secret"
	"rehome/formats/internal/sqliteddl"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/tally"
	"rehome/formats/store"
)

// keepOpen is how many databases stay open between reading their schemas and
// scanning them. Of larger stores each is opened a second time, and must not
// have changed its schema meanwhile.
const keepOpen = 32

// reader reads a layout.
type reader struct {
	layout  layout
	known   *sqlitefile.Known
	view    formats.View
	schema  *store.Schema
	tables  [][]sqlitefile.Table // by database
	open    []*sqlitefile.DB     // by database; nil where it is not open
	summary store.Summary
	part    *Part         // nil: all of it
	was     []fs.FileInfo // of plain files that must not change, see OpenPlain
}

// Open reads the schemas of a store's databases.
func (s Shape) Open(ctx context.Context, at *formats.Location, v formats.View) (store.Reader, error) {
	l, err := s.layout(at)
	if err != nil {
		return nil, err
	}
	if err := l.settle(v); err != nil {
		return nil, err
	}
	var part *Part
	looked := slices.Clone(l.databases)
	var marked []stamp
	if len(v.Sessions) > 0 && s.Part != nil {
		marked = stamps(looked)
		if part, err = s.Part(ctx, at, v); err != nil {
			return nil, err
		}
		l.wanted(part)
	}
	r := &reader{part: part, layout: l, known: s.Known, view: v, schema: &store.Schema{Origin: l.origin}, open: make([]*sqlitefile.DB, len(l.databases))}
	for i, part := range l.databases {
		db, err := r.openDB(ctx, i)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		base := store.Database{Path: part.path, Pragmas: db.Pragmas(), Objects: db.Objects()}
		if err := r.vet(part.file, base); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.schema.Databases = append(r.schema.Databases, base)
		r.tables = append(r.tables, db.Tables())
		for _, t := range db.Tables() {
			r.schema.Sets = append(r.schema.Sets, setOf(part.path, t, v))
		}
		if len(l.databases) > keepOpen {
			if err := r.closeDB(i); err != nil {
				return nil, errors.Join(err, r.Close())
			}
		}
	}
	if part != nil && !slices.Equal(marked, stamps(looked)) {
		return nil, errors.Join(formats.Changed("", at.Path), r.Close())
	}
	for _, part := range l.plain {
		r.schema.Sets = append(r.schema.Sets, plainSet(part))
	}
	return r, nil
}

// OpenPlain reads a store of plain files, by their slash paths below a folder. Close
// reports those that changed.
func OpenPlain(format, dir string, paths []string, v formats.View) (store.Reader, error) {
	l := layout{origin: format}
	for _, p := range paths {
		l.plain = append(l.plain, part{path: p, file: filepath.Join(dir, filepath.FromSlash(p))})
	}
	if err := l.settle(v); err != nil {
		return nil, err
	}
	r := &reader{layout: l, view: v, schema: &store.Schema{Origin: format}}
	for _, p := range l.plain {
		info, err := os.Stat(p.file)
		if err != nil {
			return nil, &formats.Error{Format: format, At: p.file, Err: formats.Cause(err)}
		}
		r.was = append(r.was, info)
		r.schema.Sets = append(r.schema.Sets, plainSet(p))
	}
	return r, nil
}

func setOf(path string, t sqlitefile.Table, v formats.View) store.Set {
	set := store.Set{File: path, Name: t.Name, Kind: store.Table, Columns: t.Columns, RowIDs: t.RowIDs}
	set.RowIDs = set.RowIDs && (v.HideRowIDs == nil || !v.HideRowIDs(&set))
	return set
}

func plainSet(p part) store.Set {
	return store.Set{File: p.path, Kind: store.Plain, Columns: []string{"bytes"}}
}

// stamp tells a file from what it was before.
type stamp struct {
	size int64
	at   time.Time
}

// stamps are those of the databases and their logs. A part is marked by row ids
// in one look at them and read in another: a row that its owner writes again in
// between can have another id.
func stamps(databases []part) []stamp {
	var out []stamp
	for _, d := range databases {
		for _, side := range []string{"", "-wal"} {
			var s stamp
			if info, err := os.Stat(d.file + side); err == nil {
				s = stamp{info.Size(), info.ModTime()}
			}
			out = append(out, s)
		}
	}
	return out
}

func (r *reader) openDB(ctx context.Context, i int) (*sqlitefile.DB, error) {
	if r.open[i] != nil {
		return r.open[i], nil
	}
	db, err := sqlitefile.Open(ctx, r.layout.databases[i].file, sqlitefile.Options{Live: r.view.Live, OnNotice: r.view.OnNotice, Verbose: r.view.Verbose, Known: r.known, RequireRestorable: r.view.RequireRestorable})
	r.open[i] = db
	return db, err
}

// vet refuses a schema that could not be built again.
func (r *reader) vet(file string, d store.Database) error {
	if !r.view.RequireRestorable {
		return nil
	}
	anybody := r.layout.origin == AnyDatabase
	_, err := sqliteddl.Vet(d, r.layout.code)
	switch {
	case err != nil && anybody:
		return &formats.Error{At: file, Err: err, Hint: "copy the file itself; it could not be restored from text"}
	case err != nil:
		return &formats.Error{At: file, Err: err, Hint: "it could not be restored from text; use --from " + AnyDatabase + " for a single database"}
	}
	return nil
}

func (r *reader) closeDB(i int) error {
	db := r.open[i]
	if db == nil {
		return nil
	}
	r.open[i] = nil
	return db.Close()
}

func (r *reader) Schema() *store.Schema { return r.schema }

func (r *reader) Summary() store.Summary { return r.summary }

// Close closes the databases and reports those that changed underneath.
func (r *reader) Close() error {
	var errs []error
	for i, was := range r.was {
		p := r.layout.plain[i]
		if now, err := os.Stat(p.file); err != nil || now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime()) {
			errs = append(errs, formats.Changed(r.layout.origin, p.file))
		}
	}
	r.was = nil
	for i := range r.open {
		errs = append(errs, r.closeDB(i))
	}
	return errors.Join(errs...)
}

// Batches yields the tables of each database in order, then the plain files.
func (r *reader) Batches(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		r.summary = tally.Scan(len(r.schema.Sets), yield, func(t *tally.Tally) error {
			s := &scan{r: r, tally: t, filter: secret.NewFilter(r.schema, r.view)}
			return s.run(ctx)
		})
	}
}

// scan is one pass over the store.
type scan struct {
	r      *reader
	filter *secret.Filter
	tally  *tally.Tally
}

func (s *scan) run(ctx context.Context) error {
	set := 0
	for i := range s.r.layout.databases {
		if err := s.database(ctx, i, &set); err != nil {
			return err
		}
	}
	for _, part := range s.r.layout.plain {
		if err := readPlain(ctx, part, set, s.tally.Give); err != nil {
			return err
		}
		set++
	}
	return nil
}

func (s *scan) database(ctx context.Context, i int, set *int) error {
	db, err := s.r.openDB(ctx, i)
	if err != nil {
		return err
	}
	if !slices.Equal(db.Objects(), s.r.schema.Databases[i].Objects) {
		return &formats.Error{At: s.r.layout.databases[i].file, Err: fmt.Errorf("%w: its schema changed while it was read", formats.ErrBusy), Hint: "quit the client that is writing to it and try again"}
	}
	for _, t := range s.r.tables[i] {
		for b, err := range s.rows(ctx, db, *set, t) {
			if err != nil {
				return err
			}
			if t.RowIDs && !s.r.schema.Sets[*set].RowIDs {
				b.HideRowIDs()
			}
			if err := s.tally.Give(s.filter.Apply(b)); err != nil {
				return err
			}
		}
		if err := s.tally.Give(s.filter.Flush(*set)); err != nil {
			return err
		}
		*set++
	}
	if len(s.r.open) > keepOpen {
		return s.r.closeDB(i)
	}
	return nil
}

// rows are those of a table that are wanted.
func (s *scan) rows(ctx context.Context, db *sqlitefile.DB, n int, t sqlitefile.Table) iter.Seq2[*store.Batch, error] {
	p, set := s.r.part, &s.r.schema.Sets[n]
	if p == nil {
		return db.Scan(ctx, n, t)
	}
	if ids, ok := p.Rows(set); ok && t.RowIDs {
		return p.of(set, db.Rows(ctx, n, t, ids), func(*store.Batch, int) bool { return true })
	}
	return p.of(set, db.Scan(ctx, n, t), func(b *store.Batch, i int) bool { return p.Row(set, b, i) })
}

// of is what batches have of the part.
func (p *Part) of(set *store.Set, batches iter.Seq2[*store.Batch, error], wanted func(*store.Batch, int) bool) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		for b, err := range batches {
			if err != nil {
				yield(nil, err)
				return
			}
			out := store.NewBatch(b.Set, b.Width())
			for i := range b.Rows() {
				if wanted(b, i) {
					p.add(out, set, b, i)
				}
			}
			b.Release()
			if !yield(out, nil) {
				return
			}
		}
	}
}

func (p *Part) add(out *store.Batch, set *store.Set, b *store.Batch, i int) {
	out.Row(b.RowID(i))
	for c := range b.Width() {
		cell := b.Cell(i, c)
		if value, ok := p.Cut(set, b, i, c); ok {
			out.AddBytes(cell.Class, value)
		} else {
			out.Add(cell)
		}
	}
}

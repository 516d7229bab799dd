package sqlitestore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rehome/formats"
	"rehome/formats/internal/sqliteddl"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/store"
)

// writer builds a store file by file, in the order of the schema's sets.
type writer struct {
	path   string
	schema *store.Schema
	code   sqliteddl.Allowed
	bases  [][]sqlitefile.TableSet // by database
	of     []int                   // database of each set, -1 for a plain file
	at     int                     // database being written, -1 before the first
	db     *sqlitefile.Writer
	set    int // plain file being written
	file   *os.File
	closed fs.FileMode // permissions that folders and files lack
}

// Create begins a store at b.Path: a single file where the schema is one
// database without a path, else a folder.
func (s Shape) Create(_ context.Context, b formats.Build) (store.Writer, error) {
	if err := s.fits(b.Schema); err != nil {
		return nil, err
	}
	w := &writer{path: b.Path, schema: b.Schema, code: s.allowed(), at: -1, set: -1, bases: make([][]sqlitefile.TableSet, len(b.Schema.Databases))}
	index := map[string]int{}
	for i, d := range b.Schema.Databases {
		index[d.Path] = i
	}
	for i, set := range b.Schema.Sets {
		if set.Kind != store.Table {
			w.of = append(w.of, -1)
			continue
		}
		d, ok := index[set.File]
		if !ok {
			return nil, errors.New("table without a database: " + set.File)
		}
		w.of = append(w.of, d)
		w.bases[d] = append(w.bases[d], sqlitefile.TableSet{Set: i, Table: sqlitefile.Table{Name: set.Name, Columns: set.Columns, RowIDs: set.RowIDs}})
	}
	if single(b.Schema) {
		return w, nil
	}
	return w, os.Mkdir(b.Path, 0o777)
}

// CreatePlain begins a store of plain files, which only their owner may read.
func CreatePlain(b formats.Build) (store.Writer, error) {
	w := &writer{path: b.Path, schema: b.Schema, at: -1, set: -1, of: slices.Repeat([]int{-1}, len(b.Schema.Sets)), closed: 0o077}
	if single(w.schema) {
		return w, nil
	}
	return w, os.Mkdir(b.Path, 0o777&^w.closed)
}

// single reports whether a store is one file: a database, or a plain file.
func single(s *store.Schema) bool {
	if len(s.Databases) == 0 {
		return len(s.Sets) == 1 && s.Sets[0].File == ""
	}
	return len(s.Databases) == 1 && s.Databases[0].Path == ""
}

// place is where a file of the store lies, below its folder.
func (w *writer) place(rel string) (string, error) {
	if single(w.schema) && rel == "" {
		return w.path, nil
	}
	local, err := filepath.Localize(rel)
	if err != nil {
		return "", &formats.Error{At: rel, Err: errors.New("not a valid path inside a store")}
	}
	name := filepath.Join(w.path, local)
	return name, os.MkdirAll(filepath.Dir(name), 0o777&^w.closed)
}

// Put writes the batch to its database or file.
func (w *writer) Put(ctx context.Context, b *store.Batch) error {
	if d := w.of[b.Set]; d >= 0 {
		if err := w.reach(ctx, d); err != nil {
			b.Release()
			return err
		}
		return w.db.Put(ctx, b)
	}
	defer b.Release()
	if err := w.plain(ctx, b.Set); err != nil {
		return err
	}
	if len(w.bases) > 0 && b.Rows() > 0 && b.RowID(0) == 0 && sqlitefile.IsDatabase(b.Cell(0, 0).Bytes()) {
		return &formats.Error{At: w.schema.Sets[b.Set].File, Err: errors.New("database listed as a plain file"), Hint: "check where the source comes from; no store of this format has one"}
	}
	for i := range b.Rows() {
		if _, err := w.file.Write(b.Cell(i, 0).Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// reach finishes the databases before the given one. One without a row is
// built all the same.
func (w *writer) reach(ctx context.Context, d int) error {
	for w.at < d {
		if err := w.leave(ctx); err != nil {
			return err
		}
		w.at++
		base := w.schema.Databases[w.at]
		name, err := w.place(base.Path)
		if err != nil {
			return err
		}
		create := sqlitefile.Create
		switch w.code {
		case sqliteddl.AnyCode:
			create = sqlitefile.CreateWithCode
		case sqliteddl.Cascades:
			create = sqlitefile.CreateCascading
		}
		if w.db, err = create(ctx, name, base, w.bases[w.at]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) leave(ctx context.Context) error {
	if w.db == nil {
		return nil
	}
	err := errors.Join(w.db.Finish(ctx), w.db.Close())
	w.db = nil
	return err
}

// plain moves on to a plain file; those passed on the way are empty.
func (w *writer) plain(ctx context.Context, set int) error {
	if err := errors.Join(w.reach(ctx, len(w.bases)-1), w.leave(ctx)); err != nil {
		return err
	}
	for ; w.set < set; w.set++ {
		if w.of[w.set+1] >= 0 {
			continue
		}
		if err := w.shut(); err != nil {
			return err
		}
		name, err := w.place(w.schema.Sets[w.set+1].File)
		if err != nil {
			return err
		}
		if w.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666&^w.closed); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) shut() error {
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file = nil
	return err
}

// Finish completes the last file.
func (w *writer) Finish(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.plain(ctx, len(w.of)-1); err != nil {
		return err
	}
	return w.shut()
}

// Close lets go of everything, finished or not.
func (w *writer) Close() error {
	err := w.shut()
	if w.db != nil {
		err = errors.Join(err, w.db.Close())
		w.db = nil
	}
	return err
}

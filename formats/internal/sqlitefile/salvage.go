package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"

	"rehome/formats"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
)

// Salvaged is what came of a database.
type Salvaged struct {
	Rows int64
	Lost []string // what could not be read, by table and page; the first maxLost
	More int      // how much else
}

// maxLost is how many losses are named.
const maxLost = 50

func (s *Salvaged) lose(table string, page uint32, why error) {
	if len(s.Lost) == maxLost {
		s.More++
		return
	}
	where := ""
	if page > 0 {
		where = fmt.Sprintf(" on page %d", page)
	}
	s.Lost = append(s.Lost, fmt.Sprintf("rows of table %s%s: %v", strconv.QuoteToGraphic(table), where, why))
}

// maxMissing is how much of a database may be missing at its end.
const maxMissing = 1 << 30

// SetSize makes a database as long as its header says. What is missing becomes zeros,
// which are not rows; undo removes them. longer reports that it was longer. A database
// with a log is left alone.
func SetSize(path string) (longer bool, undo func() error, err error) {
	undo = func() error { return nil }
	if info, err := os.Lstat(path + "-wal"); err == nil && info.Size() > 0 {
		return false, undo, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, undo, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	head := make([]byte, sqlitepages.HeaderBytes)
	if _, err := io.ReadFull(f, head); err != nil {
		return false, undo, nil // not a database
	}
	h := sqlitepages.Header(head)
	pages, ok := h.Pages()
	info, err := f.Stat()
	if err != nil || !ok || !IsDatabase(head) || !h.Sane() {
		return false, undo, err
	}
	was, want := info.Size(), int64(pages)*int64(h.Page())
	if want == was || want-was > maxMissing {
		return false, undo, nil
	}
	if want > was {
		undo = func() error { return os.Truncate(path, was) }
	}
	return want < was, undo, f.Truncate(want)
}

// Rebuild replaces a database by a new one with the same schema and all rows that can
// be read from its pages. code allows schemas that run SQL. The file keeps its mode
// and time; its log is folded into it.
func Rebuild(ctx context.Context, path string, code bool) (s *Salvaged, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	db, err := Open(ctx, path, Options{})
	if err != nil {
		return nil, err
	}
	m, err := OpenImage(ctx, path, Options{})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	fresh := path + formats.StagingMark + "new"
	s, err = salvage(ctx, db, m, fresh, code)
	if err = errors.Join(err, m.Close(), db.Close()); err != nil {
		_ = os.Remove(fresh) // the error says more
		return nil, err
	}
	for _, side := range SideFiles() {
		if err := os.Remove(path + side); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return s, errors.Join(os.Chmod(fresh, info.Mode().Perm()), os.Chtimes(fresh, info.ModTime(), info.ModTime()), os.Rename(fresh, path))
}

func salvage(ctx context.Context, db *DB, m *Image, to string, code bool) (s *Salvaged, err error) {
	list, err := m.schema(sqlitepages.NewWalk(ctx, m.File, func(sqlitepages.Flaw) {}))
	if err != nil {
		return nil, err
	}
	roots := map[string]uint32{}
	for _, o := range list {
		if o.Type == "table" {
			roots[o.Name] = o.Root
		}
	}
	var sets []TableSet
	for i, t := range db.Tables() {
		sets = append(sets, TableSet{i, t})
	}
	w, err := create(ctx, to, store.Database{Pragmas: db.Pragmas(), Objects: db.Objects()}, sets, code)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	s = &Salvaged{}
	table := ""
	pages := sqlitepages.NewSalvage(ctx, m.File, func(page uint32, why error) { s.lose(table, page, why) })
	for _, set := range sets {
		table = set.Table.Name
		if !set.Table.RowIDs {
			err = s.copy(ctx, w, set, db.Scan(ctx, set.Set, set.Table))
		} else {
			err = s.table(ctx, db, w, set, pages, roots[table])
		}
		if err != nil {
			return nil, err
		}
	}
	return s, w.Finish(ctx)
}

// table copies the rows of a table from its pages. Rows that only SQLite can complete,
// such as those from before a column was added, are copied at the end.
func (s *Salvaged) table(ctx context.Context, db *DB, w *Writer, set TableSet, pages *sqlitepages.Salvage, root uint32) error {
	width := len(set.Table.Columns)
	var odd []int64
	b := store.NewBatch(set.Set, width)
	err := pages.Table(root, func(r *sqlitepages.Row) error {
		if shape := db.shapes[set.Table.Name]; shape == nil || r.Long || r.Len() != len(shape.columns) {
			odd = append(odd, r.RowID)
			return nil
		}
		b.Row(r.RowID)
		if err := db.AddRow(b, set.Table.Name, r); err != nil {
			return err
		}
		s.Rows++
		if !b.Full() {
			return nil
		}
		full := b
		b = store.NewBatch(set.Set, width)
		return w.Put(ctx, full)
	})
	if err != nil {
		b.Release()
		return err
	}
	if err := w.Put(ctx, b); err != nil || len(odd) == 0 {
		return err
	}
	slices.Sort(odd)
	return s.copy(ctx, w, set, db.Rows(ctx, set.Set, set.Table, odd))
}

// copy copies rows as far as SQLite reads them.
func (s *Salvaged) copy(ctx context.Context, w *Writer, set TableSet, rows iter.Seq2[*store.Batch, error]) error {
	for b, err := range rows {
		if err != nil && (ctx.Err() != nil || !damaged(err)) {
			return err
		}
		if err != nil {
			s.lose(set.Table.Name, 0, err)
			return nil
		}
		s.Rows += int64(b.Rows())
		if err := w.Put(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

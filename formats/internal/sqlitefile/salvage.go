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
	"rehome/formats/internal/sqliteddl"
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
	allowed := sqliteddl.NoCode
	if code {
		allowed = sqliteddl.AnyCode
	}
	w, err := create(ctx, to, store.Database{Pragmas: db.Pragmas(), Objects: db.Objects()}, sets, allowed)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	s = &Salvaged{}
	v := &salvager{Salvaged: s, ctx: ctx, db: db, w: w}
	v.pages = sqlitepages.NewSalvage(ctx, m.File, func(page uint32, why error) { s.lose(v.table, page, why) })
	if err := v.others(list, sets); err != nil {
		return nil, err
	}
	for _, set := range sets {
		v.table = set.Table.Name
		if !set.Table.RowIDs {
			err = s.copy(ctx, w, set, db.Scan(ctx, set.Set, set.Table))
		} else {
			err = v.rows(set, roots[v.table])
		}
		if err != nil {
			return nil, err
		}
	}
	if err := v.strays(); err != nil {
		return nil, err
	}
	return s, w.Finish(ctx)
}

// salvager copies the tables of a database.
type salvager struct {
	*Salvaged
	ctx   context.Context
	db    *DB
	w     *Writer
	pages *sqlitepages.Salvage
	table string // that is read
	cut   []cutTable
}

// cutTable is a table of which not all pages could be found.
type cutTable struct {
	set   TableSet
	known sqlitepages.Known
}

// others marks the pages of the schema, and of tables that are not copied.
func (v *salvager) others(list []Object, sets []TableSet) error {
	lost := v.pages.Lost
	defer func() { v.pages.Lost = lost }()
	v.pages.Lost = func(uint32, error) {}
	roots := []uint32{1}
	for _, o := range list {
		if o.Type == "table" && o.Root > 0 && !slices.ContainsFunc(sets, func(s TableSet) bool { return s.Table.Name == o.Name }) {
			roots = append(roots, o.Root)
		}
	}
	for _, root := range roots {
		if _, _, err := v.pages.Table(root, func(*sqlitepages.Row) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// rows copies the rows of a table from its pages. Rows that only SQLite can complete,
// such as those from before a column was added, are copied at the end.
func (v *salvager) rows(set TableSet, root uint32) error {
	var known sqlitepages.Known
	cut := false
	odd, err := v.take(set, func(take func(*sqlitepages.Row) error) (err error) {
		known, cut, err = v.pages.Table(root, take)
		return err
	})
	if cut {
		v.cut = append(v.cut, cutTable{set, known})
	}
	if err != nil || len(odd) == 0 {
		return err
	}
	slices.Sort(odd)
	return v.complete(set, odd)
}

// strays copies the rows of leaves that no page refers to any more. Only if the list of
// unused pages is sound are these not deleted rows, and only if one table has as many
// columns is it known whose they are.
func (v *salvager) strays() error {
	if len(v.cut) == 0 {
		return nil
	}
	sound, err := v.pages.Unused()
	if err != nil {
		return err
	}
	for i, c := range v.cut {
		v.table = c.set.Table.Name
		width, same := len(c.set.Table.Columns), 0
		for _, o := range v.cut {
			if len(o.set.Table.Columns) == width {
				same++
			}
		}
		if !sound || same > 1 {
			v.lose(v.table, 0, errors.New("those on pages that only the damaged ones refer to"))
			continue
		}
		odd, err := v.take(c.set, func(take func(*sqlitepages.Row) error) error {
			return v.pages.Stray(c.known, width, i == len(v.cut)-1, take)
		})
		if err != nil {
			return err
		}
		for _, id := range odd {
			v.lose(v.table, 0, fmt.Errorf("row id %d: no page refers to it, and it needs its table to be read", id))
		}
	}
	return nil
}

// take copies the rows that each gives, but those that only SQLite can complete.
func (v *salvager) take(set TableSet, each func(func(*sqlitepages.Row) error) error) (odd []int64, err error) {
	width := len(set.Table.Columns)
	shape := v.db.shapes[set.Table.Name]
	b := store.NewBatch(set.Set, width)
	err = each(func(r *sqlitepages.Row) error {
		if shape == nil || r.Long || r.Len() != len(shape.columns) {
			odd = append(odd, r.RowID)
			return nil
		}
		b.Row(r.RowID)
		if err := v.db.AddRow(b, set.Table.Name, r); err != nil {
			return err
		}
		v.Rows++
		if !b.Full() {
			return nil
		}
		full := b
		b = store.NewBatch(set.Set, width)
		return v.w.Put(v.ctx, full)
	})
	if err != nil {
		b.Release()
		return nil, err
	}
	return odd, v.w.Put(v.ctx, b)
}

// complete copies rows that SQLite reads. Of one that it does not find or read, the
// others are still copied.
func (v *salvager) complete(set TableSet, ids []int64) error {
	for size := len(ids); len(ids) > 0; {
		size = min(size, len(ids))
		var failed error
		for b, err := range v.db.Rows(v.ctx, set.Set, set.Table, ids[:size]) {
			if err != nil {
				failed = err
				break
			}
			n := b.Rows()
			if err := v.w.Put(v.ctx, b); err != nil {
				return err
			}
			v.Rows += int64(n)
			ids = ids[n:]
			size -= n
		}
		switch {
		case failed == nil:
			size = max(1, 2*size, len(ids)/16)
		case v.ctx.Err() != nil || !damaged(failed) && !errors.Is(failed, formats.ErrBusy):
			return failed
		case size == 0: // after the last of these rows
			size = 1
		case size > 1:
			size = (size + 1) / 2
		default:
			v.lose(set.Table.Name, 0, fmt.Errorf("row id %d: the table's tree does not lead to it", ids[0]))
			ids, size = ids[1:], 1
		}
	}
	return nil
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

package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"rehome/formats/internal/sqliteddl"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
)

// Describe opens the same database with SQLite as it was when its log was last
// written back, to know what its tables are. It refuses one whose schema or pragmas
// changed since, and all whose rows AddRow cannot read.
func (s *Snapshot) Describe(ctx context.Context, o Options) (*DB, error) {
	if o.Known == nil {
		o.Known = new(Known)
	}
	db := &DB{source: s.source, restorable: o.RequireRestorable}
	if err := db.begin(ctx, s.real, "mode=ro&immutable=1", o.Known); err != nil {
		return nil, err
	}
	if err := s.agrees(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (s *Snapshot) agrees(ctx context.Context, db *DB) error {
	list, err := s.Schema(ctx)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(o Object) bool { return o.SQL == "" })
	if !slices.EqualFunc(list, db.objects, func(a Object, b store.Object) bool {
		return a.Type == b.Type && a.Name == b.Name && a.Table == b.Table && a.SQL == b.SQL
	}) || s.Pragmas() != db.pragmas {
		return fmt.Errorf("%w: its schema is in its log", ErrNoSnapshot)
	}
	for _, t := range db.tables {
		if shape := db.shapes[t.Name]; shape.computed || !shape.hasRow || !s.UTF8() {
			return fmt.Errorf("%w: table %q is not an ordinary one", ErrNoSnapshot, t.Name)
		}
	}
	return nil
}

// AddRow adds the cells of a row to a batch, as SQLite would return them.
func (db *DB) AddRow(b *store.Batch, table string, r *sqlitepages.Row) error {
	shape := db.shapes[table]
	if shape == nil || r.Long || r.Len() != len(shape.columns) {
		return fmt.Errorf("%w: row %d of table %q takes SQLite", ErrNoSnapshot, r.RowID, table) // as after ADD COLUMN
	}
	for i := range shape.columns {
		c := r.Cell(i)
		switch {
		case i == shape.key:
			b.AddInt(r.RowID)
		case c.Class == store.Int && shape.columns[i].affinity == sqliteddl.RealAffinity:
			b.AddReal(float64(c.Int())) // whole numbers are stored as integers
		default:
			b.Add(c)
		}
	}
	return nil
}

// ScanRows yields the rows that each returns, ascending, as Scan yields those of a
// table.
func (db *DB) ScanRows(ctx context.Context, set int, t Table, each func(func(*sqlitepages.Row) error) error) iter.Seq2[*store.Batch, error] {
	return db.walk(ctx, set, t, func(db *DB, s *scan, t Table) error {
		return each(func(r *sqlitepages.Row) error {
			if err := s.begin(r.RowID); err != nil {
				return err
			}
			if err := db.AddRow(s.batch, t.Name, r); err != nil {
				return s.fail(err)
			}
			return s.end(s.watch != nil)
		})
	})
}

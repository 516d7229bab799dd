package rowclient

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// Database is a database that is read by its row ids. It is never changed.
type Database struct {
	db   *sqlitefile.DB
	path string
}

// OpenDatabase opens a database.
func OpenDatabase(ctx context.Context, path string, v formats.View, known *sqlitefile.Known) (*Database, error) {
	db, err := sqlitefile.Open(ctx, path, sqlitefile.Options{Live: v.Live, OnNotice: v.OnNotice, Verbose: v.Verbose, Known: known})
	if err != nil {
		return nil, err
	}
	return &Database{db, path}, nil
}

// Path is the path of the database.
func (d *Database) Path() string { return d.path }

// Close closes it, and reports that it changed while it was read.
func (d *Database) Close() error { return d.db.Close() }

// Addr is the address of a row.
func (d *Database) Addr(table string, row int64) store.Addr {
	return store.Addr{Set: table, RowID: row, HasID: true}
}

// table is a table with some of its columns, and where in its rows these are; -1: nowhere.
func (d *Database) table(name string, columns []string) (t sqlitefile.Table, at []int, ok bool) {
	for _, one := range d.db.Tables() {
		if !strings.EqualFold(one.Name, name) || !one.RowIDs {
			continue
		}
		t = one
		t.Columns = nil
		for _, c := range columns {
			i := store.FindColumn(one.Columns, c)
			if i >= 0 {
				t.Columns = append(t.Columns, one.Columns[i])
				i = len(t.Columns) - 1
			}
			at = append(at, i)
		}
		return t, at, len(t.Columns) > 0
	}
	return t, nil, false
}

// All calls f with some columns of all rows of a table; one that it lacks is NULL. The cells are
// valid until f returns. A table that is not there has no rows.
func (d *Database) All(ctx context.Context, table string, columns []string, f func(row int64, cells []store.Cell)) error {
	return d.rows(ctx, table, columns, nil, f)
}

// Data returns a column of some rows.
func (d *Database) Data(ctx context.Context, table, column string, rows []int64) (map[int64][]byte, error) {
	out := map[int64][]byte{}
	if len(rows) == 0 {
		return out, nil
	}
	rows = slices.Clone(rows)
	slices.Sort(rows)
	err := d.rows(ctx, table, []string{column}, slices.Compact(rows), func(row int64, cells []store.Cell) { out[row] = bytes.Clone(cells[0].Bytes()) })
	return out, err
}

func (d *Database) rows(ctx context.Context, table string, columns []string, ids []int64, f func(int64, []store.Cell)) error {
	t, at, ok := d.table(table, columns)
	if !ok {
		return nil
	}
	batches := d.db.Scan(ctx, 0, t)
	if ids != nil {
		batches = d.db.Rows(ctx, 0, t, ids)
	}
	cells := make([]store.Cell, len(columns))
	for b, err := range batches {
		if err != nil {
			return err
		}
		for i := range b.Rows() {
			for n, col := range at {
				if cells[n] = (store.Cell{}); col >= 0 {
					cells[n] = b.Cell(i, col)
				}
			}
			f(b.RowID(i), cells)
		}
		b.Release()
	}
	return nil
}

// Text returns a cell that is text, or a number.
func Text(c store.Cell) string {
	switch c.Class {
	case store.Text:
		return string(c.Bytes())
	case store.Int:
		return strconv.FormatInt(c.Int(), 10)
	}
	return ""
}

// Value returns a cell as JSON, nil for NULL. isJSON: a text can be JSON already.
func Value(c store.Cell, isJSON bool) []byte {
	switch c.Class {
	case store.Int:
		return strconv.AppendInt(nil, c.Int(), 10)
	case store.Real:
		if n := strconv.AppendFloat(nil, c.Real(), 'g', -1, 64); rawjson.Valid(n) {
			return n
		}
		return []byte("null") // no number
	case store.Blob:
		return fmt.Appendf(nil, "%q", base64.StdEncoding.EncodeToString(c.Bytes()))
	case store.Text:
		if isJSON {
			if line, _, err := rawjson.Line(bytes.TrimSpace(c.Bytes())); err == nil {
				return bytes.Clone(line)
			}
		}
		return session.AppendString(nil, string(c.Bytes()))
	}
	return nil
}

// HasAll reports whether a database has some tables.
func HasAll(have, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool {
		return !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, w) })
	})
}

// Shard is the shard of a row in an archive: the rows of one session, or up to 65,536 others.
func Shard(set *store.Set, r store.Record) formats.Shard {
	for _, name := range []string{"session_id", "aggregate_id"} {
		if i := store.FindColumn(set.Columns, name); i >= 0 && i < r.Width() && r.Cell(i).Class == store.Text {
			return formats.Shard{Name: string(r.Cell(i).Bytes())}
		}
	}
	if n := uint64(r.RowID()) >> 16; set.RowIDs && n > 0 {
		return formats.Shard{Name: fmt.Sprintf("r-%04x", n)}
	}
	return formats.Shard{}
}

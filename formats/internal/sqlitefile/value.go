package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"rehome/formats/store"
)

// Value is what stands beside a key in a table of two columns, nil if there is
// no such row. Opening a database and asking takes SQLite most of a
// millisecond; of the thousands of small ones that a list of sessions is made
// of, a value is mostly read without it.
func Value(ctx context.Context, path, table, key string, o Options) ([]byte, error) {
	if v, ok := glimpse(path, table, key); ok {
		return v, nil
	}
	db, err := Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	v, err := db.value(ctx, table, key)
	return v, errors.Join(err, db.Close())
}

func (db *DB) value(ctx context.Context, table, key string) ([]byte, error) {
	t, err := db.table(table)
	if err != nil || len(t.Columns) != 2 {
		return nil, err
	}
	k, err := db.Keyed(ctx, table, t.Columns[0], t.Columns[1])
	if err != nil {
		return nil, err
	}
	defer k.Close()
	f, ok, err := k.Get(ctx, key, math.MaxInt64)
	if !ok || f.Class == store.Null {
		return nil, err
	}
	if f.Class != store.Text && f.Class != store.Blob {
		return []byte{}, nil
	}
	return f.Bytes, nil
}

// table is the table of that name.
func (db *DB) table(name string) (Table, error) {
	for _, t := range db.tables {
		if t.Name == name {
			return t, nil
		}
	}
	return Table{}, db.blame(context.Background(), "", fmt.Errorf("no such table: %s", name))
}

// Count calls f with each combination of values that some columns have, as
// text, and in how many rows. f is called with a slice that it may keep.
func (db *DB) Count(ctx context.Context, t Table, f func(values []string, n int64)) error {
	type group struct {
		values []string
		n      int64
	}
	groups := map[string]*group{}
	for b, err := range db.Scan(ctx, 0, t) {
		if err != nil {
			return err
		}
		for i := range b.Rows() {
			values, key := make([]string, len(t.Columns)), ""
			for col := range values {
				values[col] = textOf(b.Cell(i, col))
				key += strconv.Quote(values[col])
			}
			if groups[key] == nil {
				groups[key] = &group{values: values}
			}
			groups[key].n++
		}
		b.Release()
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		f(groups[key].values, groups[key].n)
	}
	return nil
}

func textOf(c store.Cell) string {
	switch c.Class {
	case store.Int:
		return strconv.FormatInt(c.Int(), 10)
	case store.Real:
		return strconv.FormatFloat(c.Real(), 'g', 15, 64)
	}
	return string(c.Bytes())
}

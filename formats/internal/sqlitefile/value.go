package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	if err != nil {
		return nil, err
	}
	var value []byte
	for b, err := range db.Scan(ctx, 0, t) {
		if err != nil {
			return nil, err
		}
		for i := range b.Rows() {
			if b.Width() == 2 && value == nil && string(b.Cell(i, 0).Bytes()) == key && b.Cell(i, 1).Class != store.Null {
				value = append([]byte{}, b.Cell(i, 1).Bytes()...)
			}
		}
		b.Release()
	}
	return value, nil
}

// table is the table of that name.
func (db *DB) table(name string) (Table, error) {
	for _, t := range db.tables {
		if t.Name == name {
			return t, nil
		}
	}
	return Table{}, db.blame(context.Background(), "", fmt.Errorf("there is no table %s", name))
}

// Count calls f with each combination of values that some columns have, as
// text, and in how many rows. f is called with a slice that it may keep.
func (db *DB) Count(ctx context.Context, t Table, f func(values []string, n int64)) error {
	if shape := db.shapes[t.Name]; shape == nil {
		return db.blame(ctx, "", fmt.Errorf("there is no table %s", t.Name))
	}
	var texts, names []string
	for _, c := range t.Columns {
		texts, names = append(texts, "coalesce(CAST("+quote(c)+" AS TEXT),'')"), append(names, quote(c))
	}
	rows, err := db.conn.QueryContext(ctx, "SELECT "+strings.Join(texts, ",")+",count(*) FROM main."+quote(t.Name)+" GROUP BY "+strings.Join(names, ","))
	if err != nil {
		return db.blame(ctx, t.Name, err)
	}
	defer rows.Close()
	for rows.Next() {
		values := make([]string, len(texts))
		var n int64
		into := []any{}
		for i := range values {
			into = append(into, &values[i])
		}
		if err := rows.Scan(append(into, &n)...); err != nil {
			return db.blame(ctx, t.Name, err)
		}
		f(values, n)
	}
	return db.blame(ctx, t.Name, rows.Err())
}

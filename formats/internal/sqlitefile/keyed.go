package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"rehome/formats/store"
)

// Keyed reads a table of keys and values by the index of its keys: single
// values, and ranges of keys without touching a value. It may be used from
// several goroutines, one at a time within SQLite.
type Keyed struct {
	db    *DB
	table string

	mu               sync.Mutex
	get, first, span *sql.Stmt
}

// Keyed prepares a table by the names of two of its columns. It is nil where
// the database has no such table.
func (db *DB) Keyed(ctx context.Context, table, key, value string) (*Keyed, error) {
	s := db.shapes[table]
	if s == nil || !slices.Contains(s.Columns, key) || !slices.Contains(s.Columns, value) {
		return nil, nil
	}
	row := "0"
	if s.hasRow {
		row = s.ordinal()
	}
	k, v, from := quote(key), quote(value), " FROM main."+quote(table)
	out := &Keyed{db: db, table: table}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&out.get, "SELECT " + row + ",typeof(" + v + "),octet_length(" + v + "),CASE WHEN octet_length(" + v + ")<=?2 THEN " + v + " END" + from + " WHERE " + k + "=?1"},
		{&out.first, "SELECT " + k + from + " WHERE " + k + ">=?1 AND " + k + "<?2 ORDER BY " + k + " LIMIT 1"},
		{&out.span, "SELECT " + k + from + " WHERE " + k + ">=?1 AND " + k + "<?2 ORDER BY " + k},
	} {
		var err error
		if *p.stmt, err = db.conn.PrepareContext(ctx, p.text); err != nil {
			return nil, errors.Join(db.blame(ctx, table, err), out.Close())
		}
	}
	return out, nil
}

// Close lets go of the statements, not of the database.
func (k *Keyed) Close() error {
	var errs []error
	for _, s := range []*sql.Stmt{k.get, k.first, k.span} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// Found is a value and where it stands.
type Found struct {
	RowID int64
	Class store.Class
	Size  int64
	Bytes []byte // of text and blobs; nil where they are longer than asked for
}

// Get looks a key up. A value of more than most bytes is not read.
func (k *Keyed) Get(ctx context.Context, key string, most int64) (f Found, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return f, false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	// A context that can end costs a goroutine for each look-up.
	rows, err := k.get.QueryContext(context.WithoutCancel(ctx), key, most)
	if err != nil {
		return f, false, k.db.blame(ctx, k.table, err)
	}
	defer rows.Close()
	if !rows.Next() {
		return f, false, k.db.blame(ctx, k.table, rows.Err())
	}
	var class string
	var size sql.NullInt64
	var value any
	if err := rows.Scan(&f.RowID, &class, &size, &value); err != nil {
		return f, false, k.db.blame(ctx, k.table, err)
	}
	f.Class, f.Size = classes(class), size.Int64
	switch v := value.(type) {
	case string:
		f.Bytes = []byte(v)
	case []byte:
		f.Bytes = v
	case int64, float64:
		f.Bytes = fmt.Append(nil, v)
	}
	return f, true, nil
}

func classes(name string) store.Class {
	switch name {
	case "integer":
		return store.Int
	case "real":
		return store.Real
	case "text":
		return store.Text
	case "blob":
		return store.Blob
	}
	return store.Null
}

// First is the first key of a range: not less than from, less than to.
func (k *Keyed) First(ctx context.Context, from, to string) (key string, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	err = k.first.QueryRowContext(context.WithoutCancel(ctx), from, to).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return key, err == nil, k.db.blame(ctx, k.table, err)
}

// Keys calls f with each key of a range in their order, until it returns
// false. f must not look anything up in this table.
func (k *Keyed) Keys(ctx context.Context, from, to string, f func(key string) bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	rows, err := k.span.QueryContext(ctx, from, to)
	if err != nil {
		return k.db.blame(ctx, k.table, err)
	}
	defer rows.Close()
	spent, given := budget{bytes: k.db.spent.bytes}, int64(0)
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return k.db.blame(ctx, k.table, err)
		}
		given += cost(1, len(key))
		if err := spent.grew(k.table, given); err != nil {
			return k.db.blame(ctx, k.table, err)
		}
		if !f(key) {
			return nil
		}
	}
	return k.db.blame(ctx, k.table, rows.Err())
}

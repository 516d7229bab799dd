package sqlitefile

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
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

	mu        sync.Mutex
	get, keys *sql.Stmt
	handle    int64
	found     Found // by the present Get
	most      int64
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
	out := &Keyed{db: db, table: table, handle: sink.last.Add(1)}
	sink.scans.Store(out.handle, out)
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&out.get, "SELECT " + sinkName + "(?1," + row + ",octet_length(" + v + "),CASE WHEN octet_length(" + v + ")<=?3 THEN " + v + " ELSE typeof(" + v + ") END)" + from + " WHERE " + k + "=?2 LIMIT 1"},
		{&out.keys, "SELECT " + k + from + " WHERE " + k + ">=?1 AND " + k + "<?2 ORDER BY " + k},
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
	sink.scans.Delete(k.handle)
	var errs []error
	for _, s := range []*sql.Stmt{k.get, k.keys} {
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
	return k.GetInto(ctx, nil, key, most)
}

// GetInto is Get with a buffer, whose bytes those of the value replace.
func (k *Keyed) GetInto(ctx context.Context, buffer []byte, key string, most int64) (f Found, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return f, false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.found, k.most = Found{Bytes: buffer}, most
	var none any
	// A context that can end costs a goroutine for each look-up.
	err = k.get.QueryRowContext(context.WithoutCancel(ctx), k.handle, key, most).Scan(&none)
	if errors.Is(err, sql.ErrNoRows) {
		return f, false, nil
	}
	return k.found, err == nil, k.db.blame(ctx, k.table, err)
}

// row takes what SQLite found. The values are views of its memory.
func (k *Keyed) row(args []driver.Value) error {
	if len(args) != 3 {
		return errors.New("a look-up returns a row id, a size and a value")
	}
	f := &k.found
	f.RowID, _ = args[0].(int64)
	sized := false
	f.Size, sized = args[1].(int64)
	if !sized || f.Size > k.most {
		name, _ := args[2].(string)
		f.Class, f.Bytes = classes(name), nil
		return nil
	}
	out := f.Bytes[:0]
	if out == nil {
		out = make([]byte, 0, f.Size)
	}
	switch v := args[2].(type) {
	case string:
		f.Class, f.Bytes = store.Text, append(out, v...)
	case []byte:
		f.Class, f.Bytes = store.Blob, append(out, v...)
	case int64:
		f.Class, f.Bytes = store.Int, fmt.Append(out, v)
	case float64:
		f.Class, f.Bytes = store.Real, fmt.Append(out, v)
	}
	return nil
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
	err = k.Keys(ctx, from, to, func(first string) bool {
		key, ok = first, true
		return false
	})
	return key, ok, err
}

// Keys calls f with each key of a range in their order, until it returns
// false. f must not look anything up in this table.
func (k *Keyed) Keys(ctx context.Context, from, to string, f func(key string) bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	rows, err := k.keys.QueryContext(context.WithoutCancel(ctx), from, to)
	if err != nil {
		return k.db.blame(ctx, k.table, err)
	}
	defer rows.Close()
	spent, given := budget{bytes: k.db.spent.bytes}, int64(0)
	for ctx.Err() == nil && rows.Next() {
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
	return k.db.blame(ctx, k.table, cmp.Or(ctx.Err(), rows.Err()))
}

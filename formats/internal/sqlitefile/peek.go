package sqlitefile

import (
	"context"
	"errors"
)

// peekCopy is the most that is copied just to look at a schema.
const peekCopy = 64 << 20

// Peek returns the names of a database's tables, for detection.
func Peek(ctx context.Context, path string) ([]string, error) {
	if names := glance(ctx, path); names != nil {
		return names, nil
	}
	db, err := Open(ctx, path, Options{})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	names := []string{}
	for _, o := range db.objects {
		if o.Type == "table" {
			names = append(names, o.Name)
		}
	}
	return names, nil
}

// asFolded opens a large database whose WAL is hot as it was when the log was last
// folded in: good enough to know whose it is, and gigabytes cheaper than a copy. It
// returns nil if that does not work, or is not needed.
func asFolded(ctx context.Context, path string) *DB {
	real, err := resolve(path)
	if err != nil {
		return nil
	}
	db := &DB{source: (&Options{}).source(path, real)}
	st, err := db.look()
	if err != nil || st.wal.size == 0 || st.rollback || st.bytes() <= peekCopy {
		return nil
	}
	if db.connect(ctx, real, "mode=ro&immutable=1") != nil {
		db.disconnect()
		return nil
	}
	return db
}

// Count returns the number of rows of a table, of a large database in use as of when
// its log was last folded in.
func Count(ctx context.Context, path, table string) (n int64, err error) {
	db := asFolded(ctx, path)
	if db == nil {
		if db, err = Open(ctx, path, Options{}); err != nil {
			return 0, err
		}
	}
	err = db.conn.QueryRowContext(ctx, "SELECT count(*) FROM main."+quote(table)).Scan(&n)
	return n, errors.Join(err, db.Close())
}

// glance reads the names of the tables of a database at rest.
func glance(ctx context.Context, path string) []string {
	db := asFolded(ctx, path)
	if db == nil {
		return nil
	}
	defer db.disconnect()
	rows, err := db.conn.QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type='table'")
	if err != nil {
		return nil
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var s string
		if rows.Scan(&s) != nil {
			return nil
		}
		names = append(names, s)
	}
	if rows.Err() != nil {
		return nil
	}
	return names
}

package sqlitefile

import "context"

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

// glance reads the schema of a large database whose WAL is hot as it was when
// the log was last folded in: good enough to know whose it is, and gigabytes
// cheaper than a copy. It has no opinion where that does not work.
func glance(ctx context.Context, path string) []string {
	real, err := resolve(path)
	if err != nil {
		return nil
	}
	db := &DB{source: (&Options{}).source(path, real)}
	st, err := db.look()
	if err != nil || st.wal.size == 0 || st.rollback || st.bytes() <= peekCopy {
		return nil
	}
	defer db.disconnect()
	if db.connect(ctx, real, "mode=ro&immutable=1") != nil {
		return nil
	}
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

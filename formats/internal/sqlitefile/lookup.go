package sqlitefile

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"rehome/formats/store"
)

// Lookup reads single cells of a table by a key, whichever way and however
// often. SQLite hands each cell over without database/sql in between, into a
// buffer that the next one uses again.
type Lookup struct {
	db     *DB
	table  string
	get    *sql.Stmt
	handle int64
	found  Cell
	buffer []byte
}

// mostKept is how large a buffer may be that is used again.
const mostKept = 1 << 20

// Cell is what a Lookup found.
type Cell struct {
	RowID int64 // 0 where the table has none
	store.Cell
}

// Lookup prepares looking up the cells of one column by those of another.
func (db *DB) Lookup(ctx context.Context, table, key, value string) (*Lookup, error) {
	s := db.shapes[table]
	if s == nil {
		return nil, db.blame(ctx, table, errors.New("no such table"))
	}
	for _, c := range []string{key, value} {
		if !slices.Contains(s.Columns, c) {
			return nil, db.blame(ctx, table, fmt.Errorf("no such column %q", c))
		}
	}
	row := "0"
	if s.hasRow {
		row = s.ordinal()
	}
	from := " FROM main." + quote(table)
	l := &Lookup{db: db, table: table, handle: sink.last.Add(1)}
	var err error
	l.get, err = db.conn.PrepareContext(ctx, "SELECT "+sinkName+"(?1,"+row+","+quote(value)+")"+from+" WHERE "+quote(key)+"=?2 LIMIT 1")
	if err != nil {
		return nil, db.blame(ctx, table, err)
	}
	sink.scans.Store(l.handle, l)
	return l, nil
}

// Close lets go of the statement.
func (l *Lookup) Close() error {
	sink.scans.Delete(l.handle)
	return l.get.Close()
}

// row takes what SQLite found. The values are views of its memory.
func (l *Lookup) row(args []driver.Value) error {
	if len(args) != 2 {
		return errors.New("a lookup returns a row id and a value")
	}
	l.found.RowID, _ = args[0].(int64)
	if cap(l.buffer) > mostKept {
		l.buffer = nil // a cell of unusual size is no reason to keep its room
	}
	switch v := args[1].(type) {
	case nil:
		l.found.Cell = store.NullCell()
	case int64:
		l.found.Cell = store.IntCell(v)
	case float64:
		l.found.Cell = store.RealCell(v)
	case string:
		l.buffer = append(l.buffer[:0], v...)
		l.found.Cell = store.TextCell(l.buffer)
	case []byte:
		l.buffer = append(l.buffer[:0], v...)
		l.found.Cell = store.BlobCell(l.buffer)
	}
	return nil
}

// Get looks a text key up. The cell is valid until the next look-up.
func (l *Lookup) Get(ctx context.Context, key string) (c Cell, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return Cell{}, false, err
	}
	if !l.db.scan.TryLock() {
		return Cell{}, false, l.db.blame(ctx, l.table, errTwo)
	}
	defer l.db.scan.Unlock()
	var none any
	// A context that can end would cost a goroutine for each look-up.
	err = l.get.QueryRowContext(context.WithoutCancel(ctx), l.handle, key).Scan(&none)
	if errors.Is(err, sql.ErrNoRows) {
		return Cell{}, false, nil
	}
	if err != nil {
		return Cell{}, false, l.db.blame(ctx, l.table, err)
	}
	return l.found, true, nil
}

package sqlitefile

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
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
	keys   string
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
	l.keys = "SELECT " + row + "," + quote(key) + from + " NOT INDEXED"
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

// Key is a row's key.
type Key struct {
	RowID int64
	Text  string
}

// Keys yields the text keys in the order of the rows, and no value.
func (l *Lookup) Keys(ctx context.Context) iter.Seq2[Key, error] {
	return func(yield func(Key, error) bool) {
		rows, err := l.db.conn.QueryContext(ctx, l.keys)
		if err != nil {
			yield(Key{}, l.db.blame(ctx, l.table, err))
			return
		}
		defer rows.Close()
		spent, given := budget{bytes: l.db.spent.bytes}, int64(0)
		for rows.Next() {
			var k Key
			var v any
			if err := rows.Scan(&k.RowID, &v); err != nil {
				yield(Key{}, l.db.blame(ctx, l.table, err))
				return
			}
			switch t := v.(type) {
			case string:
				k.Text = t
			case []byte:
				k.Text = string(t)
			default:
				continue
			}
			given += cost(1, len(k.Text))
			if err := spent.grew(l.table, given); err != nil {
				yield(Key{}, l.db.blame(ctx, l.table, err))
				return
			}
			if !yield(k, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Key{}, l.db.blame(ctx, l.table, err))
		}
	}
}

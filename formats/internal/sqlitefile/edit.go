package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"rehome/formats"
	"rehome/formats/internal/sqliteddl"
	"rehome/formats/store"
)

// patience is how long, in milliseconds, an Editor waits for a client to finish
// what it is writing.
const patience = 2000

// Editor changes a database in place, in one transaction: a database of a client
// that other processes may have open. It belongs to one goroutine.
type Editor struct {
	path string
	connection
	open bool // the transaction
}

// Attached is the name by which SQL finds the second database of an Editor.
const Attached = "new"

// Edit opens a database and begins the transaction, so that nobody else writes
// until Commit or Close. If attached is not "", SQL finds the tables of that file
// under the name Attached. It is not changed.
func Edit(ctx context.Context, path, attached string) (*Editor, error) {
	real, err := resolve(path)
	if err != nil {
		return nil, err
	}
	e := &Editor{path: path}
	limits := map[int]int{limitLength: mostValue, limitSQL: sqliteddl.MaxSQL, limitOps: mostOps, limitAttach: 1, limitLike: mostPattern, limitNested: 1}
	if err = e.dial(ctx, uri(real, "mode=rw&_dqs=0&_defensive=1"), limits); err == nil {
		// FULL: the commit is on disk when it returns, even if the client relies on
		// a later checkpoint.
		err = run(ctx, e.conn, fmt.Sprintf("PRAGMA busy_timeout=%d", patience), "PRAGMA synchronous=FULL", "PRAGMA trusted_schema=OFF", "PRAGMA cell_size_check=ON", "PRAGMA foreign_keys=ON")
	}
	if err == nil && attached != "" {
		if attached, err = resolve(attached); err == nil {
			_, err = e.conn.ExecContext(ctx, "ATTACH ?1 AS "+Attached, uri(attached, "mode=ro"))
		}
	}
	if err == nil {
		err = run(ctx, e.conn, "BEGIN IMMEDIATE")
	}
	if err != nil {
		return nil, errors.Join(explain(ctx, path, "", err), e.disconnect())
	}
	e.open = true
	return e, nil
}

// Columns returns the columns of a table that hold values of their own, in order:
// none if there is no such table. Generated columns are left out.
func (e *Editor) Columns(ctx context.Context, schema, table string) (names []string, err error) {
	for row, err := range e.Rows(ctx, "SELECT name FROM pragma_table_xinfo(?1, ?2) WHERE hidden=0", table, schema) {
		if err != nil {
			return nil, err
		}
		names = append(names, string(row[0].Bytes()))
	}
	return names, nil
}

// Rows returns the rows of a query. Each is valid until the next one. The names of
// columns need a + in front, lest the driver converts what is declared as a time.
func (e *Editor) Rows(ctx context.Context, query string, args ...any) iter.Seq2[[]store.Cell, error] {
	return func(yield func([]store.Cell, error) bool) {
		rows, err := e.conn.QueryContext(ctx, query, args...)
		if err != nil {
			yield(nil, explain(ctx, e.path, "", err))
			return
		}
		defer rows.Close()
		names, err := rows.Columns()
		values, to, cells := make([]any, len(names)), make([]any, len(names)), make([]store.Cell, len(names))
		for i := range values {
			to[i] = &values[i]
		}
		for err == nil && rows.Next() {
			if err = rows.Scan(to...); err != nil {
				break
			}
			for i, v := range values {
				if cells[i], err = cellOf(v); err != nil {
					break
				}
			}
			if err == nil && !yield(cells, nil) {
				return
			}
		}
		if err = errors.Join(err, rows.Err()); err != nil {
			yield(nil, explain(ctx, e.path, "", err))
		}
	}
}

func cellOf(v any) (store.Cell, error) {
	switch v := v.(type) {
	case nil:
		return store.NullCell(), nil
	case int64:
		return store.IntCell(v), nil
	case float64:
		return store.RealCell(v), nil
	case string:
		return store.TextCell([]byte(v)), nil
	case []byte:
		return store.BlobCell(v), nil
	}
	return store.Cell{}, fmt.Errorf("the driver returned a %T", v)
}

// One returns the first row of a query, nil if there is none.
func (e *Editor) One(ctx context.Context, query string, args ...any) ([]store.Cell, error) {
	for row, err := range e.Rows(ctx, query, args...) {
		return row, err
	}
	return nil, nil
}

// Exec runs a statement and returns how many rows it changed.
func (e *Editor) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	var n int64
	done, err := e.conn.ExecContext(ctx, statement, args...)
	if err == nil {
		n, err = done.RowsAffected()
	}
	return n, explain(ctx, e.path, "", err)
}

// Commit commits the transaction. What it returns an error of has not happened,
// unless the machine failed.
func (e *Editor) Commit(ctx context.Context) error {
	if !e.open {
		return &formats.Error{At: e.path, Err: sql.ErrTxDone}
	}
	err := run(ctx, e.conn, "COMMIT")
	if err == nil {
		e.open = false
	}
	return explain(ctx, e.path, "", err)
}

// Close undoes what was not committed, and closes the database.
func (e *Editor) Close() error {
	if e.conn != nil && e.open {
		e.open = false
		_ = run(context.Background(), e.conn, "ROLLBACK") // it may have ended the transaction itself
	}
	return e.disconnect()
}

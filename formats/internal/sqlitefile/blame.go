package sqlitefile

import (
	"context"
	"errors"
	"fmt"

	"rehome/formats"
	"rehome/formats/store"
)

// blame names the row of an error: of the rows of one statement, the first
// that is not in.
func (w *Writer) blame(t *target, b *store.Batch, at int, err error) error {
	done, row := t.rows-int64(at), (*rowError)(nil)
	if errors.As(err, &row) {
		at, err = row.at, row.err
	} else if code(err) == codeConstraint {
		var in int
		if w.conn.QueryRowContext(context.Background(), "SELECT changes()").Scan(&in) == nil && in < manyRows && at+in < b.Rows() {
			at += in
		}
	} else {
		return err
	}
	return &formats.Error{At: w.path, Pointer: t.pointer(b, at, done+int64(at)+1), Err: err}
}

// pointer names a row, the nth of its table.
func (s *shape) pointer(b *store.Batch, i int, n int64) string {
	if s.RowIDs {
		return fmt.Sprintf("table %s: row id %d", s.Name, b.RowID(i))
	}
	if s.key >= 0 && b.Cell(i, s.key).Class == store.Int {
		return fmt.Sprintf("table %s: row id %d", s.Name, b.Cell(i, s.key).Int())
	}
	return fmt.Sprintf("table %s: row %d", s.Name, n)
}

// rowError is an error in a row of a batch.
type rowError struct {
	at  int
	err error
}

func (e *rowError) Error() string { return e.err.Error() }
func (e *rowError) Unwrap() error { return e.err }

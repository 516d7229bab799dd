package sqlitefile

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// pageGetter has SQLite give single pages of its snapshot.
type pageGetter struct {
	stmt   *sql.Stmt
	handle int64
	data   []byte
}

func (g *pageGetter) row(args []driver.Value) error {
	b, ok := args[0].([]byte)
	if !ok {
		return errors.New("a page is not bytes")
	}
	g.data = append(g.data[:0], b...)
	return nil
}

func (g *pageGetter) page(n uint32) error {
	var none any
	g.data = g.data[:0]
	err := g.stmt.QueryRowContext(context.Background(), g.handle, int64(n)).Scan(&none)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // it is not there: no bytes
	}
	return err
}

func (g *pageGetter) close() error {
	if g.stmt == nil {
		return nil
	}
	sink.scans.Delete(g.handle)
	err := g.stmt.Close()
	g.stmt = nil
	return err
}

// Damaged reports whether an error is the file's: pages or a schema that
// SQLite calls malformed.
func Damaged(err error) bool {
	if d := (*Damage)(nil); errors.As(err, &d) {
		return true
	}
	if errors.Is(err, errOrder) {
		return true
	}
	n := code(err)
	return n == codeCorrupt || n == codeNotDB
}

package sqlitefile

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"strings"

	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
)

// ScanPlain is Scan by way of database/sql: several copies a value, but any
// number of columns and any encoding.
func (db *DB) ScanPlain(ctx context.Context, set int, t Table) iter.Seq2[*store.Batch, error] {
	return db.walk(ctx, set, t, (*DB).step)
}

func (db *DB) step(s *scan, t Table) error {
	o := sqlitepages.ByteOrder(db.pragmas.Encoding)
	most := mostTerms - 1
	if o != nil {
		most /= 2
	}
	// SQLite gives no more columns than a table can have, and we ask for the
	// row id as well. Then several queries walk the table side by side, in one
	// transaction and the same order.
	var values []any
	var parts []*part
	for from := 0; from == 0 || from < len(t.Columns); from += most {
		p := &part{}
		piece := Table{Name: t.Name, Columns: t.Columns[from:min(from+most, len(t.Columns))]}
		var err error
		if p.rows, err = db.conn.QueryContext(s.ctx, plainQuery(s.shape, piece, o != nil)); err != nil {
			return err
		}
		defer p.rows.Close()
		names, err := p.rows.Columns()
		if err != nil {
			return err
		}
		p.values = make([]any, len(names))
		for i := range p.values {
			p.places = append(p.places, &p.values[i])
		}
		parts = append(parts, p)
	}
	for {
		values = values[:0]
		for i, p := range parts {
			more, err := p.next()
			if err != nil || !more && i == 0 {
				return err
			}
			switch {
			case !more:
				return s.fail(errUneven)
			case i > 0 && s.shape.hasRow && p.values[0] != values[0]:
				return s.fail(errUneven)
			case i > 0 && s.shape.hasRow:
				values = append(values, p.values[1:]...)
			default:
				values = append(values, p.values...)
			}
		}
		if err := s.plainRow(values, o); err != nil {
			return err
		}
	}
}

var errUneven = errors.New("two reads of the table returned different rows")

// part is one of the queries that a table is read by.
type part struct {
	rows           *sql.Rows
	values, places []any
}

func (p *part) next() (bool, error) {
	if !p.rows.Next() {
		return false, p.rows.Err()
	}
	return true, p.rows.Scan(p.places...)
}

// plainQuery selects each column as an expression: for a column declared DATE
// or the like the driver would make a time of its text. Of UTF-16 text it takes
// the bytes, and the class beside them, since SQLite's own way to UTF-8 does
// not keep lone surrogates.
func plainQuery(s *shape, t Table, wide bool) string {
	var list []string
	if s.hasRow {
		list = append(list, s.ordinal())
	}
	for _, c := range t.Columns {
		c = quote(c)
		if wide {
			list = append(list, "CASE typeof("+c+") WHEN 'text' THEN CAST("+c+" AS BLOB) ELSE "+c+" END", "typeof("+c+")='text'")
		} else {
			list = append(list, "+"+c)
		}
	}
	if len(list) == 0 {
		list = []string{"NULL"}
	}
	return "SELECT " + strings.Join(list, ",") + " FROM main." + quote(t.Name) + " NOT INDEXED"
}

func (s *scan) plainRow(values []any, o binary.ByteOrder) error {
	id := int64(0)
	if s.shape.hasRow {
		v, ok := values[0].(int64)
		if !ok {
			return fmt.Errorf("row id is a %T", values[0])
		}
		id, values = v, values[1:]
	}
	if err := s.begin(id); err != nil {
		return err
	}
	if o == nil {
		for _, v := range values[:s.width] {
			s.add(v)
		}
		return s.end(s.watch != nil)
	}
	for i := range s.width {
		v := values[2*i]
		if values[2*i+1] != int64(1) {
			s.add(v)
			continue
		}
		raw, _ := v.([]byte)
		arena, err := sqlitepages.AppendWTF8(s.batch.Begin(), raw, o)
		if err != nil {
			return fmt.Errorf("row %d, column %d: %w", id, i+1, err)
		}
		s.batch.End(store.Text, arena)
	}
	return s.end(s.watch != nil)
}

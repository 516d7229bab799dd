package sqlitefile

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"strings"

	"rehome/formats/store"
)

// ScanPlain is Scan by way of database/sql: several copies a value, but any
// number of columns and any encoding.
func (db *DB) ScanPlain(ctx context.Context, set int, t Table) iter.Seq2[*store.Batch, error] {
	return db.walk(ctx, set, t, (*DB).step)
}

func (db *DB) step(s *scan, t Table) error {
	o := order(db.pragmas.Encoding)
	rows, err := db.conn.QueryContext(s.ctx, plainQuery(s.shape, t, o != nil))
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	values, places := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return err
		}
		if err := s.plainRow(values, o); err != nil {
			return err
		}
		if s.batch.Full() {
			if err := s.hand(); err != nil {
				return err
			}
		}
	}
	return rows.Err()
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
			return fmt.Errorf("a row id is a %T", values[0])
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
		return nil
	}
	for i := range s.width {
		v := values[2*i]
		if values[2*i+1] != int64(1) {
			s.add(v)
			continue
		}
		raw, _ := v.([]byte)
		arena, err := appendWTF8(s.batch.Begin(), raw, o)
		if err != nil {
			return fmt.Errorf("row %d, column %d: %w", id, i+1, err)
		}
		s.batch.End(store.Text, arena)
	}
	return nil
}

package sqlitefile

import (
	"database/sql/driver"
	"fmt"
	"slices"

	"rehome/formats"
	"rehome/formats/internal/sqliteddl"
)

// watched is a column whose declared type can change what is put into it.
type watched struct {
	col int
	column
}

// watch lists the columns of a table whose values must be looked at. SQLite has
// done to them what it would do again, unless somebody changed a declaration
// behind its back.
func (s *shape) watch(t Table) (list []watched) {
	for col, name := range t.Columns {
		if c := s.columns[slices.Index(s.Columns, name)]; c.affinity != sqliteddl.AnyAffinity {
			list = append(list, watched{col, c})
		}
	}
	return list
}

// odd reports whether a row holds a value of another class than its column
// asks for. Nearly none does, and this takes nearly no time.
func (s *scan) odd(row []driver.Value) bool {
	for i := range s.watch {
		w := &s.watch[i]
		switch row[w.col].(type) {
		case int64:
			if w.affinity != sqliteddl.NumericAffinity {
				return true
			}
		case float64:
			if w.affinity != sqliteddl.RealAffinity {
				return true
			}
		case string:
			if w.affinity != sqliteddl.TextAffinity {
				return true
			}
		}
	}
	return false
}

// comesBack refuses a record that a Writer would refuse, in the same words.
func (s *scan) comesBack() error {
	i := s.batch.Rows() - 1
	for _, w := range s.watch {
		what := w.affinity.Changed(s.batch.Cell(i, w.col))
		if what == "" {
			continue
		}
		place := fmt.Sprintf("row %d", s.given+int64(i)+1)
		if s.shape.hasRow {
			place = fmt.Sprintf("row id %d", s.last)
		}
		return &formats.Error{Pointer: fmt.Sprintf("table %s: %s", s.shape.Name, place),
			Err:  fmt.Errorf("column %q: %w", w.name, sqliteddl.Mismatch(what, w.declared)),
			Hint: "it could not be restored from text; UPDATE the value in a copy, so that SQLite stores it as the column declares"}
	}
	return nil
}

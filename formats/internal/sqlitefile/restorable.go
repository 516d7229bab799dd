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
	sqliteddl.Affinity
	name, declared string
}

// watch lists the columns of a table whose values must be looked at. SQLite has
// done to them what it would do again, unless somebody changed a declaration
// behind its back.
func (db *DB) watch(t Table) (list []watched, err error) {
	sh, strict := db.shapes[t.Name], false
	if slices.ContainsFunc(sh.types, func(declared string) bool { return sqliteddl.SameName(declared, "any") }) {
		for _, o := range db.objects {
			if o.Type == "table" && o.Name == t.Name {
				e, err := sqliteddl.VetObject(o)
				if err != nil {
					return nil, err
				}
				strict = e.Strict
			}
		}
	}
	for col, name := range t.Columns {
		declared := sh.types[slices.Index(sh.Columns, name)]
		if a := sqliteddl.AffinityOf(declared, strict); a != sqliteddl.AnyAffinity {
			list = append(list, watched{col, a, name, declared})
		}
	}
	return list, nil
}

// odd reports whether a row holds a value of another class than its column
// asks for. Nearly none does, and this takes nearly no time.
func (s *scan) odd(row []driver.Value) bool {
	for i := range s.watch {
		w := &s.watch[i]
		switch row[w.col].(type) {
		case int64:
			if w.Affinity != sqliteddl.NumericAffinity {
				return true
			}
		case float64:
			if w.Affinity != sqliteddl.RealAffinity {
				return true
			}
		case string:
			if w.Affinity != sqliteddl.TextAffinity {
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
		what := w.Changed(s.batch.Cell(i, w.col))
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

package sqlitecheck

import (
	"slices"
	"strings"

	"rehome/formats/internal/sqlitefile"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Known is what a client's database has: all its generations as one.
type Known struct {
	Tables []Table
	// Declared is how real clients declare them, all generations as one: SQL with
	// ";\n" behind each statement. A column or constraint that differs between
	// generations stands in it twice, and PRAGMA user_version for each version.
	// It is "" of a database that no known client makes.
	Declared string
	// Shared remembers what other databases of the client were found to be; it
	// may be nil.
	Shared *sqlitefile.Known
	// Own are tables whose foreign keys the codec itself asks about.
	Own []string
}

// Table is a table that some version makes.
type Table struct {
	Name    string
	Columns []Column
	Needed  bool   // no version works without it
	Unless  string // a table that is enough in its place
}

// Column is a column that some version makes.
type Column struct {
	Name   string
	Needed bool // no version works without it
}

// Columns lists columns by name; a "?" behind a name says that some version
// works without it.
func Columns(names ...string) (out []Column) {
	for _, n := range names {
		name, optional := strings.CutSuffix(n, "?")
		out = append(out, Column{name, !optional})
	}
	return out
}

// drift compares the tables of a file with those that are known.
func (k *Known) drift(file string, seen *sqlitefile.Seen, q *rule.Pass) (whole bool) {
	whole = true
	for _, o := range seen.Objects {
		if o.Type == "table" && !internal(o.Name) && k.table(o.Name) == nil {
			q.Reportf("RH201", store.Addr{File: file, Set: o.Name}, "table %q", o.Name)
		}
	}
	find := func(name string) int {
		return slices.IndexFunc(seen.Plan.Tables, func(p sqlitefile.PlanTable) bool { return strings.EqualFold(p.Name, name) })
	}
	for i := range k.Tables {
		t := &k.Tables[i]
		at := find(t.Name)
		if at < 0 {
			if t.Needed && (t.Unless == "" || find(t.Unless) < 0) {
				whole = false
				q.Reportf("RH202", store.Addr{File: file, Set: t.Name}, "table %q", t.Name)
			}
			continue
		}
		whole = k.columns(file, t, &seen.Plan.Tables[at], q) && whole
	}
	return whole
}

func (k *Known) columns(file string, t *Table, p *sqlitefile.PlanTable, q *rule.Pass) (whole bool) {
	whole = true
	at := store.Addr{File: file, Set: t.Name}
	for _, name := range p.Columns {
		if !slices.ContainsFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) }) {
			q.Reportf("RH201", at, "column %q", name)
		}
	}
	for _, c := range t.Columns {
		if c.Needed && p.Column(c.Name) < 0 {
			whole = false
			q.Reportf("RH202", at, "column %q", c.Name)
		}
	}
	return whole
}

func (k *Known) table(name string) *Table {
	for i := range k.Tables {
		if strings.EqualFold(k.Tables[i].Name, name) {
			return &k.Tables[i]
		}
	}
	return nil
}

// internal reports a table of SQLite's own.
func internal(name string) bool { return strings.HasPrefix(strings.ToLower(name), "sqlite_") }

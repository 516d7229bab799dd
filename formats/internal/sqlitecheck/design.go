package sqlitecheck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/sqliteddl"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// design is what a client's database is declared as.
type design struct {
	versions []string // PRAGMA user_version
	tables   map[string]*sqliteddl.Definition
	indexes  map[string]string   // by name, as they are compared
	keys     map[string][]string // by table, those of any generation
}

// designOf reads what a codec says of its client. That is part of the program,
// so a mistake in it is a mistake in the program.
func designOf(declared string) *design {
	d := &design{tables: map[string]*sqliteddl.Definition{}, indexes: map[string]string{}, keys: map[string][]string{}}
	for statement := range strings.SplitSeq(declared, ";\n") {
		d.add(statement)
	}
	return d
}

func (d *design) add(statement string) {
	_, version, ok := strings.Cut(statement, "PRAGMA user_version = ")
	if ok {
		d.versions = append(d.versions, version)
		return
	}
	def, ok := sqliteddl.Define(statement)
	name := strings.ToLower(def.Name)
	if def.Table == "" {
		d.keys[name] = append(d.keys[name], def.Keys...)
	}
	switch {
	case strings.TrimSpace(statement) == "":
	case !ok:
		panic("sqlitecheck: not a statement: " + statement)
	case strings.Contains(statement, " INDEX "):
		d.indexes[name] = spelled(def)
		t := d.tables[strings.ToLower(def.Table)]
		t.Keys = append(t.Keys, def.Keys...)
		d.keys[strings.ToLower(def.Table)] = append(d.keys[strings.ToLower(def.Table)], def.Keys...)
	case d.tables[name] != nil:
		t := d.tables[name]
		t.Columns, t.Rules = append(t.Columns, def.Columns...), append(t.Rules, def.Rules...)
		// A key counts as needed only where all generations have it.
		t.Keys = slices.DeleteFunc(t.Keys, func(k string) bool { return !slices.Contains(def.Keys, k) })
	default:
		d.tables[name] = &def
	}
}

// spelled is an index as it is compared.
func spelled(d sqliteddl.Definition) string {
	return fmt.Sprint(d.Head, d.Columns, d.Options)
}

// compare holds a file's declarations against those of the client.
func (d *design) compare(file string, f *sqlitefile.Image, objects []sqlitefile.Object, q *rule.Pass) {
	settings := f.Pragmas()
	if v := strconv.Itoa(int(settings.UserVersion)); !slices.Contains(d.versions, v) {
		q.Reportf("RH206", store.Addr{File: file}, "user_version %s", v)
	}
	if settings.ApplicationID != 0 {
		q.Reportf("RH206", store.Addr{File: file}, "application_id %d", settings.ApplicationID)
	}
	keys, tables := map[string][]string{}, map[string]bool{}
	for _, o := range objects {
		tables[o.Name] = tables[o.Name] || o.Type == "table"
	}
	for _, o := range objects {
		if o.Type != "index" || o.SQL == "" {
			continue
		}
		def, ok := sqliteddl.Define(o.SQL)
		if !ok || d.indexes[strings.ToLower(o.Name)] != spelled(def) || !tables[o.Table] {
			q.Reportf("RH206", store.Addr{File: file, Set: o.Name}, "index on %q", o.Table)
		}
		keys[strings.ToLower(o.Table)] = append(keys[strings.ToLower(o.Table)], def.Keys...)
	}
	for _, o := range objects {
		name := strings.ToLower(o.Name)
		want := d.tables[name]
		if o.Type != "table" || want == nil {
			continue
		}
		is, ok := sqliteddl.Define(o.SQL)
		at := store.Addr{File: file, Set: o.Name}
		if !ok {
			q.Reportf("RH206", at, "its CREATE statement cannot be parsed")
			continue
		}
		for _, k := range append(is.Keys, keys[name]...) {
			if !slices.Contains(d.keys[name], k) {
				q.Reportf("RH208", at, k)
			}
		}
		for _, k := range want.Keys {
			if !slices.Contains(is.Keys, k) && !slices.Contains(keys[name], k) {
				q.Reportf("RH205", at, "%s", k)
			}
		}
		differs(at, want, &is, q)
	}
}

func differs(at store.Addr, want, is *sqliteddl.Definition, q *rule.Pass) {
	if is.Head != want.Head {
		q.Reportf("RH206", at, "its CREATE statement starts with %q", is.Head)
	}
	for _, c := range is.Columns {
		same := func(w sqliteddl.Declared) bool { return w.Name == c.Name }
		if slices.ContainsFunc(want.Columns, same) && !slices.Contains(want.Columns, c) {
			q.Reportf("RH206", at, "column %q is declared %q", c.Name, c.Text)
		}
	}
	for _, r := range is.Rules {
		if !slices.Contains(want.Rules, r) {
			q.Reportf("RH206", at, "unknown constraint %q", r)
		}
	}
	for _, r := range want.Rules {
		if !slices.Contains(is.Rules, r) {
			q.Reportf("RH206", at, "missing constraint %q", r)
		}
	}
	if is.Options != want.Options {
		q.Reportf("RH206", at, "options %q", is.Options)
	}
}

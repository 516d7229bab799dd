package convert

import (
	"strings"
	"testing"

	"rehome/formats/store"
)

// TestSchemaDifference: every difference of a database or a set is reported, even if
// the parts before it are equal.
func TestSchemaDifference(t *testing.T) {
	fresh := func() *store.Schema {
		objects := func() []store.Object {
			return []store.Object{{Type: "table", Name: "t", Table: "t", SQL: "CREATE TABLE t (x)"}}
		}
		return &store.Schema{Origin: "o", Databases: []store.Database{{Path: "a", Objects: objects()}, {Path: "b", Objects: objects()}},
			Sets: []store.Set{{File: "a", Name: "t", Columns: []string{"x"}}, {File: "b", Name: "t", Columns: []string{"x"}}}}
	}
	for want, change := range map[string]func(*store.Schema){
		"":                         func(*store.Schema) {},
		"origin":                   func(s *store.Schema) { s.Origin = "" },
		"2 databases written":      func(s *store.Schema) { s.Databases = s.Databases[:1] },
		`b: read back as`:          func(s *store.Schema) { s.Databases[1].Path = "c" },
		"b: settings":              func(s *store.Schema) { s.Databases[1].Pragmas.PageSize = 512 },
		"a: table t not read back": func(s *store.Schema) { s.Databases[0].Objects = nil },
		"b: table t differs":       func(s *store.Schema) { s.Databases[1].Objects[0].SQL += " " },
		"2 tables and files":       func(s *store.Schema) { s.Sets = s.Sets[:1] },
		"its description differs":  func(s *store.Schema) { s.Sets[1].RowIDs = true },
	} {
		got := fresh()
		change(got)
		if d := schemaDifference(fresh(), got, true); (d == "") != (want == "") || !strings.Contains(d, want) {
			t.Errorf("%q, want %q", d, want)
		}
	}
}

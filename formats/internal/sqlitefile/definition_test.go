package sqlitefile

import (
	"reflect"
	"testing"
)

func TestDefine(t *testing.T) {
	for sql, want := range map[string]Definition{
		"CREATE TABLE t (a)":                  {Name: "t", Columns: []Declared{{"a", ""}}},
		"create table \"T\"([a b] text,\n c)": {Name: "T", Columns: []Declared{{"a b", "text"}, {"c", ""}}},
		"CREATE TABLE t (id TEXT PRIMARY KEY, d BLOB NOT NULL DEFAULT 'X') STRICT, WITHOUT ROWID": {Name: "t", Options: "strict , without rowid",
			Columns: []Declared{{"id", "text primary key"}, {"d", "blob not null default 'X'"}}, Keys: []string{"unique (id)"}},
		"CREATE TABLE t (k TEXT UNIQUE ON CONFLICT REPLACE, v VARCHAR(2,3))": {Name: "t",
			Columns: []Declared{{"k", "text unique on conflict replace"}, {"v", "varchar ( 2 , 3 )"}}, Keys: []string{"unique (k) on conflict replace"}},
		"CREATE TABLE t (a, b, CONSTRAINT x PRIMARY KEY (a, \"b\" DESC) ON CONFLICT FAIL, FOREIGN KEY (a) REFERENCES o(c) -- , d\n, e TEXT)": {Name: "t",
			Columns: []Declared{{"a", ""}, {"b", ""}, {"e", "text"}}, Keys: []string{"unique (a, b) on conflict fail"},
			Rules: []string{"constraint x primary key ( a , b desc ) on conflict fail", "foreign key ( a ) references o ( c )"}},
		"CREATE TABLE t (a UNIQUE PRIMARY KEY ON CONFLICT IGNORE)": {Name: "t", Columns: []Declared{{"a", "unique primary key on conflict ignore"}},
			Keys: []string{"unique (a)", "unique (a) on conflict ignore"}},
		"CREATE UNIQUE INDEX i ON t (a, b COLLATE NOCASE) WHERE a IS NOT NULL": {Name: "i", Table: "t", Options: "where a is not null",
			Columns: []Declared{{"a", ""}, {"b", "collate nocase"}}, Keys: []string{"unique (a, b) where a is not null"}},
		"CREATE INDEX i ON [t] (a)": {Name: "i", Table: "t", Columns: []Declared{{"a", ""}}},
	} {
		if got, ok := Define(sql); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v\n%+v, %v", sql, got, want, ok)
		}
	}
	for _, sql := range []string{"", "CREATE", "CREATE TABLE", "CREATE TABLE t", "CREATE TABLE t (a", "CREATE TABLE t ('a", "CREATE VIEW v AS SELECT 1", "CREATE TRIGGER t AFTER", "DROP TABLE t"} {
		if d, ok := Define(sql); ok {
			t.Errorf("%q is taken for %+v", sql, d)
		}
	}
}

package sqliteddl

import (
	"reflect"
	"testing"
)

func TestDefine(t *testing.T) {
	for sql, want := range map[string]Definition{
		"CREATE TABLE t (a)":                  {Head: "CREATE TABLE t", Name: "t", Columns: []Declared{{"a", "a"}}},
		"create table \"T\"([a B] text,\n c)": {Head: "create table T", Name: "T", Columns: []Declared{{"a b", "a B text"}, {"c", "c"}}},
		"CREATE TABLE t (Id TEXT PRIMARY KEY, d BLOB NOT NULL DEFAULT 'X') STRICT, WITHOUT ROWID": {Head: "CREATE TABLE t", Name: "t", Options: "STRICT , WITHOUT ROWID",
			Columns: []Declared{{"id", "Id TEXT PRIMARY KEY"}, {"d", "d BLOB NOT NULL DEFAULT 'X'"}}, Keys: []string{"unique (id)"}},
		"CREATE TABLE t (k TEXT UNIQUE ON CONFLICT REPLACE, v VARCHAR(2,3))": {Head: "CREATE TABLE t", Name: "t",
			Columns: []Declared{{"k", "k TEXT UNIQUE ON CONFLICT REPLACE"}, {"v", "v VARCHAR ( 2 , 3 )"}}, Keys: []string{"unique (k) on conflict replace"}},
		"CREATE TABLE t (a, b, CONSTRAINT x PRIMARY KEY (A, \"b\" DESC) ON CONFLICT FAIL, FOREIGN KEY (a) REFERENCES o(c) -- , d\n, e TEXT)": {
			Head: "CREATE TABLE t", Name: "t", Columns: []Declared{{"a", "a"}, {"b", "b"}, {"e", "e TEXT"}}, Keys: []string{"unique (a, b) on conflict fail"},
			Rules: []string{"CONSTRAINT x PRIMARY KEY ( A , b DESC ) ON CONFLICT FAIL", "FOREIGN KEY ( a ) REFERENCES o ( c )"}},
		"CREATE TABLE t (a UNIQUE PRIMARY KEY ON CONFLICT IGNORE)": {Head: "CREATE TABLE t", Name: "t",
			Columns: []Declared{{"a", "a UNIQUE PRIMARY KEY ON CONFLICT IGNORE"}}, Keys: []string{"unique (a)", "unique (a) on conflict ignore"}},
		"CREATE UNIQUE INDEX i ON t (a, b COLLATE NOCASE) WHERE a IS NOT NULL": {Head: "CREATE UNIQUE INDEX i ON t", Name: "i", Table: "t", Options: "WHERE a IS NOT NULL",
			Columns: []Declared{{"a", "a"}, {"b", "b COLLATE NOCASE"}}, Keys: []string{"unique (a, b) where a is not null"}},
		"CREATE TABLE t (a TEXT \"unique\", b CONSTRAINT [primary] NOT NULL ON CONFLICT REPLACE, `primary` INT)": {Head: "CREATE TABLE t", Name: "t",
			Columns: []Declared{{"a", "a TEXT unique"}, {"b", "b CONSTRAINT primary NOT NULL ON CONFLICT REPLACE"}, {"primary", "primary INT"}}, Keys: []string{"not null (b) on conflict replace"}},
		"CREATE INDEX i ON [t] (a)": {Head: "CREATE INDEX i ON t", Name: "i", Table: "t", Columns: []Declared{{"a", "a"}}},
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

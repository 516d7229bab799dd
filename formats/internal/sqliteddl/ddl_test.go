package sqliteddl

import (
	"testing"

	"rehome/formats/store"
)

func FuzzVet(f *testing.F) {
	for _, s := range []string{"CREATE TABLE t(a)", "CREATE TABLE [t](a DEFAULT ';' /* ; */) STRICT", "CREATE TRIGGER t AFTER INSERT ON t BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; END", "CREATE INDEX t ON t(a) WHERE b", "CREATE VIRTUAL TABLE t USING fts5(a, b='c)')", "CREATE TABLE t(a) -- x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		for _, kind := range []string{"table", "index", "view", "trigger"} {
			if _, err := VetObject(store.Object{Type: kind, Name: "t", Table: "t", SQL: sql}); err != nil {
				continue
			}
			var list []token
			l := lexer{sql: sql}
			for x, err := l.next(); x.kind != none; x, err = l.next() {
				if err != nil {
					t.Errorf("%q was taken: %v", sql, err)
				}
				list = append(list, x)
			}
			if len(list) < 3 || !list[0].is("create") {
				t.Errorf("%q was taken", sql)
			}
			for i, x := range list {
				if x.char(';') && kind != "trigger" {
					t.Errorf("%q was taken as a %s", sql, kind)
				}
				if x.char(';') && i+1 < len(list) && list[i+1].is("end") {
					if rest := list[i+2:]; len(rest) > 1 || len(rest) == 1 && !rest[0].char(';') {
						t.Errorf("%q was taken as a %s", sql, kind)
					}
					break
				}
			}
		}
	})
}

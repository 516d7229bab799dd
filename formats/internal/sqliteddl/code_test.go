package sqliteddl

import (
	"strings"
	"testing"

	"rehome/formats/store"
)

func TestCode(t *testing.T) {
	for sql, want := range map[string]string{
		"CREATE TABLE t (a, b TEXT)":                                         "",
		"CREATE TABLE t (id TEXT PRIMARY KEY, d BLOB NOT NULL DEFAULT '{}')": "",
		"CREATE TABLE t (a DEFAULT 1, b DEFAULT -1.5, c DEFAULT NULL, d DEFAULT ('x'), e DEFAULT (-1.5), f DEFAULT CURRENT_TIMESTAMP, g DEFAULT (x'00'))": "",
		`CREATE TABLE t ("check", "as", [default], 'collate')`:                                 "",
		"CREATE TABLE t (a REFERENCES o(a) ON DELETE NO ACTION ON UPDATE RESTRICT DEFERRABLE)": "",
		"CREATE TABLE t (a TEXT COLLATE NOCASE UNIQUE ON CONFLICT REPLACE) STRICT":             "",
		"CREATE TABLE t (a, PRIMARY KEY (a, b)) WITHOUT ROWID -- CHECK (1)":                    "",
		"CREATE TABLE t (a VARCHAR(20), b DECIMAL(1,2)) /* AS (a) */":                          "",
		"CREATE TABLE t (a CHECK (a > 1))":                                                     "CHECK",
		"CREATE TABLE t (a, CONSTRAINT x check(randomblob(9) IS NULL))":                        "CHECK",
		"CREATE TABLE t (a, b AS (a))":                                                         "generated",
		"CREATE TABLE t (a, b TEXT GENERATED ALWAYS AS (a||a) STORED)":                         "generated",
		"CREATE TABLE t (a DEFAULT (random()))":                                                "default",
		"CREATE TABLE t (a DEFAULT ((1)))":                                                     "default",
		"CREATE TABLE t (a DEFAULT (1+1))":                                                     "default",
		"CREATE TABLE t (a DEFAULT ('a'||'b'))":                                                "default",
		"CREATE TABLE t (a DEFAULT \v(random()))":                                              "default",
		"CREATE TABLE t (a REFERENCES o ON \v DELETE \vCASCADE)":                               "foreign key",
		"CREATE TABLE t (a COLLATE other)":                                                     "collation",
		"CREATE TABLE t (a REFERENCES o ON DELETE CASCADE)":                                    "foreign key",
		"CREATE TABLE t (a REFERENCES o(b) ON UPDATE SET NULL)":                                "foreign key",
		"CREATE VIRTUAL TABLE t USING fts5(a)":                                                 "virtual",
		"CREATE INDEX t ON o (a, \"b\" COLLATE nocase DESC, [c] ASC)":                          "",
		"CREATE UNIQUE INDEX t ON o (a) WHERE a IS NOT NULL":                                   "",
		"CREATE INDEX t ON o (a) WHERE \"a\" IS NULL AND b IS NOT NULL":                        "",
		"CREATE INDEX t ON o (a) WHERE a > 1":                                                  "condition",
		"CREATE INDEX t ON o (a) WHERE f(a) IS NOT NULL":                                       "condition",
		"CREATE INDEX t ON o (a) WHERE a IS NOT NULL OR b IS NULL":                             "condition",
		"CREATE INDEX t ON o (a) WHERE a IS NOT 1":                                             "condition",
		"CREATE INDEX t ON o (a) WHERE 1 IS NOT NULL":                                          "condition",
		"CREATE INDEX t ON o (lower(a))":                                                       "expression",
		"CREATE INDEX t ON o (a, b+1)":                                                         "expression",
		"CREATE INDEX t ON o (CASE WHEN a THEN b END)":                                         "expression",
		"CREATE INDEX t ON o (a, b NOTNULL)":                                                   "expression",
		"CREATE INDEX t ON o (a COLLATE nocase REGEXP b)":                                      "expression",
		"CREATE INDEX t ON o ('a')":                                                            "expression",
		"CREATE INDEX t ON o (a COLLATE other)":                                                "collation",
		"CREATE TRIGGER t AFTER INSERT ON o BEGIN SELECT 1; END":                               "trigger",
		"CREATE VIEW t AS SELECT 1":                                                            "view",
	} {
		o := store.Object{Type: "table", Name: "t", Table: "t", SQL: sql}
		for _, kind := range []string{"index", "trigger", "view"} {
			if strings.Contains(strings.ToLower(sql[:20]), kind) {
				o.Type = kind
			}
		}
		if got := Code(o); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

// TestAllowed: a client's foreign keys change rows, and nothing else of its schema runs.
func TestAllowed(t *testing.T) {
	for sql, want := range map[string]string{
		"CREATE TABLE t (a REFERENCES o ON DELETE CASCADE)":                   "",
		"CREATE TABLE t (a REFERENCES o ON DELETE CASCADE, b CHECK (b > 1))":  "CHECK",
		"CREATE TABLE t (a REFERENCES o ON UPDATE SET NULL, b AS (random()))": "generated",
	} {
		o := store.Object{Type: "table", Name: "t", Table: "t", SQL: sql}
		if got := Cascades.CodeBeside(o); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
		if NoCode.CodeBeside(o) == "" || AnyCode.CodeBeside(o) != "" {
			t.Errorf("%s: none and any allow something else", sql)
		}
		d := store.Database{Pragmas: store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "wal"}, Objects: []store.Object{o}}
		if _, err := Vet(d, Cascades); (err == nil) != (want == "") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

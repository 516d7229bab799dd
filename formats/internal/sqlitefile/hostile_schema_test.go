package sqlitefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/internal/sqliteddl"
	"rehome/formats/store"
)

// Each of these must be refused before anything is made, with a word of why.
func TestHostileSchemas(t *testing.T) {
	for _, c := range []struct{ kind, name, on, sql, why string }{
		{"table", "t", "t", "DROP TABLE t", "not a CREATE"},
		{"table", "t", "t", "ATTACH 'x.db' AS t", "not a CREATE"},
		{"table", "t", "t", "PRAGMA writable_schema=ON", "not a CREATE"},
		{"table", "t", "t", "", "not a CREATE"},
		{"table", "t", "t", "-- CREATE TABLE t(a)", "not a CREATE"},
		{"table", "t", "t", "/* */ DELETE FROM x", "not a CREATE"},
		{"table", "t", "t", "EXPLAIN CREATE TABLE t(a)", "not a CREATE"},
		{"table", "t", "t", "CREATE TABLE t(a); DROP TABLE t", "semicolon"},
		{"table", "t", "t", "CREATE TABLE t(a);", "semicolon"},
		{"table", "t", "t", "CREATE TABLE t(a)--;\n;ATTACH 'x' AS y", "semicolon"},
		{"table", "t", "t", "CREATE TABLE t(a/*);*/);SELECT 1", "semicolon"},
		{"table", "t", "t", "CREATE TABLE t(a DEFAULT 'x'';');DROP TABLE u", "semicolon"},
		{"table", "t", "t", "CREATE TABLE t([a];b)", "semicolon"},
		{"table", "t", "t", "CREATE TABLE t(a)\x00;DROP TABLE t", "NUL"},
		{"table", "t", "t", "CREATE TABLE t('a\x00')", "NUL"},
		{"table", "t", "t", "CREATE TABLE t(a 'x", "unclosed quote"},
		{"table", "t", "t", "CREATE TABLE t(a [x", "unclosed quote"},
		{"table", "t", "t", "CREATE TABLE t(a /* x)", "unclosed ("},
		{"table", "t", "t", "CREATE TABLE t(a", "unclosed ("},
		{"table", "t", "t", "CREATE TABLE t(a))", "unmatched )"},
		{"table", "t", "t", "CREATE TEMP TABLE t(a)", "does not create"},
		{"table", "t", "t", "CREATE TEMPORARY TABLE t(a)", "does not create"},
		{"table", "t", "t", "CREATE TABLE main.t(a)", `creates "main"`},
		{"table", "main", "main", "CREATE TABLE main.t(a)", "another database"},
		{"table", "temp", "temp", "CREATE TABLE temp . t(a)", "another database"},
		{"table", "t", "t", "CREATE TABLE IF NOT EXISTS t(a)", `creates "IF"`},
		{"table", "IF", "IF", "CREATE TABLE IF NOT EXISTS t(a)", "no column list"},
		{"table", "t", "t", "CREATE TABLE t AS SELECT load_extension('x')", "no column list"},
		{"table", "t", "t", "CREATE TABLE t(a) AS SELECT 1", "after the column list"},
		{"table", "t", "t", "CREATE TABLE t(a) WITHOUT x", "option"},
		{"table", "t", "t", "CREATE TABLE t(a DEFAULT $x(;))", "parameter"},
		{"table", "t", "t", "CREATE TABLE t(a DEFAULT ?1)", "parameter"},
		{"table", "t", "t", "CREATE TABLE t(a DEFAULT @x)", "parameter"},
		{"table", "t", "u", "CREATE TABLE t(a)", "tbl_name"},
		{"table", "t", "t", "CREATE TABLE u(a)", `creates "u"`},
		{"table", "t", "t", "CREATE VIEW t AS SELECT 1", "does not create"},
		{"table", "t\x00", "t\x00", "CREATE TABLE t(a)", "NUL"},
		{"table", "t", "t", "CREATE TABLE t(a" + strings.Repeat(" ", sqliteddl.MaxSQL) + ")", "bytes"},
		{"table", "sqlite_schema", "sqlite_schema", "CREATE TABLE sqlite_schema(a)", "sqlite_"},
		{"table", "SQLITE_master", "SQLITE_master", "CREATE TABLE SQLITE_master(a)", "sqlite_"},
		{"table", "sqlite_stat1", "sqlite_stat1", "CREATE VIRTUAL TABLE sqlite_stat1 USING fts5(a)", "sqlite_"},
		{"index", "sqlite_autoindex_t_1", "t", "CREATE INDEX sqlite_autoindex_t_1 ON t(a)", "sqlite_"},
		{"view", "sqlite_stat1", "sqlite_stat1", "CREATE VIEW sqlite_stat1 AS SELECT 1", "sqlite_"},
		{"index", "i", "t", "CREATE INDEX i ON u(a)", `for table "u"`},
		{"index", "i", "t", "CREATE INDEX main.i ON t(a)", `creates "main"`},
		{"index", "i", "t", "CREATE INDEX i ON t(a); DELETE FROM t", "semicolon"},
		{"index", "i", "t", "CREATE INDEX i", "not name a table"},
		{"index", "i", "t", "CREATE UNIQUE TABLE i(a)", "does not create"},
		{"view", "v", "v", "CREATE VIEW v AS SELECT 1; SELECT 2", "semicolon"},
		{"view", "v", "x", "CREATE VIEW v AS SELECT 1", "tbl_name"},
		{"view", "v", "v", "CREATE TEMP VIEW v AS SELECT 1", "does not create"},
		{"trigger", "r", "t", "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END; DROP TABLE t; END", "after END"},
		{"trigger", "r", "t", "CREATE TRIGGER r AFTER INSERT ON t; BEGIN SELECT 1; END", "semicolon"},
		{"trigger", "r", "t", "CREATE TRIGGER r AFTER INSERT ON u BEGIN SELECT 1; END", `for table "u"`},
		{"trigger", "r", "t", "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1;", "no END"},
		{"trigger", "r", "t", "CREATE TRIGGER r", ""},
		{"trigger", "r", "t", "CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END", "does not create"},
		{"table", "v", "v", "CREATE VIRTUAL TABLE v USING fts5(a); DROP TABLE t", "semicolon"},
		{"table", "v", "v", "CREATE VIRTUAL TABLE v", "not name a module"},
		{"table", "v", "v", "CREATE VIRTUAL TABLE temp.v USING fts5(a)", `creates "temp"`},
		{"table", "v", "v", "CREATE VIRTUAL TABLE v USING fts5(a", "unclosed ("},
		{"procedure", "p", "p", "CREATE PROCEDURE p", "does not create"},
		{"", "t", "t", "CREATE TABLE t(a)", "does not create"},
	} {
		refused(t, c.why, store.Object{Type: c.kind, Name: c.name, Table: c.on, SQL: c.sql})
	}
	one := store.Object{Type: "table", Name: "t", Table: "t", SQL: "CREATE TABLE t(a)"}
	refused(t, "duplicate name", one, one)
	refused(t, "duplicate name", one, store.Object{Type: "view", Name: "T", Table: "T", SQL: "CREATE VIEW T AS SELECT 1"})
	refused(t, "no such table", store.Object{Type: "index", Name: "i", Table: "t", SQL: "CREATE INDEX i ON t(a)"}, one)
	refused(t, "", store.Object{Type: "table", Name: "t", Table: "t", SQL: "CREATE TABLE t(a,a)"})
	refused(t, "", one, store.Object{Type: "index", Name: "i", Table: "t", SQL: "CREATE INDEX i ON t((SELECT 1))"})
	// Placed, and found wanting once the schema is read again.
	refused(t, "", store.Object{Type: "view", Name: "v", Table: "v", SQL: "CREATE VIEW v AS SELEKT 1"})
	refused(t, "", store.Object{Type: "trigger", Name: "r", Table: "gone", SQL: "CREATE TRIGGER r AFTER INSERT ON gone BEGIN SELECT 1; END"})
	refused(t, "entry 1", store.Object{Type: "table", Name: "t", Table: "t", SQL: "create  table t(a)"})
}

// refused asserts that a schema comes to nothing, and that nothing is left.
func refused(t *testing.T, why string, objects ...store.Object) {
	t.Helper()
	dir := t.TempDir()
	w, err := CreateWithCode(t.Context(), filepath.Join(dir, "x.db"), store.Database{Pragmas: plainPragmas, Objects: objects}, nil)
	if err == nil {
		err = w.Finish(t.Context())
		w.Close()
	}
	last := objects[len(objects)-1].SQL
	if err == nil {
		t.Errorf("%.80q was taken", last)
		return
	}
	if !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "x.db") {
		t.Errorf("%.80q: error %q does not say %q", last, err, why)
	}
	if list, _ := os.ReadDir(dir); len(list) > 0 {
		t.Errorf("%.80q: left behind: %v", last, list)
	}
}

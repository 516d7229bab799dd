package sqlitefile

import (
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/internal/sqlitepages"
)

// TestNoExpressionIsRun: looking at a database runs nothing that its schema
// says, wherever it says it. Each of these fails as soon as it is run.
func TestNoExpressionIsRun(t *testing.T) {
	const bad = "abs(-9223372036854775807-1)"
	for name, statements := range map[string][]string{
		"index":     {"CREATE TABLE t(a, b)", "CREATE INDEX i ON t(abs(b))", "INSERT INTO t VALUES(1,2)", "PRAGMA writable_schema=ON", "UPDATE sqlite_schema SET sql='CREATE INDEX i ON t(abs(b-9223372036854775808))' WHERE name='i'"},
		"condition": {"CREATE TABLE t(a, b)", "CREATE INDEX i ON t(a) WHERE b>1", "INSERT INTO t VALUES(1,2)", "PRAGMA writable_schema=ON", "UPDATE sqlite_schema SET sql='CREATE INDEX i ON t(a) WHERE abs(b-9223372036854775808)' WHERE name='i'"},
		"check":     {"CREATE TABLE t(a, b)", "CREATE INDEX i ON t(a COLLATE NOCASE)", "INSERT INTO t VALUES(1,2)", "PRAGMA writable_schema=ON", "UPDATE sqlite_schema SET sql='CREATE TABLE t(a ANY, b ANY CHECK (" + bad + ")) STRICT' WHERE name='t'"},
		"generated": {"CREATE TABLE t(a, b)", "INSERT INTO t VALUES(1,2)", "PRAGMA writable_schema=ON", "UPDATE sqlite_schema SET sql='CREATE TABLE t(a, b, c AS (abs(b-9223372036854775808)) NOT NULL REFERENCES t(a))' WHERE name='t'"},
		"vacuumed":  {"PRAGMA auto_vacuum=1", "CREATE TABLE t(a, b)", "CREATE INDEX i ON t(abs(b))", "INSERT INTO t VALUES(1,2)", "PRAGMA writable_schema=ON", "UPDATE sqlite_schema SET sql='CREATE INDEX i ON t(abs(b-9223372036854775808))' WHERE name='i'"},
	} {
		path := aged(t, build(t, filepath.Join(t.TempDir(), "x.db"), statements...))
		said := ""
		m, err := OpenImage(t.Context(), path, Options{OnNotice: func(s string) { said += s + "\n" }})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Look(t.Context(), Look{Whole: true, Found: func(f sqlitepages.Flaw) {
			if name != "check" { // a number in a column without a type is not STRICT
				t.Errorf("%s: %+v", name, f)
			}
		}})
		if err != nil || !s.Sound {
			t.Errorf("%s: %v", name, err)
		}
		if (name != "check") != strings.Contains(said, "not run") {
			t.Errorf("%s: said %q", name, said)
		}
		for _, p := range s.Plan.Tables {
			if p.Foreign {
				if err := m.ForeignKeys(t.Context(), p.Name, func(int64, string) {}); err != nil {
					t.Errorf("%s: foreign keys: %v", name, err)
				}
			}
		}
		m.Close()
		if rows, _, err := given(t, path); rows != 1 || err != nil {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
	}
}

// TestLimits: a connection that reads a stranger's file is bounded by its size.
func TestLimits(t *testing.T) {
	path := build(t, filepath.Join(t.TempDir(), "x.db"), three...)
	db := open(t, path, Options{})
	for _, c := range []struct{ query, says string }{
		{"SELECT length(hex(zeroblob(10000000)))", "too big"},
		{"SELECT replace(hex(zeroblob(100000)), '0', hex(zeroblob(1000)))", "too big"},
		{"SELECT 'a' LIKE hex(zeroblob(1000))", "too complex"},
		{"ATTACH ':memory:' AS other", "too many attached"},
		{"PRAGMA writable_schema=ON; DELETE FROM sqlite_schema", "may not be modified"},
	} {
		if _, err := db.conn.ExecContext(t.Context(), c.query); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.query, err, c.says)
		}
	}
	if got := readLimits(1 << 40)[limitLength]; got != mostValue {
		t.Errorf("%d bytes of a value of a sparse file", got)
	}
}

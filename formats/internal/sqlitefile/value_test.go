package sqlitefile

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// aged makes a file old enough for its clock to tell a later change.
func aged(t *testing.T, path string) string {
	t.Helper()
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, before, before); err != nil {
		t.Fatal(err)
	}
	return path
}

const keyed = "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT)"

// TestValue: what is read from pages is what SQLite says, and what the pages
// do not say plainly is asked of SQLite.
func TestValue(t *testing.T) {
	many := []string{keyed, "BEGIN"}
	for i := range 400 {
		many = append(many, fmt.Sprintf("INSERT INTO meta VALUES('k%d','%s')", i, strings.Repeat("v", i)))
	}
	long := strings.Repeat("x", 5000)
	for name, c := range map[string]struct {
		statements []string
		key, want  string
		glimpsed   bool
	}{
		"one row":       {[]string{keyed, "INSERT INTO meta VALUES('0','abc')"}, "0", "abc", true},
		"second row":    {[]string{keyed, "INSERT INTO meta VALUES('1','no'),('0','yes')"}, "0", "yes", true},
		"empty value":   {[]string{keyed, "INSERT INTO meta VALUES('0','')"}, "0", "", true},
		"a blob":        {[]string{keyed, "INSERT INTO meta VALUES('0',x'00ff')"}, "0", "\x00\xff", true},
		"no such row":   {[]string{keyed, "INSERT INTO meta VALUES('1','abc')"}, "0", "absent", true},
		"no rows":       {[]string{keyed}, "0", "absent", true},
		"after others":  {[]string{"CREATE TABLE blobs(id TEXT PRIMARY KEY, data BLOB)", "CREATE VIEW v AS SELECT 1", keyed, "INSERT INTO meta VALUES('0','abc')"}, "0", "abc", true},
		"small pages":   {[]string{"PRAGMA page_size=512", keyed, "INSERT INTO meta VALUES('0','abc')"}, "0", "abc", true},
		"large pages":   {[]string{"PRAGMA page_size=65536", keyed, "INSERT INTO meta VALUES('0','abc')"}, "0", "abc", true},
		"long value":    {[]string{keyed, "INSERT INTO meta VALUES('0','" + long + "')"}, "0", long, false},
		"many pages":    {append(many, "COMMIT"), "k399", strings.Repeat("v", 399), false},
		"a number":      {[]string{keyed, "INSERT INTO meta VALUES('0',NULL),('1','x')"}, "0", "absent", false},
		"without rowid": {[]string{keyed + " WITHOUT ROWID", "INSERT INTO meta VALUES('0','abc')"}, "0", "abc", false},
		"UTF-16":        {[]string{"PRAGMA encoding='UTF-16le'", keyed, "INSERT INTO meta VALUES('0','abc')"}, "0", "abc", false},
		"vacuumed":      {[]string{"PRAGMA auto_vacuum=1", keyed, "INSERT INTO meta VALUES('0','abc')"}, "0", "abc", true},
	} {
		t.Run(name, func(t *testing.T) {
			path := aged(t, build(t, filepath.Join(t.TempDir(), "a.db"), c.statements...))
			before := tree(t, filepath.Dir(path))
			got, ok := glimpse(path, "meta", c.key)
			if ok != c.glimpsed {
				t.Errorf("read from pages: %v, want %v", ok, c.glimpsed)
			}
			db := open(t, path, Options{})
			asked, err := db.value(t.Context(), "meta", c.key)
			if err != nil {
				t.Fatal(err)
			}
			if db.spent.sum > 0 {
				t.Error("the table was scanned for one key")
			}
			if ok && (!bytes.Equal(got, asked) || (got == nil) != (asked == nil)) {
				t.Errorf("pages say %q, SQLite says %q", got, asked)
			}
			value, err := Value(t.Context(), path, "meta", c.key, Options{})
			if err != nil || c.want == "absent" && value != nil || c.want != "absent" && (string(value) != c.want || value == nil) {
				t.Errorf("%.20q, %v, want %.20q", value, err, c.want)
			}
			if after := tree(t, filepath.Dir(path)); after != before {
				t.Errorf("the folder changed\n%s\n%s", before, after)
			}
		})
	}
}

// TestValueOfWritten: what lies in a log counts, and a file that has just been
// written to is left to SQLite.
func TestValueOfWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c, _ := session(t, path)
	exec(t, c, "PRAGMA journal_mode=WAL")
	exec(t, c, keyed)
	exec(t, c, "INSERT INTO meta VALUES('0','old')")
	exec(t, c, "PRAGMA wal_checkpoint(TRUNCATE)")
	exec(t, c, "UPDATE meta SET value='new'")
	aged(t, path)
	if v, err := Value(t.Context(), path, "meta", "0", Options{}); string(v) != "new" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	fresh := build(t, filepath.Join(t.TempDir(), "b.db"), keyed)
	if _, ok := glimpse(fresh, "meta", "0"); ok {
		t.Error("a file was trusted whose clock cannot tell a change yet")
	}
}

func TestValueErrors(t *testing.T) {
	dir := t.TempDir()
	path := aged(t, build(t, filepath.Join(dir, "a.db"), "CREATE TABLE other(a,b)"))
	if _, err := Value(t.Context(), path, "meta", "0", Options{}); err == nil || !strings.Contains(err.Error(), "no such table: meta") {
		t.Errorf("got %v", err)
	}
	if _, err := Value(t.Context(), filepath.Join(dir, "none.db"), "meta", "0", Options{}); err == nil {
		t.Error("a file that is not there has a value")
	}
}

// TestCount: groups are counted by all of their columns.
func TestCount(t *testing.T) {
	path := build(t, filepath.Join(t.TempDir(), "a.db"), "CREATE TABLE runs(id, agent TEXT, status TEXT)",
		"INSERT INTO runs VALUES(1,'a','x'),(2,'a','x'),(3,'b','x'),(4,'b',NULL),(5,'b','y')")
	got := map[string]int64{}
	db := open(t, path, Options{})
	err := db.Count(t.Context(), Table{Name: "runs", Columns: []string{"agent", "status"}}, func(of []string, n int64) {
		got[strings.Join(of, "/")] = n
	})
	if want := map[string]int64{"a/x": 2, "b/x": 1, "b/": 1, "b/y": 1}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for _, wrong := range []Table{{Name: "none"}, {Name: "runs", Columns: []string{"nothing"}}} {
		if err := db.Count(t.Context(), wrong, func([]string, int64) {}); err == nil || !slices.Contains([]string{"none", "nothing"}, about(err)) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}

// about is the name that an error is about.
func about(err error) string {
	words := strings.FieldsFunc(err.Error(), func(r rune) bool { return strings.ContainsRune(` "():`, r) })
	for _, w := range words {
		if w == "none" || w == "nothing" {
			return w
		}
	}
	return ""
}

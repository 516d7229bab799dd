package sqlitefile

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
)

// A column of type ANY keeps text that looks like a number, if the table is STRICT.
func TestStrictAny(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	build(t, path, "CREATE TABLE t(a ANY, b INT) STRICT", "INSERT INTO t VALUES('12', 1), (1.0, 2)")
	if rows, flaws := seenBy(t, path); len(rows) != 2 || len(flaws) > 0 {
		t.Errorf("%q, %q", rows, flaws)
	}
}

// seenBy is everything that a walk over a database gives, as text.
func seenBy(t testing.TB, path string) (rows []string, flaws []string) {
	t.Helper()
	m, err := OpenImage(t.Context(), path, Options{Known: &Known{}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	return walkedRows(t, m)
}

func walkedRows(t testing.TB, m *Image) (rows []string, flaws []string) {
	s, err := m.Look(t.Context(), Look{Whole: true, Found: func(f sqlitepages.Flaw) { flaws = append(flaws, f.String()) },
		Rows: func(p *PlanTable) (func(*sqlitepages.Row) error, error) {
			return func(r *sqlitepages.Row) error {
				line := fmt.Sprintf("%s#%d", p.Name, r.RowID)
				for i := range p.Columns {
					line += " " + spelled(p.Value(r, i))
				}
				rows = append(rows, line)
				return nil
			}, nil
		}})
	if err != nil || !s.Sound {
		t.Fatal(err, flaws)
	}
	return rows, flaws
}

func spelled(c store.Cell) string {
	switch c.Class {
	case store.Int:
		return fmt.Sprint(c.Int())
	case store.Real:
		return fmt.Sprint(c.Real())
	}
	return fmt.Sprintf("%s%q", c.Class, c.Bytes())
}

// scanned is the same by way of SQLite.
func scanned(t testing.TB, path string) (rows []string) {
	t.Helper()
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range db.Tables() {
		for b, err := range db.Scan(t.Context(), 0, table) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Rows() {
				line := fmt.Sprintf("%s#%d", table.Name, b.RowID(i))
				for col := range b.Width() {
					line += " " + spelled(b.Cell(i, col))
				}
				rows = append(rows, line)
			}
			b.Release()
		}
	}
	return rows
}

func filled(t testing.TB, path string, more ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range append(more,
		"CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)",
		"WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<300) INSERT INTO blobs SELECT 'é'||i, zeroblob(i*i) FROM s",
		"CREATE TABLE cells (a, b, c, d)",
		"INSERT INTO cells VALUES (NULL, 1, -1, 1.5), (127, 128, -129, 8388608), (2147483648, 140737488355328, -9223372036854775808, 0), ('', x'', 'x', x'00ff')",
	) {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
}

// TestImageSeesWhatSQLiteSees: in files at rest, in use, and in UTF-16.
func TestImageSeesWhatSQLiteSees(t *testing.T) {
	dir := t.TempDir()
	for name, first := range map[string]string{
		"plain": "PRAGMA page_size=1024", "large": "PRAGMA page_size=65536", "wide": "PRAGMA encoding='UTF-16be'", "old": "PRAGMA auto_vacuum=1",
	} {
		path := filepath.Join(dir, name+".db")
		filled(t, path, first)
		alike(t, name, path)
	}
	path := filepath.Join(dir, "hot.db")
	filled(t, path)
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("DELETE FROM blobs WHERE rowid%3=1"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		t.Fatal("the log is empty", err)
	}
	alike(t, "hot", path)
	m, err := OpenImage(t.Context(), path, Options{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if rows, _ := walkedRows(t, m); strings.Join(rows, "\n") != strings.Join(scanned(t, path), "\n") {
		t.Errorf("live: %d rows, which differ", len(rows))
	}
}

// TestHostileHeaderOfAFileInUse: the count of pages in a header is believed no
// further than the file goes, whatever lies in its log.
func TestHostileHeaderOfAFileInUse(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made.db")
	c, _ := session(t, made)
	for _, s := range []string{"PRAGMA journal_mode=WAL", "CREATE TABLE t(a)", "INSERT INTO t VALUES (zeroblob(10000))", "PRAGMA wal_checkpoint(TRUNCATE)", "UPDATE t SET a=zeroblob(9999)"} {
		exec(t, c, s)
	}
	path := filepath.Join(t.TempDir(), "x.db")
	copyAway(t, made, path, "-wal")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(b[28:], "\xff\xff\xff\xff")
	b[95] ^= 1 // the count is out of date, so SQLite takes no notice of it
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, live := range []bool{false, true} {
		m, err := OpenImage(t.Context(), path, Options{Live: live})
		if err != nil {
			t.Fatal(err)
		}
		if !m.Hot || m.Pages > 16 {
			t.Errorf("in use %v, %d pages", m.Hot, m.Pages)
		}
		if _, err := m.Look(t.Context(), Look{Whole: true, Found: func(sqlitepages.Flaw) {}}); err != nil {
			t.Error(err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func alike(t *testing.T, name, path string) {
	t.Helper()
	got, flaws := seenBy(t, path)
	want := scanned(t, path)
	if len(flaws) > 0 {
		t.Errorf("%s: %q", name, flaws)
	}
	short := func(list []string) string { return strings.Join(list, "\n") }
	// A table whose rows have a key of their own tells no row ids in a scan.
	if short(got) != short(want) {
		t.Errorf("%s: %d rows, want %d; they differ", name, len(got), len(want))
	}
}

// TestLongRows: what is not held is poured, and is the same.
func TestLongRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.db")
	filled(t, path, "CREATE TABLE long (a TEXT, b BLOB, c TEXT)")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), (sqlitepages.MaxRecord+100)/16)
	if _, err := db.Exec("INSERT INTO long VALUES ('front', ?, 'behind')", big); err != nil {
		t.Fatal(err)
	}
	db.Close()
	m, err := OpenImage(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	n := 0
	check := func(r *sqlitepages.Row) error {
		n++
		var b, c bytes.Buffer
		if err := r.Pour(1, &b); err != nil {
			return err
		}
		if err := r.Pour(2, &c); err != nil {
			return err
		}
		if !r.Long || string(r.Cell(0).Bytes()) != "front" || !bytes.Equal(b.Bytes(), big) || c.String() != "behind" || r.Cell(1).Class != store.Null || r.Class(1) != store.Blob {
			t.Errorf("long %v, %q, %d bytes, %q, %v", r.Long, r.Cell(0).Bytes(), b.Len(), c.String(), r.Cell(1).Class)
		}
		return nil
	}
	s, err := m.Look(t.Context(), Look{Whole: true, Found: func(f sqlitepages.Flaw) { t.Error(f) }, Rows: func(p *PlanTable) (func(*sqlitepages.Row) error, error) {
		if p.Name != "long" {
			return nil, nil
		}
		return check, nil
	}})
	if err != nil || !s.Sound || n != 1 {
		t.Error(err, n)
	}
}

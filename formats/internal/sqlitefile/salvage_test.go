package sqlitefile

import (
	"bytes"
	"database/sql"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRebuildLosesNothing: a database without damage has the same rows afterwards, and no
// log.
func TestRebuildLosesNothing(t *testing.T) {
	dir := t.TempDir()
	paths := []string{
		build(t, filepath.Join(dir, "altered.db"), "CREATE TABLE old(a, b TEXT)", "INSERT INTO old VALUES(1,'x')", "ALTER TABLE old ADD COLUMN c DEFAULT 'later'", "INSERT INTO old VALUES(2,'y','z')"),
		build(t, filepath.Join(dir, "keyed.db"), "CREATE TABLE t(i INT PRIMARY KEY, a ANY) STRICT, WITHOUT ROWID", "INSERT INTO t VALUES(1,'12'),(2,1.0),(3,x'')"),
		build(t, filepath.Join(dir, "auto.db"), "CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, v)", "INSERT INTO a(v) VALUES(1),(2)", "CREATE TRIGGER tr AFTER INSERT ON a BEGIN DELETE FROM a; END"),
		build(t, filepath.Join(dir, "long.db"), "CREATE TABLE t(a)", "INSERT INTO t VALUES(zeroblob(26000000)),('x')"),
	}
	for _, encoding := range []string{"UTF-8", "UTF-16be"} {
		paths = append(paths, oddities(t, filepath.Join(dir, encoding+".db"), encoding, rand.New(rand.NewPCG(1, 3))))
	}
	hot := filepath.Join(dir, "hot.db")
	filled(t, hot)
	db, err := sql.Open("sqlite", "file:"+hot+"?_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("DELETE FROM blobs WHERE rowid%3=1"); err != nil {
		t.Fatal(err)
	}
	copyAway(t, hot, filepath.Join(dir, "copy.db"), "-wal")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(paths, filepath.Join(dir, "copy.db")) {
		before := scanned(t, path)
		s, err := Rebuild(t.Context(), path, true)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
			continue
		}
		if after := scanned(t, path); !slices.Equal(before, after) || len(s.Lost) > 0 {
			t.Errorf("%s: %d rows, %d before; lost %q", filepath.Base(path), len(after), len(before), s.Lost)
		}
		if _, err := os.Lstat(path + "-wal"); err == nil {
			t.Errorf("%s: its log is still there", filepath.Base(path))
		}
	}
}

// TestRebuildGoesOn: of a database with damage, every row that can be read is kept, and
// what is lost is named.
func TestRebuildGoesOn(t *testing.T) {
	dir := t.TempDir()
	sound := filepath.Join(dir, "sound.db")
	filled(t, sound, "PRAGMA page_size=4096")
	all, whole := scanned(t, sound), mustRead(t, sound)
	for name, c := range map[string]struct {
		damage func(b []byte) []byte
		least  int // rows that are kept
		lost   string
	}{
		"type of a leaf":    {func(b []byte) []byte { return leaf(b, 0, func(page []byte) { page[0] = 0 }) }, len(all), ""},
		"a cell":            {func(b []byte) []byte { return leaf(b, 0, func(page []byte) { page[8], page[9] = 0, 1 }) }, len(all) - 1, "outside the page"},
		"too many cells":    {func(b []byte) []byte { return leaf(b, 0, func(page []byte) { page[3], page[4] = 0xff, 0xff }) }, len(all) - 250, "outside the page"},
		"a page of nothing": {func(b []byte) []byte { return leaf(b, 1, func(page []byte) { clear(page) }) }, len(all) - 250, "not a page of a table"},
		"cut off":           {func(b []byte) []byte { return b[:len(b)/2+100] }, 1, "not a page of a table"},
		"longer":            {func(b []byte) []byte { return append(b, "more"...) }, len(all), ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".db")
			if err := os.WriteFile(path, c.damage(bytes.Clone(whole)), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := SetSize(path); err != nil {
				t.Fatal(err)
			}
			s, err := Rebuild(t.Context(), path, false)
			if err != nil {
				t.Fatal(err)
			}
			rows := scanned(t, path)
			for _, row := range rows {
				if !slices.Contains(all, row) {
					t.Errorf("made up: %.80q", row)
				}
			}
			if len(rows) < c.least || (len(s.Lost) > 0) != (c.lost != "") || !strings.Contains(strings.Join(s.Lost, "\n"), c.lost) {
				t.Errorf("%d rows of %d, want %d; lost %q, want %q", len(rows), len(all), c.least, s.Lost, c.lost)
			}
		})
	}
}

// TestRebuildWithoutRoot: rows are found although the pages above them are lost, deleted
// ones are not, and rows that no table can claim are reported.
func TestRebuildWithoutRoot(t *testing.T) {
	const rows = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<600) INSERT INTO "
	inner := func(b []byte, change func(page []byte)) {
		for at := 4096; at < len(b); at += 4096 {
			if b[at] == 0x05 {
				change(b[at : at+4096])
			}
		}
	}
	wipe := func(b []byte) { inner(b, func(page []byte) { clear(page) }) }
	short := []string{"CREATE TABLE t(a, b)", rows + "t SELECT i, hex(zeroblob(60)) FROM n", "ALTER TABLE t ADD COLUMN c DEFAULT 7"}
	for name, c := range map[string]struct {
		sql    []string
		damage func(b []byte)
		want   int
		lost   string
	}{
		"root":         {[]string{"CREATE TABLE t(a, b)", rows + "t SELECT i, hex(zeroblob(60)) FROM n"}, wipe, 600, "not a page of a table"},
		"deleted":      {[]string{"CREATE TABLE t(a, b)", rows + "t SELECT i, hex(zeroblob(60)) FROM n", "DELETE FROM t WHERE a>=200 AND a<500"}, wipe, 299, "not a page of a table"},
		"two alike":    {[]string{"CREATE TABLE t(a, b)", "CREATE TABLE u(a, b)", rows + "t SELECT i, hex(zeroblob(60)) FROM n", rows + "u SELECT i, hex(zeroblob(60)) FROM n"}, wipe, 0, "only the damaged ones refer to"},
		"two":          {[]string{"CREATE TABLE t(a, b)", "CREATE TABLE u(a, b, c)", rows + "t SELECT i, hex(zeroblob(60)) FROM n", rows + "u SELECT i, hex(zeroblob(60)), 1 FROM n"}, wipe, 1200, "not a page of a table"},
		"bad free":     {[]string{"CREATE TABLE t(a, b)", rows + "t SELECT i, hex(zeroblob(60)) FROM n", "DELETE FROM t WHERE a>=200 AND a<500"}, func(b []byte) { wipe(b); b[39]++ }, 0, "only the damaged ones refer to"},
		"column added": {short, wipe, 0, "its rows are not like those"},
		"wrong keys": {short, func(b []byte) {
			inner(b, func(page []byte) { // SQLite finds few rows
				for i := range int(page[4]) {
					at := int(page[12+2*i])<<8 | int(page[13+2*i])
					if page[at+4] >= 0x80 {
						page[at+4], page[at+5] = 0x80, 0x01
					}
				}
			})
		}, 1, "the table's tree does not lead to it"},
	} {
		t.Run(name, func(t *testing.T) {
			path := build(t, filepath.Join(t.TempDir(), "x.db"), append([]string{"PRAGMA page_size=4096"}, c.sql...)...)
			before := map[string]bool{}
			for _, row := range scanned(t, path) {
				before[row] = true
			}
			b := mustRead(t, path)
			c.damage(b)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Rebuild(t.Context(), path, false)
			if err != nil {
				t.Fatal(err)
			}
			after := scanned(t, path)
			for _, row := range after {
				if !before[row] {
					t.Fatalf("made up: %.80q", row)
				}
			}
			if len(after) < c.want || c.want == 0 && len(after) > 0 || !strings.Contains(strings.Join(s.Lost, "\n"), c.lost) {
				t.Errorf("%d rows of %d, want %d; lost %.300q, want %q", len(after), len(before), c.want, s.Lost, c.lost)
			}
		})
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// leaf changes the nth leaf of a table that has more than two cells.
func leaf(b []byte, n int, change func(page []byte)) []byte {
	for at := 4096; at < len(b); at += 4096 {
		if page := b[at : at+4096]; page[0] == 0x0d && page[3] == 0 && page[4] > 2 {
			if n == 0 {
				change(page)
				return b
			}
			n--
		}
	}
	panic("no such leaf")
}

// TestSetSizeUndo: a file that was made longer becomes what it was.
func TestSetSizeUndo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	filled(t, path)
	b := mustRead(t, path)
	b = b[:len(b)-5000]
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	longer, undo, err := SetSize(path)
	if longer || err != nil || bytes.Equal(b, mustRead(t, path)) {
		t.Fatalf("%t, %v", longer, err)
	}
	if err := undo(); err != nil || !bytes.Equal(b, mustRead(t, path)) {
		t.Errorf("%v", err)
	}
}

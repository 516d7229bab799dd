package sqlitefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/internal/sqlitepages"
)

// onePath makes a file in which every inner page of a tree has the same child as
// often as it can: a few pages stand for millions of rows.
func onePath(t *testing.T, levels int) string {
	t.Helper()
	path := build(t, filepath.Join(t.TempDir(), "x.db"), "PRAGMA page_size=512", "CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID",
		"INSERT INTO t WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<500) SELECT i FROM s")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	root := b[512:1024]
	if root[0] != sqlitepages.InnerIndex {
		t.Fatal("the tree has one page only")
	}
	leaf := b[(int(binary.BigEndian.Uint32(root[8:]))-1)*512:][:512]
	out := append([]byte{}, b[:512]...)
	for n := range levels {
		page := append([]byte{}, root...)
		next := uint32(n + 3)
		binary.BigEndian.PutUint32(page[8:], next)
		for i := range int(binary.BigEndian.Uint16(page[3:])) {
			binary.BigEndian.PutUint32(page[binary.BigEndian.Uint16(page[12+2*i:]):], next)
		}
		out = append(out, page...)
	}
	out = append(out, leaf...)
	binary.BigEndian.PutUint32(out[28:], uint32(levels+2))
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return aged(t, path)
}

// oneChain makes a file whose rows each say that they go on for 32 pages, which
// are the same ones.
func oneChain(t *testing.T, rows int) string {
	t.Helper()
	const local, rest = 39, 508
	path := build(t, filepath.Join(t.TempDir(), "x.db"), "PRAGMA page_size=512", "CREATE TABLE t(a)",
		fmt.Sprintf("INSERT INTO t WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<%d) SELECT zeroblob(%d) FROM s", rows, local+rest-3))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := &Image{source: &source{path: path}, File: &sqlitepages.File{Whole: b}}
	if err := m.measure(b, int64(len(b))); err != nil {
		t.Fatal(err)
	}
	var chain []uint32
	for n := uint32(2); n <= m.Pages; n++ {
		page, _ := m.View(n)
		if page[0] != sqlitepages.LeafTable {
			continue
		}
		for i := range int(binary.BigEndian.Uint16(page[3:])) {
			at := int(binary.BigEndian.Uint16(page[8+2*i:]))
			c, ok := m.LeafCell(page, at)
			if !ok || c.Local != local {
				t.Fatalf("row %d has %d bytes on its page", c.RowID, c.Local)
			}
			over := c.Payload[local:]
			if chain = append(chain, binary.BigEndian.Uint32(over)); len(chain) <= 32 && len(chain) > 1 {
				before, _ := m.View(chain[len(chain)-2])
				binary.BigEndian.PutUint32(before, chain[len(chain)-1])
			}
			binary.BigEndian.PutUint32(over, chain[0])
			size := local + 32*rest
			copy(page[at:], []byte{byte(size>>7) | 0x80, byte(size) & 0x7f})
			kind := 12 + 2*(size-4)
			copy(c.Payload, []byte{4, byte(kind>>14) | 0x80, byte(kind>>7) | 0x80, byte(kind) & 0x7f})
		}
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return aged(t, path)
}

// oneRoot makes a file in which many tables have the same pages.
func oneRoot(t *testing.T, n int) string {
	t.Helper()
	numbers := fmt.Sprintf("WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<%d) ", n)
	return aged(t, build(t, filepath.Join(t.TempDir(), "x.db"), "CREATE TABLE t(a)", "INSERT INTO t "+numbers+"SELECT zeroblob(300) FROM s", "PRAGMA writable_schema=ON",
		"INSERT INTO sqlite_schema "+numbers+"SELECT 'table','t'||i,'t'||i,2,'CREATE TABLE t'||i||'(a)' FROM s"))
}

// given is how many rows and bytes scans of all tables give before they end.
func given(t *testing.T, path string) (rows, bytes int, failed error) {
	t.Helper()
	db := open(t, path, Options{})
	for _, table := range db.Tables() {
		for b, err := range db.Scan(t.Context(), 0, table) {
			if err != nil {
				failed = errors.Join(failed, err)
				break
			}
			rows, bytes = rows+b.Rows(), bytes+b.Size()
			b.Release()
		}
	}
	return rows, bytes, failed
}

// TestSharedPages: however many rows or tables share pages, what scans give is
// in proportion to the file, and the walk finds it at once.
func TestSharedPages(t *testing.T) {
	for name, paths := range map[string][]string{
		"children": {onePath(t, 3), onePath(t, 12)},
		"overflow": {oneChain(t, 300), oneChain(t, 2400)},
		"roots":    {oneRoot(t, 150), oneRoot(t, 1200)},
	} {
		for i, path := range paths {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			rows, bytes, failed := given(t, path)
			most := int(2*info.Size()+allowance) + 2<<20 // and a batch
			if failed == nil && i == 1 || rows*leastRow > most || bytes-freeOfRow*rows > most {
				t.Errorf("%s: %d rows, %d bytes of %d, %v", name, rows, bytes, info.Size(), failed)
			}
			m, err := OpenImage(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			flaws := 0
			if s, err := m.Look(t.Context(), Look{Whole: true, Found: func(sqlitepages.Flaw) { flaws++ }}); err != nil || s.Sound || flaws == 0 {
				t.Errorf("%s: the walk finds %d flaws, %v", name, flaws, err)
			}
			m.Close()
		}
	}
}

// TestHonestRowsAreGiven: values that are not in the file, defaults of a later
// column, and texts in another encoding are no reason to stop.
func TestHonestRowsAreGiven(t *testing.T) {
	path := build(t, filepath.Join(t.TempDir(), "x.db"), "PRAGMA encoding='UTF-16le'", "CREATE TABLE t(a)",
		"INSERT INTO t WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<50000) SELECT NULL FROM s",
		"ALTER TABLE t ADD COLUMN b TEXT DEFAULT 'a default that is longer than the rows in which it is missing'",
		"INSERT INTO t WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<200) SELECT replace(hex(zeroblob(10000)),'0','漢'), 1 FROM s")
	if rows, _, err := given(t, path); err != nil || rows != 50200 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// steps is how many a walk over a file takes, and how many bytes that has.
func steps(t *testing.T, path string) (steps, bytes int64, flaws int) {
	t.Helper()
	m, err := OpenImage(t.Context(), aged(t, path), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s, err := m.Look(t.Context(), Look{Whole: true, Found: func(sqlitepages.Flaw) { flaws++ }})
	if err != nil {
		t.Fatal(err)
	}
	return s.Steps, m.Bytes, flaws
}

// TestStepsOfHostileFiles: however a file is made, a walk over it takes steps in
// proportion to its bytes.
func TestStepsOfHostileFiles(t *testing.T) {
	dir := t.TempDir()
	for name, make := range map[string]func(path string, n int) (sound bool){
		"many tables": func(path string, n int) bool {
			list := []string{"PRAGMA page_size=512", "BEGIN"}
			for i := range 20 * n {
				list = append(list, fmt.Sprintf("CREATE TABLE t%d(a UNIQUE)", i), fmt.Sprintf("INSERT INTO t%d VALUES(%d)", i, i))
			}
			build(t, path, append(list, "COMMIT")...)
			return true
		},
		"indexes without entries": func(path string, n int) bool {
			list := []string{"PRAGMA page_size=512", "CREATE TABLE t(a)"}
			for i := range 40 * n {
				list = append(list, fmt.Sprintf("CREATE INDEX i%d ON t(a)", i))
			}
			build(t, path, list...)
			unindexed(t, path, fmt.Sprintf("INSERT INTO t WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<%d) SELECT i FROM s", 4000*n))
			return false
		},
		"indexes of one long text": func(path string, n int) bool {
			list := []string{"PRAGMA page_size=512", "CREATE TABLE t(a)"}
			for i := range 40 * n {
				list = append(list, fmt.Sprintf("CREATE INDEX i%d ON t(a)", i))
			}
			build(t, path, list...)
			unindexed(t, path, fmt.Sprintf("INSERT INTO t VALUES (hex(zeroblob(%d)))", 50_000*n))
			return false
		},
		"conditions that no row meets": func(path string, n int) bool {
			list := []string{"PRAGMA page_size=512", "CREATE TABLE t(a, b)"}
			for i := range 40 * n {
				list = append(list, fmt.Sprintf("CREATE INDEX i%d ON t(a) WHERE b IS NOT NULL", i))
			}
			build(t, path, append(list, fmt.Sprintf("INSERT INTO t WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<%d) SELECT i, NULL FROM s", 1000*n))...)
			return true
		},
		"pages that are shared": func(path string, n int) bool {
			return os.Rename(onePath(t, min(n, 15)), path) != nil
		},
		"one chain": func(path string, n int) bool {
			return os.Rename(oneChain(t, 100*n), path) != nil
		},
		"a list of unused pages in a ring": func(path string, n int) bool {
			build(t, path, "PRAGMA page_size=512", "CREATE TABLE t(a)", fmt.Sprintf("INSERT INTO t VALUES (zeroblob(%d))", 512*300*n), "DELETE FROM t")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			first := binary.BigEndian.Uint32(b[32:])
			second := binary.BigEndian.Uint32(b[(first-1)*512:])
			binary.BigEndian.PutUint32(b[(second-1)*512:], first)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			return false
		},
	} {
		for _, n := range []int{1, 8} {
			path := filepath.Join(dir, fmt.Sprintf("%s %d.db", name, n))
			sound := make(path, n)
			if took, bytes, flaws := steps(t, path); took > bytes/2 || (flaws == 0) != sound {
				t.Errorf("%s, %d: %d steps for %d bytes, %d flaws", name, n, took, bytes, flaws)
			}
		}
	}
}

// unindexed runs a statement behind the back of all indexes.
func unindexed(t *testing.T, path, statement string) {
	t.Helper()
	c, end := session(t, path)
	defer end()
	for _, s := range []string{"CREATE TEMP TABLE kept AS SELECT type, name, tbl_name, rootpage, sql FROM main.sqlite_schema WHERE type='index'",
		"PRAGMA writable_schema=ON", "DELETE FROM main.sqlite_schema WHERE type='index'", "PRAGMA writable_schema=RESET", statement,
		"PRAGMA writable_schema=ON", "INSERT INTO main.sqlite_schema SELECT * FROM kept"} {
		exec(t, c, s)
	}
}

// TestHugeHole: a file that is nearly all hole, and says that all of it is pages,
// takes no memory for them.
func TestHugeHole(t *testing.T) {
	path := build(t, filepath.Join(t.TempDir(), "x.db"), "PRAGMA page_size=512", "CREATE TABLE t(a)")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[95] ^= 1 // the count of pages is out of date
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 512*(mostPages+1)); err != nil {
		t.Logf("no holes here: %v", err)
		return
	}
	m, err := OpenImage(t.Context(), aged(t, path), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Look(t.Context(), Look{Whole: true}); err == nil || !strings.Contains(err.Error(), "pages, max") {
		t.Errorf("got %v", err)
	}
}

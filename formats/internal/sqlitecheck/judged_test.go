package sqlitecheck_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sqlitecheck"
	"rehome/formats/rule"
)

// asked examines a file and gives the ids of what was found.
func asked(t testing.TB, path string) (ids map[string]int, says []string) {
	t.Helper()
	ids, says, _ = remarked(t, path)
	return ids, says
}

// remarked is asked, and whether something was said not to be compared.
func remarked(t testing.TB, path string) (ids map[string]int, says []string, spared bool) {
	t.Helper()
	var mu sync.Mutex
	ids = map[string]int{}
	q := &rule.Pass{Layers: rule.Container | rule.Schema, Report: func(f rule.Finding) {
		mu.Lock()
		defer mu.Unlock()
		ids[f.Rule]++
		says = append(says, f.Rule+" "+f.At.String()+": "+f.Text())
	}}
	f, err := sqlitecheck.Examine(context.Background(), path, "", formats.View{OnNotice: func(s string) {
		spared = spared || strings.Contains(s, "not checked")
	}}, q, sqlitecheck.Known{}, nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if f != nil {
		_, err := f.SQL(context.Background())
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return ids, says, spared
}

// opinion is SQLite's own.
func opinion(t testing.TB, path string) string {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("PRAGMA integrity_check")
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return err.Error()
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		return err.Error()
	}
	return strings.Join(out, "\n")
}

func TestGenuineFiles(t *testing.T) {
	n := 0
	err := filepath.WalkDir("../../../testdata", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".db" || strings.Contains(path, "faults") {
			return err
		}
		n++
		if ids, says := asked(t, path); len(ids) > 0 {
			t.Errorf("%s: %v", path, says)
		}
		return nil
	})
	if err != nil || n < 8 {
		t.Fatalf("%d files: %v", n, err)
	}
}

func execute(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// made is a database of many kinds of tables, indexes and values, from a seed.
func made(t testing.TB, dir string, seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	path := filepath.Join(dir, fmt.Sprintf("%d.db", seed))
	list := []string{
		fmt.Sprintf("PRAGMA page_size=%d", 512<<rng.IntN(8)),
		fmt.Sprintf("PRAGMA auto_vacuum=%d", max(0, rng.IntN(6)-3)),
		"PRAGMA synchronous=OFF", "PRAGMA journal_mode=MEMORY",
		"CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)",
		"CREATE TABLE k (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
		"CREATE TABLE n (a INTEGER PRIMARY KEY, b REAL, c NUMERIC NOT NULL, d)",
		"CREATE INDEX n_b ON n(b)", "CREATE INDEX n_c ON n(c, d DESC)", "CREATE INDEX n_d ON n(d) WHERE d IS NOT NULL",
		"CREATE TABLE w (x TEXT, y INTEGER, z, PRIMARY KEY(y, x)) WITHOUT ROWID",
	}
	if rng.IntN(3) == 0 {
		list = append(list, "PRAGMA encoding='UTF-16le'")
		list[0], list[len(list)-1] = list[len(list)-1], list[0]
	}
	if rng.IntN(2) == 0 {
		list = append(list, "CREATE INDEX n_x ON n(abs(c))", "CREATE TABLE ck (a TEXT COLLATE NOCASE UNIQUE, b CHECK (b > 0))", "CREATE INDEX w_z ON w(z)")
	}
	rows := 1 + rng.IntN(300)
	list = append(list,
		fmt.Sprintf("WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<%d) INSERT INTO blobs SELECT hex(randomblob(32)), randomblob(abs(random())%%%d) FROM s", rows, 1+rng.IntN(20000)),
		fmt.Sprintf("WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<%d) INSERT INTO k SELECT 'key:'||(i*7919%%%d)||char(0)||i, hex(randomblob(i)) FROM s", rows, rows),
		fmt.Sprintf("WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<%d) INSERT INTO n SELECT i*3, i*1.5, CASE i%%4 WHEN 0 THEN i WHEN 1 THEN i*1e18 WHEN 2 THEN 'text'||i ELSE -i END, CASE i%%3 WHEN 0 THEN NULL WHEN 1 THEN x'00'||i ELSE i*1.0 END FROM s", rows),
		fmt.Sprintf("WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<%d) INSERT INTO w SELECT 'x'||i, i%%17, randomblob(i) FROM s", rows),
	)
	if rng.IntN(2) == 0 {
		list = append(list, "DELETE FROM blobs WHERE rowid%3=0", "DELETE FROM k WHERE rowid%2=0", "UPDATE n SET d='a longer text than before, by far' WHERE a%2=0", "DELETE FROM w WHERE y%5=0")
	}
	if rng.IntN(3) == 0 {
		list = append(list, "ALTER TABLE n ADD COLUMN e TEXT DEFAULT 'later'", "CREATE INDEX n_e ON n(e)", "INSERT INTO n(a,c) VALUES (100000, 1)")
	}
	execute(t, path, list...)
	return path
}

// TestSoundFiles: whatever SQLite makes is sound.
func TestSoundFiles(t *testing.T) {
	dir := t.TempDir()
	for seed := range uint64(40) {
		path := made(t, dir, seed)
		ids, says := asked(t, path)
		delete(ids, "RH117") // is UTF-16
		if len(ids) > 0 {
			t.Errorf("seed %d: %v; SQLite says %s", seed, says, opinion(t, path))
		}
	}
}

// TestKeyOrder: a table without row ids is its own index, in the order of its key.
func TestKeyOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "order.db")
	execute(t, path, "CREATE TABLE w (x TEXT PRIMARY KEY, y) WITHOUT ROWID", "INSERT INTO w VALUES ('first', 1), ('other', 2)")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), "first", "worst", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if ids, _ := asked(t, path); ids["RH110"] == 0 {
		t.Errorf("%v; SQLite says %s", ids, opinion(t, path))
	}
}

// TestDamagedFiles: what SQLite calls damaged we do, too, wherever the bytes
// were changed, unless it was said that a part was not checked; and nothing
// panics.
func TestDamagedFiles(t *testing.T) {
	dir := t.TempDir()
	missed, found := 0, 0
	for seed := range uint64(8) {
		good, err := os.ReadFile(made(t, dir, seed))
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, 2))
		path := filepath.Join(dir, "bad.db")
		for range 30 {
			bad := append([]byte(nil), good...)
			for range 1 + rng.IntN(3) {
				at := 100 + rng.IntN(len(bad)-100)
				if rng.IntN(2) == 0 { // where a page begins it says most of itself
					at = max(100, at/512*512+rng.IntN(16))
				}
				bad[at] = byte(rng.Uint32())
			}
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			ids, _, spared := remarked(t, path)
			switch said := opinion(t, path); {
			case said != "ok" && len(ids) > 0:
				found++
			case said != "ok" && !spared:
				missed++
				t.Logf("seed %d: not seen: %s", seed, said)
			}
		}
	}
	if found < 20 || missed > 0 {
		t.Errorf("%d damages were found, %d were not", found, missed)
	}
}

package sqlitefile

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/store"
)

// session opens a database for writing, as a client would.
func session(t *testing.T, path string) (*sql.Conn, func()) {
	t.Helper()
	pool, err := sql.Open("sqlite", uri(path, "mode=rwc"))
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	c, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exec(t, c, "PRAGMA synchronous=OFF")
	end := func() { c.Close(); pool.Close() }
	t.Cleanup(end)
	return c, end
}

func exec(t *testing.T, c *sql.Conn, query string, args ...any) {
	t.Helper()
	if _, err := c.ExecContext(context.Background(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// build makes a closed database.
func build(t *testing.T, path string, statements ...string) string {
	t.Helper()
	c, end := session(t, path)
	for _, s := range statements {
		exec(t, c, s)
	}
	end()
	return path
}

func open(t *testing.T, path string, o Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// tree is every name under a folder with a hash of its content.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if !e.Type().IsRegular() {
			fmt.Fprintf(&out, "%s %s\n", name, e.Type())
			return nil
		}
		b, err := os.ReadFile(name)
		fmt.Fprintf(&out, "%s %d %x\n", name, len(b), sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

type route func(*DB, context.Context, int, Table) iter.Seq2[*store.Batch, error]

// rows spells every row of a table: row id, and class, bits and bytes of each
// cell.
func rows(t *testing.T, db *DB, by route, table Table) []string {
	t.Helper()
	var out []string
	for b, err := range by(db, t.Context(), 7, table) {
		if err != nil {
			t.Fatalf("%s: %v", table.Name, err)
		}
		if b.Set != 7 {
			t.Fatalf("a batch of set %d", b.Set)
		}
		for i := range b.Rows() {
			var s strings.Builder
			fmt.Fprint(&s, b.RowID(i))
			for col := range b.Width() {
				c := b.Cell(i, col)
				fmt.Fprintf(&s, "|%s %x %x", c.Class, c.Bits(), c.Bytes())
			}
			out = append(out, s.String())
		}
		b.Release()
	}
	return out
}

func table(t *testing.T, db *DB, name string) Table {
	t.Helper()
	for _, x := range db.Tables() {
		if x.Name == name {
			return x
		}
	}
	t.Fatalf("no table %q", name)
	return Table{}
}

func count(t *testing.T, db *DB, name string) int {
	t.Helper()
	return len(rows(t, db, (*DB).Scan, table(t, db, name)))
}

// copyAway copies a database and the named side files as they are now.
func copyAway(t *testing.T, from, to string, sides ...string) {
	t.Helper()
	for _, s := range append(sides, "") {
		b, err := os.ReadFile(from + s)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+s, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// fails asserts an error that says all of the words, names the file and, unless
// told otherwise, carries a hint.
func fails(t *testing.T, err error, file string, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, w := range append(words, file) {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
	if formats.Hint(err) == "" {
		t.Errorf("error %q has no hint", err)
	}
}

package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/formats"
	"rehome/formats/store"
)

// byKey puts rows into shards by the first byte of their first cell; those with a
// digit are common.
func byKey(_ *store.Set, r store.Record) formats.Shard {
	key := fmt.Sprintf("%s%d ", r.Cell(0).Bytes(), r.Cell(0).Bits())
	return formats.Shard{Name: key[:1], Common: key[0] < 'a'}
}

func anyTable() Shape { return Shape{Origin: AnyDatabase, Single: true} }

// client is a database that a client has open.
func client(t *testing.T, statements ...string) (path string, run func(...string)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.db")
	pool, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { pool.Close() })
	run = func(statements ...string) {
		t.Helper()
		for _, s := range statements {
			if _, err := pool.Exec(s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
	run(statements...)
	return path, run
}

func located(t *testing.T, path string) *formats.Location {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// rowsOf reads records as text, by set and shard.
func rowsOf(t *testing.T, r store.Reader) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for b, err := range r.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		set := &r.Schema().Sets[b.Set]
		for i := range b.Rows() {
			row := fmt.Sprint(b.RowID(i))
			for c := range b.Width() {
				cell := b.Cell(i, c)
				row += fmt.Sprintf(" %d:%x:%q", cell.Class, cell.Bits(), cell.Bytes())
			}
			at := fmt.Sprint(set.Name, " ", byKey(set, b.Record(i)))
			out[at] = append(out[at], row)
		}
		b.Release()
	}
	return out
}

func opened(t *testing.T, path string, v formats.View) map[string][]string {
	t.Helper()
	r, err := anyTable().Open(t.Context(), located(t, path), v)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return rowsOf(t, r)
}

func changedSince(t *testing.T, path string, v formats.View, mark []byte) (*formats.Changes, map[string][]string, []byte) {
	t.Helper()
	c, err := anyTable().Changes(byKey)(t.Context(), located(t, path), v, mark)
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, c)
	now, err := c.Mark()
	if err := errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
	return c, rows, now
}

func same(t *testing.T, have, want map[string][]string) {
	t.Helper()
	for _, at := range slices.Sorted(maps.Keys(want)) {
		if !slices.Equal(have[at], want[at]) {
			t.Errorf("%s:\n%s\nSQLite reads\n%s", at, strings.Join(have[at], "\n"), strings.Join(want[at], "\n"))
		}
	}
	if len(have) != len(want) {
		t.Errorf("%d shards, SQLite reads %d", len(have), len(want))
	}
}

var everyClass = []string{
	"PRAGMA journal_mode=wal",
	"CREATE TABLE kv (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
	"CREATE TABLE reals (name, r REAL, i INTEGER, t TEXT, n NUMERIC)",
	"CREATE TABLE ids (value, id INTEGER PRIMARY KEY)",
	"PRAGMA wal_checkpoint",
	"INSERT INTO kv VALUES ('a1', x'00ff'), ('b1', 'text'), ('a2', 17), ('1c', 1.5), (NULL, NULL), ('auth_token', 'k')",
	"INSERT INTO reals VALUES ('a', 3, 3, '3', 3.5), ('b', 3.25, -9223372036854775808, '', 'x'), ('c', NULL, 0, NULL, 1)",
	"INSERT INTO ids VALUES ('a', 5), ('b', -7), ('c', 0)",
	"INSERT INTO kv VALUES ('long', hex(zeroblob(20000)))",
}

// TestChangesReadAlike: rows read from pages are those that SQLite reads.
func TestChangesReadAlike(t *testing.T) {
	for name, v := range map[string]formats.View{"all": {}, "restorable": {RequireRestorable: true}, "without secrets": {Secrets: formats.WithholdSecrets}} {
		t.Run(name, func(t *testing.T) {
			path, run := client(t, everyClass...)
			if err := os.Chtimes(path, time.Unix(0, 0), time.Unix(0, 0)); err != nil { // a file that just changed may change again
				t.Fatal(err)
			}
			_, rows, mark := changedSince(t, path, v, nil)
			same(t, rows, opened(t, path, v))

			run("UPDATE kv SET value='new' WHERE key='b1'", "DELETE FROM kv WHERE key='1c'", "INSERT INTO ids VALUES ('b', 6)")
			c, rows, mark := changedSince(t, path, v, mark)
			want := opened(t, path, v)
			maps.DeleteFunc(want, func(at string, _ []string) bool { return at != "kv {b false}" && at != "ids {b false}" })
			same(t, rows, want)
			if got := fmt.Sprint(c.Shards); got != "[[{1 true} {b false}] [] [{b false}]]" {
				t.Error("changed shards", got)
			}

			if c, rows, _ := changedSince(t, path, v, mark); !c.Same || len(rows) > 0 {
				t.Errorf("without a change: %v %v", c.Same, rows)
			}
		})
	}
}

// TestNoChanges: what pages do not tell is left to SQLite.
func TestNoChanges(t *testing.T) {
	for name, statements := range map[string][]string{
		"a schema in the log":  {"PRAGMA journal_mode=wal", "CREATE TABLE a(x)"},
		"WITHOUT ROWID":        {"CREATE TABLE a(x PRIMARY KEY) WITHOUT ROWID"},
		"generated columns":    {"CREATE TABLE a(x, y AS (x+1))"},
		"UTF-16":               {"PRAGMA encoding='UTF-16'", "CREATE TABLE a(x)"},
		"a column added later": {"CREATE TABLE a(x)", "INSERT INTO a VALUES (1)", "ALTER TABLE a ADD COLUMN y DEFAULT 7"},
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := client(t, statements...)
			_, err := anyTable().Changes(byKey)(t.Context(), located(t, path), formats.View{}, nil)
			if !errors.Is(err, formats.ErrNoChanges) {
				t.Error(err)
			}
		})
	}
	path, run := client(t, "CREATE TABLE a(x)", "INSERT INTO a VALUES ('a')")
	_, _, mark := changedSince(t, path, formats.View{}, nil)
	mark[len(mark)/2] ^= 1
	changes := func(v formats.View, mark []byte) error {
		_, err := anyTable().Changes(byKey)(context.Background(), located(t, path), v, mark)
		return err
	}
	if err := changes(formats.View{}, mark); !errors.Is(err, formats.ErrNoChanges) {
		t.Error("with a damaged mark:", err)
	}
	if err := changes(formats.View{Sessions: []string{"a"}}, nil); !errors.Is(err, formats.ErrNoChanges) {
		t.Error("with a selection of sessions:", err)
	}
	mark[len(mark)/2] ^= 1
	run("ALTER TABLE a RENAME TO b")
	if err := changes(formats.View{}, mark); !errors.Is(err, formats.ErrNoChanges) {
		t.Error("with another schema:", err)
	}
}

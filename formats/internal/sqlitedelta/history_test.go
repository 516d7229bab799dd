package sqlitedelta

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
	"rehome/internal/fileid"
)

// client writes to a database as a client would.
type client struct {
	t    *testing.T
	rng  *rand.Rand
	path string
	pool *sql.DB
	wal  bool
	n    int // of keys and of names
	aged int64
	log  []string
}

func newClient(t *testing.T, seed uint64) *client {
	c := &client{t: t, rng: rand.New(rand.NewPCG(seed, 17)), path: filepath.Join(t.TempDir(), "state.vscdb")}
	c.wal = seed%4 != 3
	c.open()
	c.run(fmt.Sprintf("PRAGMA page_size=%d", []int{512, 1024, 4096}[seed%3]), fmt.Sprintf("PRAGMA auto_vacuum=%d", seed%5%3))
	if c.wal {
		c.run("PRAGMA journal_mode=wal")
	}
	c.run("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
		"CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
		"CREATE TABLE numbered (id INTEGER PRIMARY KEY, value)",
		"CREATE TABLE keyed (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
	for range 60 {
		c.step()
	}
	return c
}

// age makes the database file as old as none of its earlier states, so that a mark can
// prove by its time that it has not changed.
func (c *client) age() {
	c.t.Helper()
	c.aged++
	at := time.Unix(1_700_000_000+c.aged, 0)
	if err := os.Chtimes(c.path, at, at); err != nil {
		c.t.Fatal(err)
	}
}

// young reports whether the database file was written to since it was aged.
func (c *client) young() bool {
	c.t.Helper()
	info, err := os.Stat(c.path)
	if err != nil {
		c.t.Fatal(err)
	}
	return !fileid.Settled(info.ModTime(), time.Now())
}

func (c *client) open() {
	pool, err := sql.Open("sqlite", "file:"+filepath.ToSlash(c.path)+"?_pragma=synchronous(off)&_pragma=cache_size(10)")
	if err != nil {
		c.t.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	c.pool = pool
	c.t.Cleanup(func() { pool.Close() })
}

func (c *client) run(statements ...string) {
	c.t.Helper()
	for _, s := range statements {
		c.log = append(c.log, s)
		if _, err := c.pool.Exec(s); err != nil {
			c.t.Fatalf("%s: %v", s, err)
		}
	}
}

// size is one of a value that fits on a page or does not.
func (c *client) size() int { return []int{0, 10, 80, 400, 1500, 6000, 40000}[c.rng.IntN(7)] }

func (c *client) table() string {
	return []string{"ItemTable", "cursorDiskKV", "cursorDiskKV", "cursorDiskKV"}[c.rng.IntN(4)]
}

// some selects a few rows of a table.
func (c *client) some(table string) string {
	from := []string{"random()", "rowid", "-rowid"}[c.rng.IntN(3)]
	return fmt.Sprintf("rowid IN (SELECT rowid FROM %s ORDER BY %s LIMIT %d)", table, from, 1+c.rng.IntN(3))
}

// insert writes rows under new keys.
func (c *client) insert(table string, rows int) {
	for range rows {
		c.n++
		c.run(fmt.Sprintf("INSERT INTO %s VALUES ('k%d', randomblob(%d))", table, c.n, c.size()))
	}
}

// step does one of the things that clients do often, or that a rule could miss.
func (c *client) step() {
	table := c.table()
	switch c.rng.IntN(13) {
	case 0, 1, 2:
		c.insert(table, 1+c.rng.IntN(4))
	case 3, 4: // the editor's way to update: delete, and insert with a new row id
		c.run(fmt.Sprintf("INSERT INTO %s VALUES ('k%d', randomblob(%d))", table, 1+c.rng.IntN(c.n+1), c.size()))
	case 5: // in place, without a trace but the bytes
		c.run(fmt.Sprintf("UPDATE %s SET value=randomblob(length(value)) WHERE %s", table, c.some(table)))
	case 6:
		c.run(fmt.Sprintf("UPDATE %s SET value=randomblob(%d) WHERE %s", table, c.size(), c.some(table)))
	case 7:
		c.run(fmt.Sprintf("DELETE FROM %s WHERE %s", table, c.some(table)))
	case 8: // the largest row id is given away again, under the same key
		var key string
		if err := c.pool.QueryRow("SELECT key FROM " + table + " ORDER BY rowid DESC").Scan(&key); err == nil {
			c.run(fmt.Sprintf("DELETE FROM %s WHERE key='%s'", table, key), fmt.Sprintf("INSERT INTO %s VALUES ('%s', randomblob(%d))", table, key, c.size()))
		}
	case 9:
		c.run(fmt.Sprintf("INSERT OR REPLACE INTO numbered VALUES (%d, randomblob(%d))", c.rng.Int64N(2000)-1000, c.size()))
	case 10:
		c.run(fmt.Sprintf("UPDATE OR REPLACE numbered SET id=id/2+%d WHERE %s", c.rng.IntN(300), c.some("numbered")))
	case 12: // in place, on the last overflow page alone
		c.run(fmt.Sprintf("UPDATE %s SET value=CAST(substr(value,1,length(value)-2)||substr(hex(randomblob(2)),1,2) AS BLOB) WHERE length(value)>2 AND %s", table, c.some(table)))
	case 11: // what spilled to the log and was rolled back
		c.run("BEGIN", "UPDATE "+table+" SET value=randomblob(length(value)+900)", "ROLLBACK")
	}
}

// rare does something that the pages in the log alone do not tell.
func (c *client) rare() {
	table := c.table()
	switch c.rng.IntN(14) {
	case 0:
		c.run("VACUUM")
	case 1:
		c.run("PRAGMA incremental_vacuum")
	case 2:
		c.run("PRAGMA wal_checkpoint(PASSIVE)")
	case 3:
		c.run("PRAGMA wal_checkpoint(RESTART)")
	case 4:
		c.run("PRAGMA wal_checkpoint(TRUNCATE)")
	case 5:
		c.pool.Close()
		c.log = append(c.log, "close")
		c.open()
	case 6:
		c.n++
		c.run(fmt.Sprintf("CREATE TABLE t%d (a, b)", c.n), fmt.Sprintf("INSERT INTO t%d VALUES (1, randomblob(9000))", c.n))
	case 7:
		c.n++
		c.run(fmt.Sprintf("ALTER TABLE %s RENAME TO t%d", table, c.n), fmt.Sprintf("ALTER TABLE t%d RENAME TO %s", c.n, table))
	case 8:
		c.run(fmt.Sprintf("INSERT OR REPLACE INTO keyed VALUES (%d, randomblob(%d))", c.rng.IntN(9), c.size()))
	case 9:
		c.run("DELETE FROM " + table)
	case 10:
		c.run("PRAGMA journal_mode=delete")
		c.step()
		if c.wal {
			c.run("PRAGMA journal_mode=wal")
		}
	case 11:
		c.run(fmt.Sprintf("PRAGMA user_version=%d", c.rng.IntN(3)))
	case 12:
		c.n++
		c.run(fmt.Sprintf("CREATE INDEX i%d ON %s(value)", c.n, table))
	case 13:
		c.run(fmt.Sprintf("INSERT OR IGNORE INTO numbered VALUES (%d, 'an end of the range')", []int64{math.MinInt64, math.MaxInt64}[c.rng.IntN(2)]))
	}
}

// content is what tables hold: cells by row id.
type content map[string]map[int64]string

var tracked = []string{"ItemTable", "cursorDiskKV", "numbered"}

// full reads the database with SQLite.
func (c *client) full() content {
	c.t.Helper()
	all := content{}
	for _, table := range tracked {
		all[table] = map[int64]string{}
		key := "hex(key)"
		if table == "numbered" {
			key = "''"
		}
		rows, err := c.pool.Query("SELECT rowid, " + key + ", typeof(value), hex(value) FROM " + table)
		if err != nil {
			c.t.Fatal(err)
		}
		for rows.Next() {
			var id int64
			var key, class, value string
			if err := rows.Scan(&id, &key, &class, &value); err != nil {
				c.t.Fatal(err)
			}
			all[table][id] = key + " " + class + " " + value
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			c.t.Fatal(err)
		}
	}
	return all
}

// groupOf puts rows into a few groups, by what they hold.
func groupOf(table string, r *sqlitepages.Row) (string, error) {
	if table == "ItemTable" || table == "cursorDiskKV" {
		key := r.Cell(0).Bytes()
		return string(key[len(key)-1:]), nil
	}
	return fmt.Sprint(r.RowID % 5), nil
}

// apply changes the content as a delta says: of a changed group, all rows are
// replaced.
func (c *client) apply(ctx context.Context, to content, d *Delta) {
	c.t.Helper()
	for _, t := range d.Tables {
		if to[t.Name] == nil {
			continue
		}
		maps.DeleteFunc(to[t.Name], func(id int64, row string) bool {
			group := fmt.Sprint(id % 5)
			if t.Name != "numbered" {
				key, _, _ := strings.Cut(row, " ")
				group = key[len(key)-1:] // a digit, spelled 3x
			}
			return slices.Contains(t.Groups, group)
		})
		err := d.Rows(ctx, t.Name, t.Groups, func(r *sqlitepages.Row) error {
			key := ""
			if t.Name != "numbered" {
				key = fmt.Sprintf("%X", r.Cell(0).Bytes())
			}
			class := map[store.Class]string{store.Null: "null", store.Blob: "blob", store.Text: "text"}[r.Class(1)]
			to[t.Name][r.RowID] = fmt.Sprintf("%s %s %X", key, class, r.Cell(1).Bytes())
			return nil
		})
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *client) snapshot(ctx context.Context, m *Mark) *sqlitefile.Snapshot {
	c.t.Helper()
	s, err := sqlitefile.OpenSnapshot(ctx, c.path, m.Log())
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// take marks the present state.
func (c *client) take(ctx context.Context) *Mark {
	c.t.Helper()
	m := &Mark{}
	s := c.snapshot(ctx, m)
	d, err := m.Since(ctx, s, groupOf)
	if err := errors.Join(err, s.Close()); err != nil {
		c.t.Fatal(err)
	}
	return d.Mark
}

// TestHistories holds deltas to a full pass, over random histories of a database.
func TestHistories(t *testing.T) {
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := newClient(t, seed)
			ctx := t.Context()
			m := c.take(ctx)
			have := c.full()
			logged, scanned, full := 0, 0, 0
			defer func() { t.Log("by the log", logged, "by all pages", scanned, "full", full) }()
			for round := range 40 {
				c.log = c.log[:0]
				for range 1 + c.rng.IntN(3) {
					c.step()
				}
				if c.rng.IntN(3) == 0 {
					c.rare()
					for range c.rng.IntN(3) {
						c.step()
					}
				}
				m = recoded(t, m)
				if c.young() && c.rng.IntN(3) > 0 {
					c.age()
				}
				s := c.snapshot(ctx, m)
				d, err := m.Since(ctx, s, groupOf)
				want := c.full()
				switch {
				case errors.Is(err, ErrFullPass):
					t.Log(err)
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					m, have = c.take(ctx), want
					full++
					continue
				case err != nil:
					t.Fatal(err)
				}
				c.apply(ctx, have, d)
				for _, table := range tracked {
					if diff := differs(have[table], want[table]); diff != "" {
						t.Fatalf("round %d, %s: %s\nscanned %v, history:\n%s", round, table, diff, d.Scanned, strings.Join(c.log, "\n"))
					}
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				m = d.Mark
				if d.Scanned {
					scanned++
				} else {
					logged++
				}
			}
		})
	}
}

// recoded is a mark that was written and read again.
func recoded(t *testing.T, m *Mark) *Mark {
	t.Helper()
	b, err := m.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	out := &Mark{}
	if err := out.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	return out
}

func differs(have, want map[int64]string) string {
	for id, row := range want {
		if have[id] != row {
			return fmt.Sprintf("row %d was missed: %.80q is %.80q", id, have[id], row)
		}
	}
	for id := range have {
		if _, ok := want[id]; !ok {
			return fmt.Sprintf("row %d was deleted", id)
		}
	}
	return ""
}

package sqlitefile

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rehome/formats"
	"rehome/formats/internal/sqlitepages"
	"rehome/golden"
)

// seams lets something happen to a file between two looks at it.
type seams struct {
	n     int         // looks so far
	steps map[int]any // func() by the number of the look before which it is called
}

func (s *seams) at() {
	if f, ok := s.steps[s.n].(func()); ok {
		f()
	}
	s.n++
}

// pairs is a writer that puts the same numbers into two tables, and what a
// reader makes of them.
type pairs struct {
	path string
	c    *sql.Conn
	n    int
}

func newPairs(t *testing.T, mode string) *pairs {
	t.Helper()
	p := &pairs{path: filepath.Join(t.TempDir(), "x.db")}
	p.c, _ = session(t, p.path)
	for _, s := range []string{"PRAGMA journal_mode=" + mode, "PRAGMA cache_size=5", "CREATE TABLE a(id INTEGER PRIMARY KEY, n UNIQUE, x)", "CREATE TABLE b(id INTEGER PRIMARY KEY, n UNIQUE, x)"} {
		exec(t, p.c, s)
	}
	p.commit(t)
	return p
}

// put writes a transaction of many pages, which spill before it ends. Some lie
// behind the end of the file, some within.
func (p *pairs) put(t *testing.T) {
	p.n++
	for _, s := range halfATransaction(p.n) {
		exec(t, p.c, s)
	}
}

func halfATransaction(n int) []string {
	out := []string{"BEGIN"}
	for _, table := range []string{"a", "b"} {
		out = append(out, fmt.Sprintf("INSERT INTO %s(n, x) WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i<12) SELECT %d+i, randomblob(3000) FROM s", table, 100*n),
			"UPDATE "+table+" SET x=randomblob(2900) WHERE id%3=0")
	}
	return out
}

func (p *pairs) end(t *testing.T) { exec(t, p.c, "COMMIT") }

func (p *pairs) commit(t *testing.T) {
	p.put(t)
	p.end(t)
}

// scanned reads the file by way of SQLite: how many rows are in each table.
func (p *pairs) scanned(t *testing.T, o Options) (a, b int, err error) {
	db, err := Open(t.Context(), p.path, o)
	if err != nil {
		return 0, 0, err
	}
	counts := []int{0, 0}
	for i, name := range []string{"a", "b"} {
		for batch, e := range db.Scan(t.Context(), 0, Table{Name: name, Columns: []string{"id", "n", "x"}}) {
			if err = e; err == nil {
				counts[i] += batch.Rows()
				batch.Release()
			}
		}
		o.seam()
	}
	return counts[0], counts[1], errors.Join(err, db.Close())
}

// walked reads the file by its pages.
func (p *pairs) walked(t *testing.T, o Options) (a, b int, err error) {
	m, err := OpenImage(t.Context(), p.path, o)
	if err != nil {
		return 0, 0, err
	}
	o.seam()
	counts, flaws := map[string]int{}, ""
	_, err = m.Look(t.Context(), Look{Whole: true, Found: func(f sqlitepages.Flaw) { flaws += f.String() + "; " }, Rows: func(p *PlanTable) (func(*sqlitepages.Row) error, error) {
		o.seam()
		return func(*sqlitepages.Row) error { counts[p.Name]++; return nil }, nil
	}})
	if err == nil && flaws != "" {
		err = errors.New(flaws)
	}
	o.seam()
	if e := m.Close(); errors.Is(e, formats.ErrBusy) {
		err = e // what was found is forgotten
	} else if err == nil {
		err = e
	}
	return counts["a"], counts["b"], err
}

// TestWrittenBetweenLooks: a database that is written to between any two looks
// at it is in use or whole, in every journal mode, never broken.
func TestWrittenBetweenLooks(t *testing.T) {
	for _, mode := range []string{"delete", "truncate", "persist", "off", "memory", "wal"} {
		for _, live := range []bool{false, true} {
			for by, read := range map[string]func(*pairs, *testing.T, Options) (int, int, error){"scan": (*pairs).scanned, "pages": (*pairs).walked} {
				t.Run(fmt.Sprintf("%s/%s/live %v", mode, by, live), func(t *testing.T) {
					t.Parallel()
					p := newPairs(t, mode)
					old := time.Now().Add(-time.Hour)
					good, busy := 0, 0
					for at, last := 0, 1; at < last; at += golden.Every() {
						if err := os.Chtimes(p.path, old, old); err != nil {
							t.Fatal(err)
						}
						s := &seams{steps: map[int]any{at: func() { p.commit(t) }}}
						a, b, err := read(p, t, Options{Live: live, seam: s.at})
						last = max(last, min(s.n, 60))
						switch {
						case errors.Is(err, formats.ErrBusy):
							busy++
						case err != nil:
							t.Errorf("written before look %d: %v", at, err)
						case a != b:
							t.Errorf("written before look %d: half a transaction, %d and %d rows", at, a, b)
						default:
							good++
						}
						if at > 15 && p.n > 25 {
							break
						}
					}
					if good == 0 {
						t.Errorf("never read, %d times in use", busy)
					}
					if mode != "wal" && busy == 0 {
						t.Errorf("never in use, %d times read", good)
					}
				})
			}
		}
	}
}

// TestReadWithinATransaction: the same of a writer that has written half of its
// pages, and goes on some looks later.
func TestReadWithinATransaction(t *testing.T) {
	for _, mode := range []string{"delete", "truncate", "persist", "off", "memory", "wal"} {
		for by, read := range map[string]func(*pairs, *testing.T, Options) (int, int, error){"scan": (*pairs).scanned, "pages": (*pairs).walked} {
			t.Run(mode+"/"+by, func(t *testing.T) {
				t.Parallel()
				p := newPairs(t, mode)
				old := time.Now().Add(-time.Hour)
				for at, last := -1, 1; at < last; at += golden.Every() {
					if err := os.Chtimes(p.path, old, old); err != nil {
						t.Fatal(err)
					}
					open := at < 0
					if open {
						p.put(t)
					}
					s := &seams{steps: map[int]any{at: func() { p.put(t); open = true }, at + 4: func() {
						if open {
							p.end(t)
							open = false
						}
					}}}
					a, b, err := read(p, t, Options{seam: s.at})
					if last = max(last, min(s.n, 25)); open {
						p.end(t)
					}
					switch {
					case errors.Is(err, formats.ErrBusy):
					case err != nil:
						t.Errorf("within a transaction at look %d: %v", at, err)
					case a != b:
						t.Errorf("within a transaction at look %d: %d and %d rows", at, a, b)
					}
				}
			})
		}
	}
}

// TestLogGone: a rollback journal that is gone each time it is to be copied makes
// its database busy, not gone.
func TestLogGone(t *testing.T) {
	p := newPairs(t, "delete")
	old := time.Now().Add(-time.Hour)
	journal := p.path + "-journal"
	if err := errors.Join(os.WriteFile(journal, []byte("a journal"), 0o600), os.Chtimes(p.path, old, old)); err != nil {
		t.Fatal(err)
	}
	// A look takes five steps, and another three before the journal is copied.
	n := 0
	seam := func() {
		from, to := journal+".away", journal
		if n > 0 && n%8 == 0 {
			from, to = to, from
		}
		n++
		if err := os.Rename(from, to); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
	_, err := Open(t.Context(), p.path, Options{seam: seam})
	if !errors.Is(err, formats.ErrBusy) || errors.Is(err, os.ErrNotExist) || n < 48 {
		t.Errorf("after %d steps: %v, want that it is busy", n, err)
	}
}

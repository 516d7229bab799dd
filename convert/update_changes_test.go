package convert_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/convert"
	"rehome/formats/all"
)

// editor is a client of the IDE that has its database open.
type editor struct {
	*testing.T
	dir, db, dst string
	from         string
	pool         *sql.DB
	rng          *rand.Rand
	n            int
}

func newEditor(t *testing.T, seed uint64) *editor {
	e := &editor{T: t, dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 1))}
	e.db, e.dst = filepath.Join(e.dir, "state.vscdb"), filepath.Join(e.dir, "text")
	var err error
	if e.pool, err = sql.Open("sqlite", "file:"+filepath.ToSlash(e.db)+"?_pragma=synchronous(off)"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.pool.Close() })
	e.pool.SetMaxOpenConns(1)
	e.run("PRAGMA journal_mode=wal", "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
		"CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)", "CREATE TABLE mostlyEmpty (key, value)", "PRAGMA wal_checkpoint")
	for range 12 {
		e.turn()
	}
	return e
}

func (e *editor) run(statements ...string) {
	e.Helper()
	for _, s := range statements {
		if _, err := e.pool.Exec(s); err != nil {
			e.Fatalf("%s: %v", s, err)
		}
	}
}

func (e *editor) put(table, key, value string) {
	e.run(fmt.Sprintf("INSERT INTO %s VALUES ('%s', '%s')", table, key, value))
}

// turn writes what a turn of a chat writes: bubbles, the composer, the list of composers.
func (e *editor) turn() {
	e.n++
	composer := fmt.Sprintf("%08d-0000-4000-8000-000000000000", e.rng.IntN(9))
	for i := range 3 {
		e.put("cursorDiskKV", fmt.Sprintf("bubbleId:%s:%d-%d", composer, e.n, i), fmt.Sprintf(`{"text":"%s"}`, strings.Repeat("x", e.rng.IntN(9000))))
	}
	e.put("cursorDiskKV", "composerData:"+composer, fmt.Sprintf(`{"composerId":"%s","n":%d,"apiKey":"sk-0123456789abcdef0123"}`, composer, e.n))
	e.put("cursorDiskKV", fmt.Sprintf("agentKv:blob:%064x", e.n), "blob")
	var heads []string
	for id := range 9 {
		if e.rng.IntN(4) > 0 {
			heads = append(heads, fmt.Sprintf(`{"composerId":"%08d-0000-4000-8000-000000000000","createdAt":%d}`, id, 100-id))
		}
	}
	e.put("ItemTable", "composer.composerHeaders", `{"allComposers":[`+strings.Join(heads, ",")+`]}`)
}

// other does something else.
func (e *editor) other() {
	switch e.rng.IntN(10) {
	case 0:
		e.run("UPDATE cursorDiskKV SET value=replace(value,'x','y') WHERE rowid IN (SELECT rowid FROM cursorDiskKV ORDER BY random() LIMIT 1)")
	case 1: // a whole composer goes
		e.run(fmt.Sprintf("DELETE FROM cursorDiskKV WHERE key GLOB '*:%08d-*'", e.rng.IntN(9)))
	case 2:
		e.run("VACUUM")
	case 3:
		e.run("PRAGMA wal_checkpoint(TRUNCATE)")
	case 4:
		e.put("ItemTable", fmt.Sprintf("setting.%d", e.rng.IntN(5)), fmt.Sprint(e.n))
	case 5:
		e.run("DELETE FROM ItemTable WHERE key GLOB 'setting*'")
	case 6:
		e.run("PRAGMA wal_checkpoint(RESTART)")
	case 7:
		e.run("DELETE FROM ItemTable")
	case 8:
		e.run("DELETE FROM mostlyEmpty")
	case 9:
		e.put("mostlyEmpty", fmt.Sprint("k", e.n), "v")
	}
}

func (e *editor) convert(dst string, o convert.Options) *convert.Report {
	e.Helper()
	o.From, o.To, o.State = e.from, "archive", filepath.Join(e.dir, "state")
	rep, err := convert.Convert(e.Context(), all.Registry(), e.db, dst, o)
	if err != nil {
		e.Fatal(err)
	}
	return rep
}

// files are those of a text, by path.
func (e *editor) files(dir string) map[string]string {
	e.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		out[rel] = string(b)
		return err
	})
	if err != nil {
		e.Fatal(err)
	}
	return out
}

// TestUpdateFromChanges: text that is updated from what changed in its source is what
// the whole source becomes.
func TestUpdateFromChanges(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			e := newEditor(t, seed)
			if seed%2 == 1 {
				e.from = "sqlite" // a file for each table
			}
			e.convert(e.dst, convert.Options{Update: true})
			less := 0
			for round := range 16 {
				if e.rng.IntN(3) > 0 {
					e.turn()
				}
				if e.rng.IntN(2) == 0 {
					e.other()
				}
				rep := e.convert(e.dst, convert.Options{Update: true, Delete: true})
				fresh := filepath.Join(e.dir, fmt.Sprint("fresh", round))
				whole := e.convert(fresh, convert.Options{})
				if rep.Stores[0].Partial {
					less++
					if rep.Stores[0].Change == convert.Added {
						t.Errorf("round %d: an update of a store counts as a new one", round)
					}
				} else if rep.Stores[0].Rows != whole.Stores[0].Rows {
					t.Errorf("round %d: %d of %d rows were read", round, rep.Stores[0].Rows, whole.Stores[0].Rows)
				}
				have, want := e.files(e.dst), e.files(fresh)
				if !maps.Equal(have, want) {
					for _, name := range slices.Sorted(maps.Keys(want)) {
						if have[name] != want[name] {
							t.Errorf("%s differs:\n%.300s\nwant\n%.300s", name, have[name], want[name])
						}
						delete(have, name)
					}
					t.Fatalf("round %d: files that should not be there: %q", round, slices.Sorted(maps.Keys(have)))
				}
			}
			if less < 4 {
				t.Errorf("only %d of 16 updates read less than everything", less)
			}
		})
	}
}

// TestUpdateAtOnce: stores that all changed are updated at the same time.
func TestUpdateAtOnce(t *testing.T) {
	dir := t.TempDir()
	src, dst, state := filepath.Join(dir, "src"), filepath.Join(dir, "dst"), filepath.Join(dir, "state")
	for _, version := range []string{"before", "after"} {
		b, err := os.ReadFile(filepath.Join("..", "testdata", "chat", version+".db"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			at := filepath.Join(src, fmt.Sprint(i), "store.db")
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, b, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		rep, err := convert.Convert(t.Context(), all.Registry(), src, dst, convert.Options{To: "archive", Update: true, State: state, Jobs: 8})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"before": convert.Added, "after": convert.Updated}[version]
		for _, one := range rep.Stores {
			if one.Change != want {
				t.Errorf("%s: %s is %q, want %q", version, one.Path, one.Change, want)
			}
		}
	}
}

// TestUpdateOfEditedText: text that is not as the update wrote it is compared as a
// whole.
func TestUpdateOfEditedText(t *testing.T) {
	e := newEditor(t, 9)
	e.convert(e.dst, convert.Options{Update: true})
	for _, name := range slices.Sorted(maps.Keys(e.files(e.dst))) {
		if strings.Contains(name, "c-0000") {
			if err := os.Remove(filepath.Join(e.dst, name)); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	e.put("ItemTable", "setting", "1")
	e.convert(e.dst, convert.Options{Update: true})
	fresh := filepath.Join(e.dir, "fresh")
	e.convert(fresh, convert.Options{})
	if !maps.Equal(e.files(e.dst), e.files(fresh)) {
		t.Error("a file that somebody removed is still missing")
	}
}

// TestUpdateDeletesKept: what earlier updates kept goes with --delete, whatever was read or
// skipped meanwhile: then the text is what the whole source becomes.
func TestUpdateDeletesKept(t *testing.T) {
	for seed := range uint64(3) {
		e := newEditor(t, 20+seed)
		e.convert(e.dst, convert.Options{Update: true})
		kept := 0
		for round := range 4 {
			e.run(fmt.Sprintf("DELETE FROM cursorDiskKV WHERE key GLOB '*:%08d-*'", e.rng.IntN(9)))
			for range 1 + e.rng.IntN(3) {
				switch e.rng.IntN(3) {
				case 0:
					e.turn()
				case 1:
					e.other()
				case 2: // it rests, so that the next update skips it
					e.run("PRAGMA wal_checkpoint(TRUNCATE)")
					for _, name := range []string{e.db, e.db + "-wal"} {
						if err := os.Chtimes(name, time.Unix(1790000000, 0), time.Unix(1790000000, 0)); err != nil {
							t.Fatal(err)
						}
					}
					e.convert(e.dst, convert.Options{Update: true})
				}
				e.convert(e.dst, convert.Options{Update: true})
			}
			fresh := filepath.Join(e.dir, fmt.Sprint("fresh", round))
			e.convert(fresh, convert.Options{})
			want := e.files(fresh)
			kept += len(e.files(e.dst)) - len(want)
			e.convert(e.dst, convert.Options{Update: true, Delete: true})
			if have := e.files(e.dst); !maps.Equal(have, want) {
				t.Fatalf("seed %d, round %d: %d files, want %d", seed, round, len(have), len(want))
			}
		}
		if kept == 0 {
			t.Errorf("seed %d: nothing was kept", seed)
		}
	}
}

package archive

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/packed"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// stepsOver are those over sets that the rules take of an archive of n tables,
// none of whose text is there, or all of it in one stream.
func stepsOver(t *testing.T, n int, compress string) (steps, found int) {
	t.Helper()
	schema := &store.Schema{Origin: "cursor-test", Databases: []store.Database{{Path: "a.db", Pragmas: store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "wal"}}}}
	for i := range n {
		schema.Sets = append(schema.Sets, store.Set{File: "a.db", Name: fmt.Sprint("t", i), Columns: []string{"a"}, RowIDs: true})
	}
	dir := filepath.Join(t.TempDir(), "archive")
	if compress == "" {
		for name, doc := range documents(schema, packed.None) {
			b, err := signed(doc)
			if err == nil {
				err = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), b, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	} else {
		(&sample{schema: schema, records: make([][]row, n)}).write(t, dir, compress, 1, 50)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	q := &rule.Pass{Layers: rule.Container | rule.References, Report: func(f rule.Finding) { found++ }}
	x := &examination{ctx: t.Context(), q: q, r: &reader{path: dir, root: root, jobs: 1}}
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	return x.steps, found
}

// TestStepsOfTables: checking takes steps in proportion to the tables.
func TestStepsOfTables(t *testing.T) {
	for _, compress := range []string{"", "zstd"} {
		for _, n := range []int{500, 4000} {
			if steps, found := stepsOver(t, n, compress); steps > 4*n || (compress == "") != (found >= n) {
				t.Errorf("%q: %d steps for %d tables, %d findings", compress, steps, n, found)
			}
		}
	}
}

// TestStepsOfShards: so do writing, reading and checking of shards, whose cost is
// what they allocate.
func TestStepsOfShards(t *testing.T) {
	cost := func(n int) (written, rest uint64) {
		s := &sample{schema: &store.Schema{Origin: "x", Databases: []store.Database{{Pragmas: store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "wal"}}},
			Sets: []store.Set{{Name: "t", Columns: []string{"v"}, RowIDs: true}}}, records: make([][]row, 1)}
		for i := range n {
			s.records[0] = append(s.records[0], row{int64(i), []store.Cell{store.IntCell(int64(i))}})
		}
		dir := filepath.Join(t.TempDir(), "archive")
		allocated := func(do func() error) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := do(); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		written = allocated(func() error {
			w, err := create(t.Context(), formats.Build{Path: dir, Schema: s.schema, Shard: func(_ *store.Set, r store.Record) formats.Shard {
				return formats.Shard{Name: fmt.Sprint("s", r.RowID())}
			}, Jobs: 1})
			if err != nil {
				return err
			}
			defer w.Close()
			for _, b := range s.batches(100) {
				if err := w.Put(t.Context(), b); err != nil {
					return err
				}
			}
			return w.Finish(t.Context())
		})
		rest = allocated(func() error {
			_, _, err := read(t.Context(), dir, 1)
			return err
		}) + allocated(func() error {
			asked(t, dir, everything)
			return nil
		})
		return written, rest
	}
	w, r := cost(1250)
	w8, r8 := cost(10_000)
	if w8 > 12*w || r8 > 12*r {
		t.Errorf("1,250 shards: %d and %d bytes; 10,000: %d and %d", w, r, w8, r8)
	}
}

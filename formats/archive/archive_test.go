package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/filename"
	"rehome/formats/store"
)

// sample is a store in memory: records by set.
type sample struct {
	schema  *store.Schema
	records [][]row
}

type row struct {
	id    int64
	cells []store.Cell
}

// newSample makes a store of two databases and two plain files.
func newSample(seed uint64, rows int) *sample {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &sample{schema: &store.Schema{Origin: "cursor-test"}}
	for _, path := range []string{"a/one.db", "two.db"} {
		d := store.Database{Path: path, Pragmas: store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "wal", UserVersion: 1}}
		d.Objects = []store.Object{{Type: "table", Name: "T", Table: "T", SQL: "CREATE TABLE T(a, \"<b>\")"}}
		s.schema.Databases = append(s.schema.Databases, d)
		for _, name := range []string{"T", "Ünsafe", "empty", "con"} {
			s.schema.Sets = append(s.schema.Sets, store.Set{File: path, Name: name, Columns: []string{"a", "<b>"}, RowIDs: name != "con"})
			var records []row
			for i := range rows {
				if name == "empty" {
					break
				}
				id := int64(i * 3)
				if name == "con" {
					id = 0
				}
				records = append(records, row{id, []store.Cell{anyCell(r), anyCell(r)}})
			}
			s.records = append(s.records, records)
		}
	}
	for _, f := range []struct {
		path string
		size int
	}{{"notes/empty.txt", 0}, {"notes/long.bin", 2*store.PieceBytes + 77}} {
		s.schema.Sets = append(s.schema.Sets, store.Set{File: f.path, Kind: store.Plain, Columns: []string{"bytes"}})
		var records []row
		for n := 0; n*store.PieceBytes < f.size; n++ {
			piece := bytes.Repeat([]byte{byte(n), '\n'}, store.PieceBytes/2)[:min(store.PieceBytes, f.size-n*store.PieceBytes)]
			records = append(records, row{int64(n), []store.Cell{store.BlobCell(piece)}})
		}
		s.records = append(s.records, records)
	}
	return s
}

func anyCell(r *rand.Rand) store.Cell {
	text := strings.Repeat(fmt.Sprintf("line %d é\n", r.IntN(99)), r.IntN(40))
	switch r.IntN(6) {
	case 0:
		return store.NullCell()
	case 1:
		return store.IntCell(int64(r.Uint64()))
	case 2:
		return store.TextCell(fmt.Appendf(nil, `{"n":%d,"text":%q}`, r.IntN(1e6), text))
	case 3:
		return store.BlobCell([]byte(text))
	case 4:
		return store.RealCell(r.NormFloat64())
	}
	return store.TextCell([]byte(text))
}

// batches are the records in batches of n.
func (s *sample) batches(n int) []*store.Batch {
	var out []*store.Batch
	for set, records := range s.records {
		for part := range slices.Chunk(records, n) {
			b := store.NewBatch(set, len(s.schema.Sets[set].Columns))
			for _, rec := range part {
				b.Row(rec.id)
				for _, c := range rec.cells {
					b.Add(c)
				}
			}
			out = append(out, b)
		}
	}
	return out
}

func (s *sample) summary() store.Summary {
	sum := make(store.Summary, len(s.records))
	for _, b := range s.batches(1 << 30) {
		sum[b.Set] = digest.Batch(b)
	}
	return sum
}

func byThree(set *store.Set, r store.Record) formats.Shard {
	if set.Name != "T" {
		return formats.Shard{}
	}
	return formats.Shard{Name: []string{"", "shard-1", "Has/../odd name"}[r.RowID()/3%3]}
}

func (s *sample) write(t *testing.T, dir, compress string, jobs, rows int) {
	t.Helper()
	s.build(t, formats.Build{Path: dir, Schema: s.schema, Shard: byThree, Compress: compress, Jobs: jobs}, rows)
}

func (s *sample) build(t *testing.T, b formats.Build, rows int) {
	t.Helper()
	w, err := create(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, b := range s.batches(rows) {
		if err := w.Put(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// read scans an archive to its end.
func read(ctx context.Context, dir string, jobs int) (*store.Schema, store.Summary, error) {
	l, err := formats.Locate(dir)
	if err != nil {
		return nil, nil, err
	}
	r, err := open(ctx, l, formats.View{Jobs: jobs})
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	for b, err := range r.Batches(ctx) {
		if err != nil {
			return nil, nil, err
		}
		b.Release()
	}
	return r.Schema(), r.Summary(), nil
}

// tree is all files below a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	for _, compress := range []string{"", "gzip", "zstd"} {
		for _, rows := range []int{0, 1, 50, 3000} {
			s := newSample(uint64(rows), rows)
			dir := filepath.Join(t.TempDir(), "out")
			s.write(t, dir, compress, 0, 100)
			for _, jobs := range []int{1, 4} {
				schema, sum, err := read(t.Context(), dir, jobs)
				if err != nil {
					t.Fatalf("%q, %d rows: %v", compress, rows, err)
				}
				if !reflect.DeepEqual(schema, s.schema) {
					t.Errorf("%q, %d rows: the schema changed:\n%+v\n%+v", compress, rows, schema, s.schema)
				}
				if !slices.Equal(sum, s.summary()) {
					t.Errorf("%q, %d rows: the records changed", compress, rows)
				}
			}
		}
	}
}

// TestSameBytes: neither workers nor the size of batches show in the text.
func TestSameBytes(t *testing.T) {
	s := newSample(7, 2000)
	for _, compress := range []string{"", "gzip", "zstd"} {
		dir := t.TempDir()
		s.write(t, dir+"/a", compress, 1, 2000)
		s.write(t, dir+"/b", compress, 8, 7)
		if a, b := tree(t, dir+"/a"), tree(t, dir+"/b"); !maps.Equal(a, b) {
			t.Errorf("%q: one worker and eight write different bytes", compress)
		}
	}
}

func TestLayout(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	newSample(3, 9).write(t, dir, "", 0, 100)
	got := slices.Sorted(maps.Keys(tree(t, dir)))
	want := []string{
		".gitattributes",
		"a/one.db/" + tableBase("con") + ".ndjson", "a/one.db/" + tableBase("Ünsafe") + ".ndjson",
		"a/one.db/t.ndjson", "a/one.db/t/" + shardPath(formats.Shard{Name: "shard-1"}), "a/one.db/t/" + shardPath(formats.Shard{Name: "Has/../odd name"}),
		"a/one.db/database.json", "a/one.db/empty.ndjson",
		"manifest.json", "notes/empty.txt", "notes/empty.txt.xxh3", "notes/long.bin", "notes/long.bin.xxh3",
		"two.db/database.json", "two.db/empty.ndjson",
		"two.db/" + tableBase("con") + ".ndjson", "two.db/" + tableBase("Ünsafe") + ".ndjson",
		"two.db/t.ndjson", "two.db/t/" + shardPath(formats.Shard{Name: "shard-1"}), "two.db/t/" + shardPath(formats.Shard{Name: "Has/../odd name"}),
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("files\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, name := range got {
		for _, part := range strings.Split(name, "/") {
			if strings.ToLower(part) != part || filename.Device(part) || len(part) > 80 {
				t.Errorf("%q is not a safe name", name)
			}
		}
	}
}

// TestManyShards: more text waits than is kept, in more shards than files
// could be open.
func TestManyShards(t *testing.T) {
	s := &sample{schema: &store.Schema{Origin: "x", Databases: []store.Database{{}}, Sets: []store.Set{{Name: "t", Columns: []string{"v"}, RowIDs: true}}}}
	pad := strings.Repeat("x", 9000)
	var records []row
	for i := range 5000 {
		records = append(records, row{int64(i), []store.Cell{store.TextCell(fmt.Appendf(nil, "%d %s", i, pad))}})
	}
	s.records = [][]row{records}
	dir := filepath.Join(t.TempDir(), "out")
	w, err := create(t.Context(), formats.Build{Path: dir, Schema: s.schema, Shard: func(_ *store.Set, r store.Record) formats.Shard {
		return formats.Shard{Name: fmt.Sprintf("s%d", r.RowID()%1777)}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, b := range s.batches(50) {
		if err := w.Put(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(tree(t, dir)); n != 1777+4 {
		t.Errorf("%d files, want one a shard", n)
	}
	if _, sum, err := read(t.Context(), dir, 0); err != nil || !slices.Equal(sum, s.summary()) {
		t.Errorf("the records changed, or %v", err)
	}
}

// TestStop: a reader left half-way and a writer closed half-way end.
func TestStop(t *testing.T) {
	s := newSample(5, 30000)
	dir := filepath.Join(t.TempDir(), "out")
	s.write(t, dir, "", 0, 500)
	l, _ := formats.Locate(dir)
	for _, jobs := range []int{1, 4} {
		r, err := open(t.Context(), l, formats.View{Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range r.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			b.Release()
			break
		}
		if r.Summary() != nil {
			t.Error("a scan that was left has a summary")
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for b, err := range r.Batches(ctx) {
			if last = err; err == nil {
				b.Release()
			}
			cancel()
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("%d jobs: a cancelled scan ends with %v", jobs, last)
		}
		r.Close()
	}
	w, err := create(t.Context(), formats.Build{Path: filepath.Join(t.TempDir(), "half"), Schema: s.schema})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Put(t.Context(), s.batches(100)[0]); err != nil {
		t.Fatal(err)
	}
	w.Close()
	w.Close()
}

// TestNotText: a schema that JSON would mend is refused by its name.
func TestNotText(t *testing.T) {
	for _, spoil := range []func(*store.Schema){
		func(s *store.Schema) { s.Databases[0].Objects[0].SQL += "\xff" },
		func(s *store.Schema) { s.Databases[1].Objects[0].Name = "\xff" },
		func(s *store.Schema) { s.Sets[0].Columns = []string{"\xed\xa0\x80", "b"} },
	} {
		s := newSample(1, 1)
		spoil(s.schema)
		dir := filepath.Join(t.TempDir(), "out")
		if _, err := create(t.Context(), formats.Build{Path: dir, Schema: s.schema}); err == nil || !strings.Contains(err.Error(), "invalid UTF-8") {
			t.Errorf("%v", err)
		}
		if _, err := os.Lstat(dir); err == nil {
			t.Error("something was made")
		}
	}
}

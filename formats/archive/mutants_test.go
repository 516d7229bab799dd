package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/archive/internal/rowtext"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/store"
)

// mutantSeeds are manifests of one table and the text of its rows.
func mutantSeeds(t testing.TB) (seeds [][2]string) {
	t.Helper()
	for i, c := range []struct{ sql, columns string }{
		{"CREATE TABLE t(a, b)", "a b"}, {"CREATE TABLE t(a TEXT PRIMARY KEY, b BLOB)", "a b"}, {"CREATE TABLE t(a INTEGER PRIMARY KEY, b REAL)", "a b"},
		{"CREATE TABLE t(a PRIMARY KEY, b) WITHOUT ROWID", "a b"}, {"CREATE TABLE t(a ANY, b INT) STRICT", "a b"}, {"CREATE TABLE t(one)", "one"},
	} {
		columns := strings.Fields(c.columns)
		rowids := !strings.Contains(c.sql, "WITHOUT") && !strings.Contains(c.sql, "INTEGER")
		schema := &store.Schema{Origin: "sqlite", Databases: []store.Database{{Pragmas: store.Pragmas{PageSize: 4096, Encoding: []string{"UTF-8", "UTF-16le"}[i%2], JournalMode: "delete"},
			Objects: []store.Object{{Type: "table", Name: "t", Table: "t", SQL: c.sql}}}}, Sets: []store.Set{{Name: "t", Columns: columns, RowIDs: rowids}}}
		d := schema.Databases[0]
		m, err := spelled(&manifest1{manifest{Rehome: name, Version: 1, Origin: schema.Origin, Compress: "none"},
			[]database1{{"", d.Pragmas, d.Objects, []table1{{table: table{"t", columns, rowids}, Digest: store.Digest{}.String()}}}}, []file1{}})
		if err != nil {
			t.Fatal(err)
		}
		b := store.NewBatch(0, len(columns))
		for n, cells := range [][2]store.Cell{
			{store.IntCell(1), store.RealCell(-0.5)}, {store.IntCell(2), store.IntCell(1 << 60)}, {store.TextCell([]byte("x")), store.BlobCell([]byte{0, 255})},
			{store.TextCell([]byte(`{"a":[1,2.50],"b":"é"}`)), store.NullCell()}, {store.TextCell([]byte("7b7d")), store.BlobCell([]byte(`[null]`))},
			{store.TextCell([]byte("\xff")), store.WithheldCell()}, {store.IntCell(-9), store.RealCell(1e300)},
		} {
			b.Row(int64(n) + 1)
			for i := range columns {
				b.Add(cells[i])
			}
		}
		var rows []byte
		for n := range b.Rows() {
			rows = append(rowtext.Append(rows, b, n, rowids), '\n')
		}
		b.Release()
		seeds = append(seeds, [2]string{string(m), string(rows)})
	}
	return seeds
}

// parsed makes rows of text as reading an archive does, without a file, and
// spells them again: what is taken is one spelling only.
func parsed(manifest, rows string) (*store.Schema, []*store.Batch, error) {
	_, m, err := parseManifest([]byte(manifest))
	if err != nil || m == nil {
		return nil, nil, errors.Join(err, errQuit)
	}
	schema, claims, err := m.schema()
	if err != nil || len(schema.Sets) == 0 {
		return nil, nil, errors.Join(err, errQuit)
	}
	r := &reader{version: 1, schema: schema, claims: claims, jobs: 1}
	r.owners()
	set := &schema.Sets[0]
	if set.Kind != store.Table {
		return nil, nil, errQuit
	}
	claims[0].bytes = int64(len(rows))
	var batches []*store.Batch
	var again []byte
	c := r.cutter(0, tablePath(set.File, set.Name)+".ndjson", func(u *unit) bool {
		u.parse(schema.Sets, rowtext.Parse)
		if err = u.err; err != nil {
			return false
		}
		for _, b := range u.batches {
			for i := range b.Rows() {
				again = append(rowtext.Append(again, b, i, set.RowIDs), '\n')
			}
			batches = append(batches, b)
		}
		return true
	})
	whole := c.lines(context.Background(), strings.NewReader(rows), 4096)
	if err == nil && whole && string(again) != rows {
		return nil, nil, fmt.Errorf("%w: %q became %q", errSpelled, rows, again)
	}
	return schema, batches, err
}

var errSpelled = errors.New("it has two spellings")

// stored puts the rows into a database and reads them again.
func stored(t *testing.T, schema *store.Schema, batches []*store.Batch) {
	set := schema.Sets[0]
	d := schema.Databases[0]
	if set.File != d.Path {
		return
	}
	path := filepath.Join(t.TempDir(), "x.db")
	table := sqlitefile.Table{Name: set.Name, Columns: set.Columns, RowIDs: set.RowIDs}
	w, err := sqlitefile.CreateWithCode(t.Context(), path, d, []sqlitefile.TableSet{{Table: table}})
	if err != nil {
		return
	}
	defer w.Close()
	want := map[string]int{}
	for _, b := range batches {
		for i := range b.Rows() {
			want[string(rowtext.Append(nil, b, i, set.RowIDs))]++
		}
		copied := store.NewBatch(b.Set, b.Width())
		for i := range b.Rows() {
			copied.Row(b.RowID(i))
			for col := range b.Width() {
				copied.Add(b.Cell(i, col))
			}
		}
		if err := w.Put(t.Context(), copied); err != nil {
			return
		}
	}
	if err := w.Finish(t.Context()); err != nil {
		return
	}
	db, err := sqlitefile.Open(t.Context(), path, sqlitefile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for b, err := range db.Scan(t.Context(), 0, table) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows() {
			want[string(rowtext.Append(nil, b, i, set.RowIDs))]--
		}
		b.Release()
	}
	for line, n := range want {
		if n != 0 {
			t.Errorf("%s: %d more than came back", line, n)
		}
	}
}

func taken(t *testing.T, manifest, rows string, judged bool) {
	schema, batches, err := parsed(manifest, rows)
	if errors.Is(err, errSpelled) {
		t.Error(err)
	}
	if err == nil && judged && len(schema.Databases) > 0 {
		stored(t, schema, batches)
	}
	for _, b := range batches {
		b.Release()
	}
}

// TestMutants: text that somebody edited is refused, or has one meaning, and
// comes back from SQLite as it is.
func TestMutants(t *testing.T) {
	seeds := mutantSeeds(t)
	for _, s := range seeds {
		if _, batches, err := parsed(s[0], s[1]); err != nil || len(batches) == 0 {
			t.Fatalf("a seed is refused: %v\n%s\n%s", err, s[0], s[1])
		}
	}
	rng := rand.New(rand.NewPCG(8, 8))
	good := 0
	for i := range 6000 {
		s := seeds[i%len(seeds)]
		manifest, rows := s[0], s[1]
		if i%7 == 0 {
			manifest = string(edited(rng, s[0]))
		} else {
			rows = string(edited(rng, s[1]))
		}
		if _, _, err := parsed(manifest, rows); err == nil {
			good++
		}
		taken(t, manifest, rows, i%10 == 0)
	}
	if good < 300 {
		t.Errorf("only %d of the mutants are archives", good)
	}
}

// edited changes a few bytes, digits and brackets most of all.
func edited(rng *rand.Rand, seed string) []byte {
	b := []byte(seed)
	for range 1 + rng.IntN(2) {
		at := rng.IntN(len(b))
		switch rng.IntN(5) {
		case 0:
			b[at] ^= 1 << rng.IntN(8)
		case 1:
			b[at] = `0123456789"\{}[],:.-eE`[rng.IntN(22)]
		case 2:
			from := rng.IntN(len(b))
			copy(b[at:], b[from:min(from+1+rng.IntN(6), len(b))])
		case 3:
			if line := bytes.SplitAfter(b, []byte("\n")); len(line) > 2 { // a line less
				n := rng.IntN(len(line) - 1)
				b = bytes.Join(append(line[:n:n], line[n+1:]...), nil)
			}
		default:
			if i := bytes.IndexAny(b[at:], "abxyz"); i >= 0 {
				b[at+i] = byte('a' + rng.IntN(26))
			}
		}
	}
	return b
}

// FuzzText is TestMutants by the fuzzer's choice.
func FuzzText(f *testing.F) {
	for _, s := range mutantSeeds(f) {
		f.Add(s[0], s[1])
	}
	old, err := os.ReadFile("../../testdata/faults/samples/archive-packed/chat/manifest.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(old), "")
	f.Fuzz(func(t *testing.T, manifest, rows string) {
		if len(manifest)+len(rows) < 1<<16 {
			taken(t, manifest, rows, crc32.ChecksumIEEE([]byte(manifest+rows))%100 == 0)
		}
	})
}

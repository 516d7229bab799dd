package formatstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"rehome/formats"
	"rehome/formats/store"
)

// records: every record has the shape that the schema says, and the summary
// counts what was yielded.
func records(t *testing.T, c Case, s source) {
	l, err := formats.Locate(s.path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Format.Records.Open(t.Context(), l, formats.View{Kind: c.kind})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	schema := r.Schema()
	wellFormed(t, c, schema)
	total := make(store.Summary, len(schema.Sets))
	last := make([]int64, len(schema.Sets))
	seen := make([]map[int64]bool, len(schema.Sets))
	for i := range seen {
		seen[i] = map[int64]bool{}
	}
	for b, err := range r.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		set := schema.Sets[b.Set]
		if want := width(set); b.Width() != want {
			t.Errorf("%s: records of %d cells, want %d", setName(set), b.Width(), want)
		}
		for i := range b.Rows() {
			if bad := misnumbered(set, c.Format.Text, total[b.Set].Rows, last[b.Set], b.RowID(i)); bad != "" {
				t.Errorf("%s: record %d: %s", setName(set), total[b.Set].Rows, bad)
			}
			if set.RowIDs && seen[b.Set][b.RowID(i)] {
				t.Errorf("%s: row id %d twice", setName(set), b.RowID(i))
			}
			seen[b.Set][b.RowID(i)] = true
			last[b.Set] = b.RowID(i)
			total[b.Set].Rows++
		}
		total[b.Set].Bytes += int64(b.Size())
		b.Release()
	}
	sum := r.Summary()
	if len(sum) != len(total) {
		t.Fatalf("a summary of %d sets for a schema of %d", len(sum), len(total))
	}
	for i, set := range schema.Sets {
		if sum[i].Rows != total[i].Rows || sum[i].Bytes != total[i].Bytes {
			t.Errorf("%s: the summary counts %d rows, %d bytes, the scan %d and %d", setName(set), sum[i].Rows, sum[i].Bytes, total[i].Rows, total[i].Bytes)
		}
	}
}

// width is the number of cells of each record of a set. The pieces of a file
// and the lines of one have a single cell.
func width(s store.Set) int {
	if s.Kind == store.Table {
		return len(s.Columns)
	}
	return 1
}

// misnumbered returns what is wrong with the row id of record n of a set. In a
// text, each shard is in the order of row ids; all of them together need not be.
func misnumbered(s store.Set, text bool, n, last, id int64) string {
	switch {
	case s.Kind == store.Plain && id != n:
		return fmt.Sprintf("piece number %d", id)
	case s.Kind == store.Lines && id != n+1:
		return fmt.Sprintf("line number %d", id)
	case s.Kind == store.Table && !s.RowIDs && id != 0:
		return fmt.Sprintf("row id %d in a set without row ids", id)
	case s.Kind == store.Table && s.RowIDs && !text && n > 0 && id <= last:
		return fmt.Sprintf("row id %d after %d", id, last)
	}
	return ""
}

// wellFormed: tables of each database in order, then the files by path, each once.
func wellFormed(t *testing.T, c Case, s *store.Schema) {
	t.Helper()
	if c.Registry.Lookup(s.Origin) == nil {
		t.Errorf("unknown origin %q", s.Origin)
	}
	at, seen, file := 0, map[string]bool{}, ""
	for _, set := range s.Sets {
		if name := setName(set); seen[name] {
			t.Errorf("two sets are named %s", name)
		} else {
			seen[name] = true
		}
		if set.Kind != store.Table {
			if set.Kind == store.Lines { // in the order of their format
				continue
			}
			if set.File <= file && file != "" {
				t.Errorf("file %s after %s", set.File, file)
			}
			at, file = len(s.Databases), set.File
			continue
		}
		for at < len(s.Databases) && s.Databases[at].Path != set.File {
			at++
		}
		if at == len(s.Databases) {
			t.Errorf("table %s stands outside its database's place", setName(set))
		}
	}
}

// order: every scan yields the same, also of a new reader and with any number of
// workers.
func order(t *testing.T, c Case, s source) {
	l, err := formats.Locate(s.path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Format.Records.Open(t.Context(), l, formats.View{Kind: c.kind, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	first, err := drain(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := drain(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, "a second scan", first, again)
	same(t, "eight workers", first, mustRead(t, c.Format, s.path, formats.View{Kind: c.kind, Jobs: 8}))
	if slices.ContainsFunc(first.summary, func(n store.Count) bool { return n.Rows > 0 && n.Digest == store.Digest{} }) {
		t.Error("a set with records has no digest")
	}
}

// closing: a reader can be closed unread, half read, and twice.
func closing(t *testing.T, c Case, s source) {
	for _, batches := range []int{0, 1} {
		l, err := formats.Locate(s.path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Format.Records.Open(t.Context(), l, formats.View{Kind: c.kind})
		if err != nil {
			t.Fatal(err)
		}
		for range batches {
			for b, err := range r.Batches(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				b.Release()
				break
			}
		}
		if err := errors.Join(r.Close(), r.Close()); err != nil {
			t.Errorf("closing twice after %d batches: %v", batches, err)
		}
	}
}

// cancelled: a cancelled scan ends with the context's error, and soon.
func cancelled(t *testing.T, c Case, s source) {
	whole := mustRead(t, c.Format, s.path, formats.View{Kind: c.kind})
	for _, after := range []int{0, 1, whole.batches / 2} {
		if after >= whole.batches {
			continue // the last batch is out: nothing is left to cancel
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got, err := scanUntil(ctx, c.Format, s.path, c.kind, after, cancel)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d of %d batches: %d came, error %v", after, whole.batches, got, err)
		}
	}
}

// scanUntil reads a store and calls cancel after so many batches.
func scanUntil(ctx context.Context, f *formats.Format, path, kind string, after int, cancel func()) (got int, err error) {
	l, err := formats.Locate(path)
	if err != nil {
		return 0, err
	}
	r, err := f.Records.Open(ctx, l, formats.View{Kind: kind})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if after == 0 {
		cancel()
	}
	for b, err := range r.Batches(ctx) {
		if err != nil {
			return got, err
		}
		b.Release()
		if got++; got == after {
			cancel()
		}
	}
	return got, nil
}

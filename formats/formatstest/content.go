package formatstest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"rehome/formats"
	"rehome/formats/store"
)

// content is everything that a reader yields, in a form that can be compared
// and printed. It does not rely on the digests, which are under test too.
type content struct {
	schema  *store.Schema
	sets    []set
	summary store.Summary
	batches int
}

type set struct {
	rows   []string // "rowid cells …"
	rowids []int64
}

// read opens the store and reads it to its end.
func read(ctx context.Context, f *formats.Format, path string, v formats.View) (*content, error) {
	l, err := formats.Locate(path)
	if err != nil {
		return nil, err
	}
	r, err := f.Records.Open(ctx, l, v)
	if err != nil {
		return nil, err
	}
	c, err := drain(ctx, r)
	return c, errors.Join(err, r.Close())
}

// drain scans an open reader once.
func drain(ctx context.Context, r store.Reader) (*content, error) {
	c := &content{schema: r.Schema()}
	c.sets = make([]set, len(c.schema.Sets))
	last := 0
	for b, err := range r.Batches(ctx) {
		if err != nil {
			return c, err
		}
		if b.Set < last || b.Set >= len(c.sets) {
			return c, fmt.Errorf("a batch of set %d after one of set %d, of %d sets", b.Set, last, len(c.sets))
		}
		last = b.Set
		c.batches++
		c.sets[b.Set].add(b)
		b.Release()
	}
	c.summary = slices.Clone(r.Summary())
	return c, nil
}

func (s *set) add(b *store.Batch) {
	for i := range b.Rows() {
		line := strconv.FormatInt(b.RowID(i), 10)
		for col := range b.Width() {
			line += " " + describe(b.Cell(i, col))
		}
		s.rows = append(s.rows, line)
		s.rowids = append(s.rowids, b.RowID(i))
	}
}

// describe returns the class and bytes of a cell, or a hash if they are long.
func describe(c store.Cell) string {
	switch p := c.Bytes(); {
	case len(p) > 200:
		return fmt.Sprintf("%v:%d:%x", c.Class, len(p), sha256.Sum256(p))
	case c.Class == store.Text || c.Class == store.Blob:
		return fmt.Sprintf("%v:%q", c.Class, p)
	}
	return fmt.Sprintf("%v:%x", c.Class, c.Bits())
}

// mustRead reads a store that is known to be good.
func mustRead(t *testing.T, f *formats.Format, path string, v formats.View) *content {
	t.Helper()
	c, err := read(t.Context(), f, path, v)
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return c
}

// sorted sorts the records of tables by row id, because the shards of a text need
// not keep that order. Records without row ids are put in some fixed order.
func (c *content) sorted() *content {
	for i, s := range c.schema.Sets {
		if s.Kind != store.Table {
			continue
		}
		rows, ids := c.sets[i].rows, c.sets[i].rowids
		at := make([]int, len(rows))
		for n := range at {
			at[n] = n
		}
		slices.SortFunc(at, func(a, b int) int {
			return cmp.Or(cmp.Compare(ids[a], ids[b]), cmp.Compare(rows[a], rows[b]))
		})
		ordered := make([]string, len(rows))
		for n, from := range at {
			ordered[n] = rows[from]
		}
		c.sets[i].rows = ordered
	}
	return c
}

// same fails the test unless both hold the same schema, rows and digests.
func same(t *testing.T, what string, a, b *content) {
	t.Helper()
	if d := schemaDifference(a.schema, b.schema); d != "" {
		t.Errorf("%s: %s", what, d)
		return
	}
	for i, s := range a.schema.Sets {
		if d := rowDifference(a.sets[i].rows, b.sets[i].rows); d != "" {
			t.Errorf("%s: %s: %s", what, setName(s), d)
		}
	}
	if !slices.Equal(a.summary, b.summary) {
		t.Errorf("%s: the summaries differ: %v and %v", what, a.summary, b.summary)
	}
}

func setName(s store.Set) string { return store.Addr{File: s.File, Set: s.Name}.String() }

func schemaDifference(a, b *store.Schema) string {
	sameDatabase := func(x, y store.Database) bool {
		return x.Path == y.Path && x.Pragmas == y.Pragmas && slices.Equal(x.Objects, y.Objects)
	}
	sameSet := func(x, y store.Set) bool {
		return x.File == y.File && x.Name == y.Name && x.Kind == y.Kind && x.RowIDs == y.RowIDs && slices.Equal(x.Columns, y.Columns)
	}
	if !slices.EqualFunc(a.Databases, b.Databases, sameDatabase) {
		return fmt.Sprintf("the databases differ:\n%+v\n%+v", a.Databases, b.Databases)
	}
	if !slices.EqualFunc(a.Sets, b.Sets, sameSet) {
		return fmt.Sprintf("the sets differ:\n%+v\n%+v", a.Sets, b.Sets)
	}
	return ""
}

func rowDifference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("record %d differs:\n%s\n%s", i, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d records and %d", len(a), len(b))
	}
	return ""
}

package sqlitedelta

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/bits"

	"rehome/formats/internal/sqlitepages"
)

// follow compares the trees of tables with what the mark knew of them. A leaf is kept
// if it was one and no page of it is dirty.
func (d *Delta) follow(ctx context.Context, tables []int, dirty bitmap) error {
	f := &follower{d: d, kept: newBitmap(d.snapshot.Pages), at: make([]uint32, d.snapshot.Pages+1), hit: make([]bool, len(d.Mark.tables))}
	trees := make([]shapeOf, len(tables))
	for i, n := range tables {
		f.hit[n] = true
		if err := f.walk(ctx, n, dirty, &trees[i]); err != nil {
			return fullPass("table %q: %w", d.Mark.tables[n].name, err)
		}
	}
	f.release()
	for i, n := range tables {
		t, err := f.settle(ctx, n, &trees[i])
		if err != nil {
			return fullPass("table %q: %w", d.Mark.tables[n].name, err)
		}
		if len(t.Spans) > 0 {
			d.Tables = append(d.Tables, t)
		}
	}
	return nil
}

type follower struct {
	d    *Delta
	hit  []bool
	kept bitmap   // leaves
	at   []uint32 // the number, from 1, of each page among the leaves that its table had
}

// shapeOf is the present tree of a table.
type shapeOf struct{ inner, leaves []uint32 }

// walk lists the pages of a tree, and finds the leaves that are kept.
func (f *follower) walk(ctx context.Context, n int, dirty bitmap, to *shapeOf) error {
	t := &f.d.Mark.tables[n]
	for i, l := range t.leaves {
		if l.first <= l.last && l.page < uint32(len(f.at)) {
			f.at[l.page] = uint32(i + 1)
		}
	}
	return f.d.snapshot.Leaves(t.root, func(page uint32) error {
		to.inner = append(to.inner, page)
		return ctx.Err()
	}, func(page uint32) error {
		to.leaves = append(to.leaves, page)
		if int(page) < len(f.at) && f.at[page] > 0 && f.d.Mark.use[page-1] == tree|uint32(n) && !dirty.has(page) {
			f.kept.set(page)
		}
		return nil
	})
}

// release forgets what the pages of the tables were, but for the overflow pages of
// the leaves that are kept.
func (f *follower) release() {
	use := f.d.Mark.use
	gone := func(u uint32) bool { return u&tree != 0 && f.hit[u&^tree] }
	for i, u := range use { // leaves are needed for their overflow pages
		if u != 0 && u&tree == 0 && (int(u) > len(use) || use[u-1]&tree == 0 || gone(use[u-1]) && !f.kept.has(u)) {
			use[i] = 0
		}
	}
	for i, u := range use {
		if gone(u) {
			use[i] = 0
		}
	}
}

// settle marks the present tree of a table, reads the leaves that are not kept, and
// finds the spans between those that are.
func (f *follower) settle(ctx context.Context, n int, now *shapeOf) (*Table, error) {
	m := f.d.Mark
	t, old := &m.tables[n], m.tables[n].leaves
	out := &Table{Name: t.name}
	for _, page := range now.inner {
		if err := m.claim(page, tree|uint32(n)); err != nil {
			return nil, err
		}
	}
	t.leaves = make([]leaf, 0, len(now.leaves))
	g := gaps{table: out, after: math.MinInt64}
	for _, page := range now.leaves {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := m.claim(page, tree|uint32(n)); err != nil {
			return nil, err
		}
		l, was := leaf{page: page, last: -1}, 0
		if f.kept.has(page) {
			was = int(f.at[page])
			l = old[was-1]
		} else {
			out.leaves = append(out.leaves, page)
			if err := f.read(&l); err != nil {
				return nil, err
			}
		}
		if err := g.add(l, was); err != nil {
			return nil, err
		}
		t.leaves = append(t.leaves, l)
	}
	g.end(len(old))
	return out, nil
}

// read takes the row ids of a leaf, and marks its overflow pages.
func (f *follower) read(l *leaf) error {
	rows := 0
	return f.d.snapshot.LeafRows(l.page, &f.d.buffer, func(page uint32) error { return f.d.Mark.claim(page, l.page) }, func(r *sqlitepages.Row) error {
		if rows++; rows == 1 {
			l.first = r.RowID
		} else if r.RowID <= l.last {
			return fmt.Errorf("page %d: row ids do not ascend", l.page)
		}
		l.last = r.RowID
		return nil
	})
}

// claim marks what a page is. Every page is one thing only.
func (m *Mark) claim(page, use uint32) error {
	if page == 0 || int(page) > len(m.use) {
		return fmt.Errorf("page %d does not exist", page)
	}
	if m.use[page-1] != 0 {
		return fmt.Errorf("page %d is used twice", page)
	}
	m.use[page-1] = use
	return nil
}

// gaps finds the spans between leaves that were kept.
type gaps struct {
	table *Table
	open  bool  // a leaf was not kept since the last one that was
	was   int   // its number among the old leaves, from 1
	after int64 // the first row id after it
	full  bool  // there is none
	next  int64 // the least row id that may follow, kept or not
	none  bool  // no row id may follow
	some  bool
}

// add goes to the next leaf: the was-th of the old ones, or 0.
func (g *gaps) add(l leaf, was int) error {
	if l.first <= l.last {
		if g.none || g.some && l.first < g.next || was > 0 && was <= g.was {
			return fmt.Errorf("page %d: row ids do not ascend", l.page)
		}
		g.some, g.none, g.next = true, l.last == math.MaxInt64, l.last+1
	}
	if was == 0 {
		g.open = true
		return nil
	}
	if (g.open || was != g.was+1) && l.first > math.MinInt64 {
		g.span(l.first - 1)
	}
	g.open, g.was, g.after, g.full = false, was, l.last+1, l.last == math.MaxInt64
	return nil
}

// end finds the span after the last leaf of the old ones that was kept.
func (g *gaps) end(old int) {
	if g.open || g.was != old {
		g.span(math.MaxInt64)
	}
}

func (g *gaps) span(last int64) {
	if !g.full && g.after <= last {
		g.table.Spans = append(g.table.Spans, Span{g.after, last})
	}
}

// bitmap is a set of pages.
type bitmap []uint64

func newBitmap(pages uint32) bitmap { return make(bitmap, uint64(pages)/64+1) }

func (b bitmap) has(n uint32) bool { return int(n/64) < len(b) && b[n/64]&(1<<(n%64)) != 0 }

// set adds a page; one that is beyond the end of the database is not.
func (b bitmap) set(n uint32) {
	if int(n/64) < len(b) {
		b[n/64] |= 1 << (n % 64)
	}
}

// each yields the pages, ascending.
func (b bitmap) each() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, word := range b {
			for ; word != 0; word &= word - 1 {
				if !yield(uint32(i*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

func resized[T any](s []T, n uint32) []T {
	if int(n) <= len(s) {
		return s[:n]
	}
	return append(s, make([]T, int(n)-len(s))...)
}

package sqlitedelta

import (
	"context"
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"rehome/formats/internal/digest"
	"rehome/formats/internal/sqlitepages"
)

// follow compares the trees of tables with what the mark knew of them. A leaf is kept
// if it was one and no page of it is dirty.
func (d *Delta) follow(ctx context.Context, tables []int, dirty bitmap) error {
	d.numbers = make(map[string]uint32, len(d.Mark.groups))
	for n, name := range d.Mark.groups {
		d.numbers[name] = uint32(n)
	}
	f := &follower{Delta: d, kept: newBitmap(d.snapshot.Pages), hit: make([]bool, len(d.Mark.tables))}
	trees := make([]pages, len(tables))
	for i, n := range tables {
		f.hit[n] = true
		if err := f.walk(ctx, n, dirty, &trees[i]); err != nil {
			return fullPass("table %q: %w", d.Mark.tables[n].name, err)
		}
	}
	f.release()
	for i, n := range tables {
		if err := f.settle(ctx, n, &trees[i]); err != nil {
			return fullPass("table %q: %w", d.Mark.tables[n].name, err)
		}
	}
	return nil
}

type follower struct {
	*Delta
	hit  []bool // tables
	kept bitmap // leaves
}

// pages are those of the present tree of a table.
type pages struct{ inner, leaves []uint32 }

// walk lists the pages of a tree, and finds the leaves that are kept.
func (f *follower) walk(ctx context.Context, n int, dirty bitmap, to *pages) error {
	was := newBitmap(f.snapshot.Pages)
	for _, l := range f.Mark.tables[n].leaves {
		if !dirty.has(l.page) {
			was.set(l.page)
		}
	}
	return f.snapshot.Leaves(f.Mark.tables[n].root, func(page uint32) error {
		to.inner = append(to.inner, page)
		return ctx.Err()
	}, func(page uint32) error {
		to.leaves = append(to.leaves, page)
		if was.has(page) {
			f.kept.set(page)
		}
		return nil
	})
}

// release forgets what the pages of the tables were, but for the overflow pages of
// the leaves that are kept.
func (f *follower) release() {
	use := f.Mark.use
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
// compares their rows with those of the leaves that were not kept.
func (f *follower) settle(ctx context.Context, n int, now *pages) error {
	t := &f.Mark.tables[n]
	old := *t
	for _, page := range now.inner {
		if err := f.Mark.claim(page, tree|uint32(n)); err != nil {
			return err
		}
	}
	same, before := old.split(f.kept)
	t.leaves, t.rows = make([]leaf, 0, len(now.leaves)), make([]row, 0, len(old.rows))
	var after []row
	for _, page := range now.leaves {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.Mark.claim(page, tree|uint32(n)); err != nil {
			return err
		}
		from := len(t.rows)
		if rows, kept := same(page); kept {
			t.rows = append(t.rows, rows...)
		} else {
			if err := f.read(t, page); err != nil {
				return err
			}
			after = append(after, t.rows[from:]...)
		}
		for i := max(from, 1); i < len(t.rows); i++ {
			if t.rows[i].id <= t.rows[i-1].id {
				return fmt.Errorf("page %d: row ids do not ascend", page)
			}
		}
		t.leaves = append(t.leaves, leaf{page, uint32(len(t.rows) - from)})
	}
	if names := f.Mark.changed(before, after); len(names) > 0 {
		f.Tables = append(f.Tables, &Table{t.name, names, len(old.rows) == 0 || len(t.rows) == 0})
	}
	return nil
}

// split separates the leaves that are kept, by their pages, from the rows of the
// others. Leaves are asked for in about the order they had.
func (t *table) split(kept bitmap) (same func(page uint32) ([]row, bool), rest []row) {
	starts, at := make([]int, 0, len(t.leaves)), 0
	for _, l := range t.leaves {
		starts = append(starts, at)
		if at += int(l.rows); !kept.has(l.page) {
			rest = append(rest, t.rows[starts[len(starts)-1]:at]...)
		}
	}
	next := 0
	return func(page uint32) ([]row, bool) {
		if !kept.has(page) {
			return nil, false
		}
		for t.leaves[next].page != page {
			next = (next + 1) % len(t.leaves)
		}
		return t.rows[starts[next] : starts[next]+int(t.leaves[next].rows)], true
	}, rest
}

// changed names the groups of the rows that are in one of two lists only. Both ascend.
func (m *Mark) changed(before, after []row) (names []string) {
	hit := make([]bool, len(m.groups))
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && before[0].id < after[0].id:
			hit[before[0].group] = true
			before = before[1:]
		case len(before) == 0 || after[0].id < before[0].id:
			hit[after[0].group] = true
			after = after[1:]
		default:
			if before[0] != after[0] {
				hit[before[0].group], hit[after[0].group] = true, true
			}
			before, after = before[1:], after[1:]
		}
	}
	for n, name := range m.groups {
		if hit[n] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// read takes the rows of a leaf, and marks its overflow pages.
func (f *follower) read(t *table, page uint32) error {
	return f.snapshot.LeafRows(page, &f.buffer, func(over uint32) error { return f.Mark.claim(over, page) }, func(r *sqlitepages.Row) error {
		if r.Long {
			return fmt.Errorf("row %d is too long", r.RowID)
		}
		name, err := f.group(t.name, r)
		if err != nil {
			return err
		}
		n, ok := f.numbers[name]
		if !ok {
			n = uint32(len(f.Mark.groups))
			f.numbers[name], f.Mark.groups = n, append(f.Mark.groups, name)
		}
		t.rows = append(t.rows, row{r.RowID, digest.Bytes(r.Record()).Lo, n})
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

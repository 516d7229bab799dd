package sqlitedelta

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rehome/formats/internal/digest"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/internal/fileid"
)

// Delta is what changed between a mark and a snapshot.
type Delta struct {
	Mark    *Mark    // of the snapshot
	Tables  []*Table // that changed, in the order of the schema
	Scanned bool     // all pages had to be read
	Same    bool     // nothing was written at all

	snapshot *sqlitefile.Snapshot
	changed  bitmap // pages
	buffer   []byte
	group    Group
	numbers  map[string]uint32 // of groups
}

// Table is what changed in a table.
type Table struct {
	Name   string
	Groups []string // of the rows that were inserted, updated or deleted; sorted
	Empty  bool     // it has no rows, or had none
}

// Log is the log as the mark knows it, for opening a snapshot.
func (m *Mark) Log() *sqlitepages.Log { return &m.log }

// Since finds what changed until a snapshot, which must stay open for Rows. What it
// returns, errors too, counts only if closing the snapshot reports no error. The error
// is ErrFullPass if the mark does not tell.
func (m *Mark) Since(ctx context.Context, s *sqlitefile.Snapshot, group Group) (*Delta, error) {
	d := &Delta{snapshot: s, group: group, Mark: &Mark{id: s.ID, log: *s.Log, page: s.Page}}
	err := d.find(ctx, m)
	if !fileid.Settled(time.Unix(0, s.ID.Changed), time.Now()) {
		d.Mark.id.Changed = young
	}
	return d, err
}

// young is in the place of a time so recent that the file can change again with the
// same one. No file has it, so that the mark proves nothing by it.
const young = -1

func (d *Delta) find(ctx context.Context, m *Mark) error {
	s, now := d.snapshot, d.Mark
	if d.Same = m.same(now); d.Same {
		now.copy(m)
		return nil
	}
	if s.Pages > maxPages {
		return fullPass("%d pages", s.Pages)
	}
	schema, err := d.schema(ctx)
	if err != nil {
		return fullPass("%w", err)
	}
	fresh := m.prints == nil
	if !fresh && (m.schema != now.schema || m.page != now.page) {
		return fullPass("its schema changed")
	}
	now.copy(m)
	if err := d.pages(ctx, m, fresh); err != nil {
		return err
	}
	if fresh {
		return d.first(ctx, schema)
	}
	return d.affected(ctx, m)
}

// copy takes over what is known of pages and tables.
func (m *Mark) copy(from *Mark) {
	m.prints, m.use = slices.Clone(from.prints), slices.Clone(from.use)
	m.tables, m.groups = slices.Clone(from.tables), slices.Clone(from.groups)
	if from.prints != nil {
		m.schema = from.schema
	}
}

// schema reads the schema and sums it up with the pragmas.
func (d *Delta) schema(ctx context.Context) ([]sqlitefile.Object, error) {
	list, err := d.snapshot.Schema(ctx)
	if err != nil {
		return nil, err
	}
	text := fmt.Appendf(nil, "%v\n", d.snapshot.Pragmas())
	for _, o := range list {
		text = fmt.Appendf(text, "%q %q %q %q %d\n", o.Type, o.Name, o.Table, o.SQL, o.Root)
	}
	d.Mark.schema = digest.Bytes(text)
	return list, nil
}

// pages finds out which pages changed, and takes their digests.
func (d *Delta) pages(ctx context.Context, m *Mark, fresh bool) error {
	s, now := d.snapshot, d.Mark
	d.changed = newBitmap(s.Pages)
	if fresh || !d.logged(m) {
		d.Scanned = true
		prints, err := printsOf(ctx, s)
		if err != nil {
			return err
		}
		for i, p := range prints {
			if i >= len(m.prints) || m.prints[i] != p {
				d.changed.set(uint32(i + 1))
			}
		}
		now.prints, now.use = prints, resized(now.use, s.Pages)
		return nil
	}
	now.prints, now.use = resized(now.prints, s.Pages), resized(now.use, s.Pages)
	for i := len(m.prints); i < len(now.prints); i++ {
		d.changed.set(uint32(i + 1))
	}
	for n := range d.changed.each() {
		if err := ctx.Err(); err != nil {
			return err
		}
		page, err := s.View(n)
		if err != nil {
			return fullPass("%w", err)
		}
		now.prints[n-1] = printOf(page)
	}
	return nil
}

// logged finds the pages that changed in the log. It reports whether all of them are
// there.
func (d *Delta) logged(m *Mark) bool {
	s := d.snapshot
	var frames []uint32
	switch {
	case s.Log.Continues(&m.log) && s.ID.Inode == m.id.Inode:
		frames = s.Log.Frames[s.Log.Known:]
	case s.ID == m.id:
		// Nothing was written back since. What the mark saw in a log that is gone
		// was written back before, or is gone as well.
		frames = slices.Concat(m.log.Frames, s.Log.Frames)
	default:
		return false
	}
	for _, n := range frames {
		if n <= s.Pages {
			d.changed.set(n)
		}
	}
	return true
}

// first lists the tables, all of which are to be followed.
func (d *Delta) first(ctx context.Context, schema []sqlitefile.Object) error {
	var follow []int
	for _, o := range schema {
		if o.Type != "table" || o.Root == 0 {
			continue
		}
		page, err := d.snapshot.View(o.Root)
		if err != nil {
			return fullPass("%w", err)
		}
		t := table{name: o.Name, root: o.Root, rowids: page[0] != sqlitepages.InnerIndex && page[0] != sqlitepages.LeafIndex}
		n := len(d.Mark.tables)
		d.Mark.tables = append(d.Mark.tables, t)
		if t.rowids {
			follow = append(follow, n)
		} else if err := d.keyed(ctx, n); err != nil {
			return fullPass("table %q: %w", o.Name, err)
		}
	}
	return d.follow(ctx, follow, newBitmap(0))
}

// keyed marks the pages of a table without row ids.
func (d *Delta) keyed(ctx context.Context, n int) error {
	t, flaw := &d.Mark.tables[n], error(nil)
	w := sqlitepages.NewWalk(ctx, d.snapshot.File, func(f sqlitepages.Flaw) { flaw = errors.New(f.String()) })
	if err := w.Tree(t.name, t.root, &sqlitepages.Leaf{}); err != nil || flaw != nil {
		return cmp.Or(err, flaw)
	}
	for page := range bitmap(w.Used).each() {
		if err := d.Mark.claim(page, tree|uint32(n)); err != nil {
			return err
		}
	}
	return nil
}

// affected follows the tables of which a page changed. A page that is new to a table
// needs no look: one that was there leads to it.
func (d *Delta) affected(ctx context.Context, m *Mark) error {
	hit, dirty := make([]bool, len(m.tables)), newBitmap(uint32(len(m.use)))
	for n := range d.changed.each() {
		if int(n) > len(m.use) || m.use[n-1] == 0 {
			continue
		}
		use := m.use[n-1]
		if use&tree == 0 {
			n, use = use, m.use[use-1]
		}
		dirty.set(n)
		hit[use&^tree] = true
	}
	var follow []int
	for i, t := range m.tables {
		if hit[i] && !t.rowids {
			return fullPass("table %q has no row ids", t.name)
		}
		if hit[i] {
			follow = append(follow, i)
		}
	}
	return d.follow(ctx, follow, dirty)
}

// Empty reports whether a table changed, and has no rows now or had none.
func (d *Delta) Empty(name string) bool {
	return slices.ContainsFunc(d.Tables, func(t *Table) bool { return t.Name == name && t.Empty })
}

// Rows calls f with each row of some groups of a table, ascending. The row is valid
// until f returns.
func (d *Delta) Rows(ctx context.Context, name string, groups []string, f func(*sqlitepages.Row) error) error {
	wanted := make([]bool, len(d.Mark.groups))
	for n, g := range d.Mark.groups {
		_, wanted[n] = slices.BinarySearch(groups, g)
	}
	n := slices.IndexFunc(d.Mark.tables, func(t table) bool { return t.name == name })
	if n < 0 {
		return nil
	}
	rows := d.Mark.tables[n].rows
	for _, l := range d.Mark.tables[n].leaves {
		of := rows[:l.rows]
		rows = rows[l.rows:]
		if !slices.ContainsFunc(of, func(r row) bool { return wanted[r.group] }) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		i := 0
		err := d.snapshot.LeafRows(l.page, &d.buffer, nil, func(r *sqlitepages.Row) error {
			if i++; i > len(of) || of[i-1].id != r.RowID {
				return fmt.Errorf("page %d is not what it was", l.page)
			}
			if !wanted[of[i-1].group] {
				return nil
			}
			return f(r)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

package secret

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"rehome/formats/internal/digest"
	"rehome/formats/store"
)

// set is what the filter knows of one set.
type set struct {
	*store.Set
	rules []bound
	byID  bool // records come by rising row id; else by rising key
	key   int  // column that names a record, -1 if none

	rows    []*store.Item // residue: records to put back, in order
	inserts []*inserted   // residue: what to put back into cells, as given
	named   map[string][]*inserted
}

type inserted struct {
	*store.Item
	done bool
}

func newSet(of *store.Set) set {
	s := set{Set: of, rules: bind(of), byID: of.RowIDs || of.Kind != store.Table}
	s.key = s.keyColumn()
	return s
}

// keyColumn is where a record's name stands: the key column of a rule, or the
// first column that cannot be the secret itself.
func (s *set) keyColumn() int {
	secret := func(col int) bool {
		return slices.ContainsFunc(s.rules, func(r bound) bool { return r.col == col })
	}
	for _, r := range s.rules {
		if r.key >= 0 && !secret(r.key) {
			return r.key
		}
	}
	for col := range s.Columns {
		if !secret(col) {
			return col
		}
	}
	return -1
}

// keep takes in a piece of residue; false means it does not fit the set.
func (s *set) keep(item *store.Item) bool {
	if item.Row != nil {
		if len(item.Row) != len(s.Columns) {
			return false
		}
		s.rows = append(s.rows, item)
		return true
	}
	if item.Column < 0 || item.Column >= len(s.Columns) || s.Kind != store.Table {
		return false
	}
	in := &inserted{Item: item}
	name := s.nameOf(item.At.RowID, func(int) store.Cell { return item.At.Key })
	if s.named == nil {
		s.named = map[string][]*inserted{}
	}
	s.named[name] = append(s.named[name], in)
	s.inserts = append(s.inserts, in)
	return true
}

// sort brings the records to put back into their order, once each.
func (s *set) sort(stale func(store.Addr)) {
	compare := func(a, b *store.Item) int { return s.compare(a, b.At.RowID, s.keyOf(b.Row)) }
	slices.SortStableFunc(s.rows, compare)
	s.rows = slices.CompactFunc(s.rows, func(a, b *store.Item) bool {
		same := compare(a, b) == 0 && (s.byID || s.key >= 0)
		if same {
			stale(b.At)
		}
		return same
	})
}

// compare places a record to put back before or behind another.
func (s *set) compare(item *store.Item, id int64, key store.Cell) int {
	if s.byID {
		return cmp.Compare(item.At.RowID, id)
	}
	return compareCells(s.keyOf(item.Row), key)
}

func (s *set) keyOf(cells []store.Cell) store.Cell {
	if s.key < 0 {
		return store.NullCell()
	}
	return cells[s.key]
}

// compareCells orders keys as SQLite's BINARY collation does.
func compareCells(a, b store.Cell) int {
	rank := func(c store.Cell) int {
		switch c.Class {
		case store.Int, store.Real:
			return 1
		case store.Text:
			return 2
		case store.Blob:
			return 3
		}
		return 0
	}
	number := func(c store.Cell) float64 {
		if c.Class == store.Int {
			return float64(c.Int())
		}
		return c.Real()
	}
	switch {
	case rank(a) != rank(b):
		return cmp.Compare(rank(a), rank(b))
	case a.Class == store.Int && b.Class == store.Int:
		return cmp.Compare(a.Int(), b.Int())
	case rank(a) == 1:
		return cmp.Compare(number(a), number(b))
	}
	return bytes.Compare(a.Bytes(), b.Bytes())
}

// nameOf tells the set's records apart.
func (s *set) nameOf(id int64, cell func(col int) store.Cell) string {
	if s.byID || s.key < 0 {
		return string(binary.LittleEndian.AppendUint64(nil, uint64(id)))
	}
	c := cell(s.key)
	return string(append(binary.LittleEndian.AppendUint64([]byte{byte(c.Class)}, c.Bits()), c.Bytes()...))
}

// addr is where a record lies. Its key is a copy.
func (s *set) addr(id int64, cells []store.Cell) store.Addr {
	at := store.Addr{File: s.File, Set: s.Name, RowID: id, HasID: s.RowIDs}
	if s.Kind == store.Lines {
		at.Line = int(id)
	}
	if s.key >= 0 && s.Kind == store.Table {
		at.Key = owned(cells[s.key : s.key+1])[0]
	}
	return at
}

// putBack inserts what an earlier conversion cut out of this record's cells,
// where they are still what they were then.
func (s *set) putBack(id int64, cells []store.Cell) (changed bool) {
	if len(s.named) == 0 {
		return false
	}
	for _, in := range s.named[s.nameOf(id, func(col int) store.Cell { return cells[col] })] {
		c := cells[in.Column]
		if in.done || c.Class != store.Text && c.Class != store.Blob || digest.Cell(c) != in.Digest {
			continue
		}
		text, d := c.Bytes(), plain
		for i := range s.rules {
			if r := &s.rules[i]; r.col == in.Column && r.Hex {
				text, d = r.open(c)
			}
		}
		if whole, ok := insert(text, in.Inserts); ok {
			cells[in.Column], in.done, changed = spell(c.Class, whole, d), true, true
		}
	}
	return changed
}

// due reports whether a record is to be put back before row i. One that has
// its place taken is stale.
func (f *Filter) due(s *set, b *store.Batch, i int) bool {
	for len(s.rows) > 0 && (s.byID || s.key >= 0) {
		key := store.NullCell()
		if s.key >= 0 {
			key = b.Cell(i, s.key)
		}
		order := s.compare(s.rows[0], b.RowID(i), key)
		if order != 0 {
			return order < 0
		}
		f.stale(s.rows[0].At)
		s.rows = s.rows[1:]
	}
	return false
}

// putRow puts the next record back, as the view demands.
func (f *Filter) putRow(s *set, out *store.Batch) {
	item := s.rows[0]
	s.rows = s.rows[1:]
	cells := slices.Clone(item.Row)
	if _, keep := f.change(s, item.At.RowID, cells); keep {
		addRow(out, item.At.RowID, cells)
	}
}

// begun is the batch that takes the place of b, with the rows before row i.
func begun(out, b *store.Batch, i int) *store.Batch {
	if out == nil {
		out = store.NewBatch(b.Set, b.Width())
		for row := range i {
			copyRow(out, b, row)
		}
	}
	return out
}

func copyRow(out, b *store.Batch, row int) {
	out.Row(b.RowID(row))
	for col := range b.Width() {
		out.Add(b.Cell(row, col))
	}
}

func addRow(out *store.Batch, id int64, cells []store.Cell) {
	out.Row(id)
	for _, c := range cells {
		out.Add(c)
	}
}

// owned copies cells out of the batch they are views into.
func owned(cells []store.Cell) []store.Cell {
	out := slices.Clone(cells)
	for i, c := range out {
		switch c.Class {
		case store.Text:
			out[i] = store.TextCell(append([]byte{}, c.Bytes()...))
		case store.Blob:
			out[i] = store.BlobCell(append([]byte{}, c.Bytes()...))
		}
	}
	return out
}

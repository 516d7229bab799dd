package secret

import (
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
	byID  bool // records come by rising row id; else as an index says that we do not know
	key   int  // column that names a record, -1 if none

	rows    []*store.SidecarItem        // of the sidecar: records to put back, by row id
	waiting []*waiting                  // those of sets without row ids, as given,
	before  map[store.Digest][]*waiting // by the record they go before,
	named   map[string][]*waiting       // and by name
	inserts []*inserted                 // of the sidecar: what to put back into cells, as given
	cells   map[string][]*inserted      // by name
	weight  int                         // of left, in bytes
	left    []store.SidecarItem         // records left out since the last one that stayed
}

// waiting is a record to put back before another, wherever that stands.
type waiting struct {
	*store.SidecarItem
	done bool
}

type inserted struct {
	*store.SidecarItem
	done bool
}

func newSet(of *store.Set, client bool) set {
	s := set{Set: of, rules: bind(of, client), byID: of.RowIDs || of.Kind != store.Table}
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

// keep takes in a sidecar item; false means it does not fit the set.
func (s *set) keep(item *store.SidecarItem) bool {
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
	in := &inserted{SidecarItem: item}
	name := s.nameOf(item.At.RowID, func(int) store.Cell { return item.At.Key })
	if s.cells == nil {
		s.cells = map[string][]*inserted{}
	}
	s.cells[name] = append(s.cells[name], in)
	s.inserts = append(s.inserts, in)
	return true
}

// sort brings the records to put back into their order, once each. Where no
// row ids say it, each was told with the record that followed it: the order of
// keys is SQLite's, by any collation and direction.
func (s *set) sort(stale func(store.Addr)) {
	if s.byID {
		slices.SortStableFunc(s.rows, func(a, b *store.SidecarItem) int { return cmp.Compare(a.At.RowID, b.At.RowID) })
		s.rows = slices.CompactFunc(s.rows, func(a, b *store.SidecarItem) bool {
			same := a.At.RowID == b.At.RowID
			if same {
				stale(b.At)
			}
			return same
		})
		return
	}
	seen := map[store.Digest]bool{}
	s.before, s.named = map[store.Digest][]*waiting{}, map[string][]*waiting{}
	for _, item := range s.rows {
		if d := rowDigest(item.Row); seen[d] {
			stale(item.At)
			continue
		} else {
			seen[d] = true
		}
		w := &waiting{SidecarItem: item}
		name := s.name(0, item.Row)
		s.waiting = append(s.waiting, w)
		s.before[w.Digest] = append(s.before[w.Digest], w)
		s.named[name] = append(s.named[name], w)
	}
	s.rows = nil
}

// rowDigest is over all cells of a record.
func rowDigest(cells []store.Cell) store.Digest {
	var b []byte
	for _, c := range cells {
		d := digest.Cell(c)
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, d.Hi), d.Lo)
	}
	return digest.Bytes(b)
}

// name is nameOf of these cells.
func (s *set) name(id int64, cells []store.Cell) string {
	return s.nameOf(id, func(col int) store.Cell { return cells[col] })
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
	if len(s.cells) == 0 {
		return false
	}
	for _, in := range s.cells[s.name(id, cells)] {
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

// putRow puts a record back, as the view demands.
func (f *Filter) putRow(s *set, out *store.Batch, item *store.SidecarItem) {
	cells := slices.Clone(item.Row)
	if _, keep := f.change(s, item.At.RowID, cells); keep {
		f.stays(s, cells)
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

package secret

import (
	"rehome/formats/store"
)

// putRows puts back the records that belong before row i of b. One that has its
// place taken is stale.
func (f *Filter) putRows(s *set, out, b *store.Batch, i int) *store.Batch {
	for len(s.rows) > 0 && s.rows[0].At.RowID <= b.RowID(i) {
		if s.rows[0].At.RowID == b.RowID(i) {
			f.stale(s.rows[0].At)
		} else {
			out = begun(out, b, i)
			f.putRow(s, out, s.rows[0])
		}
		s.rows = s.rows[1:]
	}
	if len(s.waiting) == 0 {
		return out
	}
	cells := f.read(b, i)
	for _, w := range s.named[s.name(0, cells)] {
		if !w.done && s.again(w.Row, cells) {
			w.done = true
			f.stale(w.At)
		}
	}
	for _, w := range s.before[rowDigest(cells)] {
		if !w.done {
			w.done = true
			out = begun(out, b, i)
			f.putRow(s, out, w.SidecarItem)
		}
	}
	return out
}

// again reports whether a record to put back is there once more: a client has
// made a new secret.
func (s *set) again(row, cells []store.Cell) bool {
	for col, c := range row {
		if c.Class != store.Withheld && !c.Equal(cells[col]) {
			return false
		}
	}
	return s.key >= 0 && row[s.key].Class != store.Withheld
}

// leave tells of a record that is left out: at once where its row id says where
// it was, else with the next that stays.
func (f *Filter) leave(s *set, id int64, cells []store.Cell) {
	item := store.SidecarItem{At: s.addr(id, cells), Row: owned(cells)}
	if s.byID {
		f.omitted(item)
		return
	}
	for _, c := range item.Row {
		s.weight += 64 + len(c.Bytes())
	}
	if s.left = append(s.left, item); s.weight > mostLeft {
		f.stays(s, nil)
	}
}

// mostLeft is how many bytes of records may wait for one that stays. Nobody
// keeps a sidecar of that size.
const mostLeft = 64 << 20

// stays tells of the records that were left out before this one. Where none
// stays behind the last, they are told without a guard: their place is the end.
func (f *Filter) stays(s *set, cells []store.Cell) {
	if len(s.left) == 0 {
		return
	}
	d := store.Digest{}
	if cells != nil {
		d = rowDigest(cells)
	}
	for _, item := range s.left {
		item.Digest = d
		f.omitted(item)
	}
	s.left, s.weight = nil, 0
}

// Break says that the next record of the set is in another file than the last.
// Files of a text split a set by owner, not by order: neighbors in a database
// are only those of one file.
func (f *Filter) Break(set int) { f.stays(&f.sets[set], nil) }

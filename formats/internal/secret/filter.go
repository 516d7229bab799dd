package secret

import (
	"slices"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// Filter treats what a reader yields as its View demands. It serves one scan
// from its beginning, in the reader's order, in one goroutine.
type Filter struct {
	mode    formats.SecretMode
	note    loss.Sink
	omitted func(store.Item)
	sets    []set
	cells   []store.Cell // of the row at hand
}

// NewFilter looks which sets can hold secrets, and sorts the residue.
func NewFilter(schema *store.Schema, v formats.View) *Filter {
	f := &Filter{mode: v.Secrets, note: v.Note, omitted: v.Omitted, sets: make([]set, len(schema.Sets))}
	if f.note == nil {
		f.note = func(loss.Note) {}
	}
	if f.omitted == nil {
		f.omitted = func(store.Item) {}
	}
	for i := range f.sets {
		f.sets[i] = newSet(&schema.Sets[i])
	}
	for i := range v.Residue {
		if at := f.home(&v.Residue[i]); at == nil || !at.keep(&v.Residue[i]) {
			f.stale(v.Residue[i].At)
		}
	}
	for i := range f.sets {
		f.sets[i].sort(f.stale)
	}
	return f
}

// home is the set that a piece of residue belongs to, nil if it is gone.
func (f *Filter) home(item *store.Item) *set {
	for i := range f.sets {
		if s := &f.sets[i]; s.File == item.At.File && s.Name == item.At.Set {
			return s
		}
	}
	return nil
}

func (f *Filter) stale(at store.Addr) {
	f.note(loss.Note{Kind: loss.Dropped, At: at, What: "residue is stale: the record was edited since"})
}

// Apply returns the batch as the view demands: b itself where nothing changes,
// else another, which may be empty, and releases b.
func (f *Filter) Apply(b *store.Batch) *store.Batch {
	s := &f.sets[b.Set]
	if f.idle(s) {
		return b
	}
	var out *store.Batch
	for i := range b.Rows() {
		out = f.putRows(s, out, b, i)
		if f.touches(s, b, i) {
			cells := f.read(b, i)
			changed, keep := f.change(s, b.RowID(i), cells)
			if keep {
				f.stays(s, cells)
			}
			if changed || !keep {
				out = begun(out, b, i)
				if keep {
					addRow(out, b.RowID(i), cells)
				}
				continue
			}
		} else if len(s.left) > 0 {
			f.stays(s, f.read(b, i))
		}
		if out != nil {
			copyRow(out, b, i)
		}
	}
	if out == nil {
		return b
	}
	b.Release()
	return out
}

// Flush returns the records that belong behind the last one of a set, nil if
// there are none. It is called once a set, after its last batch, also for
// sets without records.
func (f *Filter) Flush(set int) *store.Batch {
	s := &f.sets[set]
	for _, w := range s.waiting {
		switch {
		case w.done:
		case w.Digest == store.Digest{}:
			s.rows = append(s.rows, w.Item) // nothing stood behind it
		default:
			f.stale(w.At)
		}
	}
	var out *store.Batch
	if len(s.rows) > 0 {
		out = store.NewBatch(set, len(s.Columns))
	}
	for _, item := range s.rows {
		f.putRow(s, out, item)
	}
	f.stays(s, nil)
	for _, in := range s.inserts {
		if !in.done {
			f.stale(in.At)
		}
	}
	s.rows, s.waiting, s.inserts, s.cells = nil, nil, nil, nil
	if out != nil && out.Rows() == 0 {
		out.Release()
		return nil
	}
	return out
}

// read is the cells of a row, until the next is read.
func (f *Filter) read(b *store.Batch, row int) []store.Cell {
	f.cells = f.cells[:0]
	for col := range b.Width() {
		f.cells = append(f.cells, b.Cell(row, col))
	}
	return f.cells
}

// idle reports whether nothing of the set can change.
func (f *Filter) idle(s *set) bool {
	if len(s.rows)+len(s.waiting)+len(s.inserts) > 0 {
		return false
	}
	return f.mode == formats.KeepSecrets || f.mode == formats.WithholdSecrets && len(s.rules) == 0
}

// touches is the cheap question: may this record change? Most do not, and
// this is all they cost.
func (f *Filter) touches(s *set, b *store.Batch, row int) bool {
	if len(s.cells) > 0 && s.cells[s.nameOf(b.RowID(row), func(col int) store.Cell { return b.Cell(row, col) })] != nil {
		return true
	}
	switch f.mode {
	case formats.WithholdSecrets:
		return slices.ContainsFunc(s.rules, func(r bound) bool {
			c := b.Cell(row, r.col)
			if r.Whole {
				return r.covers(b.Cell(row, r.key))
			}
			return memberEnding().in(c.Bytes()) || r.Hex && hexish(c.Bytes())
		})
	case formats.OmitWithheld:
		for col := range b.Width() {
			if b.Cell(row, col).Class == store.Withheld {
				return true
			}
		}
		return slices.ContainsFunc(s.rules, func(r bound) bool {
			c := b.Cell(row, r.col).Bytes()
			return !r.Whole && (memberEnding().in(c) || r.Hex && hexish(c))
		})
	}
	return false
}

// change does to the cells of one record what the view demands. keep is false
// where the record is left out.
func (f *Filter) change(s *set, id int64, cells []store.Cell) (changed, keep bool) {
	changed = s.putBack(id, cells)
	switch f.mode {
	case formats.WithholdSecrets:
		return f.withhold(s, id, cells) || changed, true
	case formats.OmitWithheld:
		if slices.ContainsFunc(cells, func(c store.Cell) bool { return c.Class == store.Withheld }) {
			f.leave(s, id, cells)
			return true, false
		}
		return f.omit(s, id, cells) || changed, true
	}
	return changed, true
}

// withhold replaces the secrets of one record.
func (f *Filter) withhold(s *set, id int64, cells []store.Cell) (changed bool) {
	for i := range s.rules {
		r := &s.rules[i]
		c := cells[r.col]
		if c.Class == store.Null || c.Class == store.Withheld || r.KeyPrefix != "" && !r.covers(cells[r.key]) {
			continue
		}
		var met []string
		if r.Whole {
			cells[r.col], met = store.WithheldCell(), []string{""}
		} else if text, names, torn := r.withhold(c); torn {
			cells[r.col], met = store.WithheldCell(), []string{"in a cell that is not whole JSON"}
		} else {
			cells[r.col], met = text, names
		}
		for _, name := range met {
			changed = true
			f.note(loss.Note{Kind: loss.Dropped, At: s.addr(id, cells), What: r.what(name)})
		}
	}
	return changed
}

// omit cuts the markers out of one record.
func (f *Filter) omit(s *set, id int64, cells []store.Cell) (changed bool) {
	for i := range s.rules {
		r := &s.rules[i]
		if r.Whole {
			continue
		}
		c, inserts := r.omit(cells[r.col])
		if inserts == nil {
			continue
		}
		changed = true
		cells[r.col] = c
		f.omitted(store.Item{At: s.addr(id, cells), Column: r.col, Inserts: inserts, Digest: digest.Cell(c)})
	}
	return changed
}

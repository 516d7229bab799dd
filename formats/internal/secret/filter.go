package secret

import (
	"bytes"
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
	omitted func(store.SidecarItem)
	sets    []set
	cells   []store.Cell // of the row at hand
}

// NewFilter looks which sets can hold secrets, and sorts the sidecar items.
func NewFilter(schema *store.Schema, v formats.View) *Filter {
	f := &Filter{mode: v.Secrets, note: v.OnLoss, omitted: v.OnOmit, sets: make([]set, len(schema.Sets))}
	if f.omitted == nil {
		f.omitted = func(store.SidecarItem) {}
	}
	for i := range f.sets {
		f.sets[i] = newSet(&schema.Sets[i], clients(schema.Origin))
	}
	for i := range v.Sidecar {
		if at := f.home(&v.Sidecar[i]); at == nil || !at.keep(&v.Sidecar[i]) {
			f.stale(v.Sidecar[i].At)
		}
	}
	for i := range f.sets {
		f.sets[i].sort(f.stale)
	}
	return f
}

// home is the set that a sidecar item belongs to, nil if it is gone.
func (f *Filter) home(item *store.SidecarItem) *set {
	for i := range f.sets {
		if s := &f.sets[i]; s.File == item.At.File && s.Name == item.At.Set {
			return s
		}
	}
	return nil
}

func (f *Filter) stale(at store.Addr) {
	f.note.Add(loss.Loss{Code: loss.StaleEdited, At: at})
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
			s.rows = append(s.rows, w.SidecarItem) // nothing stood behind it
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
	if f.mode == formats.OmitWithheld {
		for col := range b.Width() {
			if b.Cell(row, col).Class == store.Withheld {
				return true
			}
		}
	}
	for i := range s.rules {
		if f.mode != formats.KeepSecrets && s.rules[i].touches(b, row, f.mode) {
			return true
		}
	}
	return false
}

// touches is the same for one column.
func (r *bound) touches(b *store.Batch, row int, mode formats.SecretMode) bool {
	c := b.Cell(row, r.col)
	if c.Class != store.Text && c.Class != store.Blob && len(r.Whole) == 0 && !r.All {
		return false
	}
	var key []byte
	if r.key >= 0 {
		key = b.Cell(row, r.key).Bytes()
	}
	text := c.Bytes()
	switch {
	case r.Hex && hexish(text):
		return true
	case r.depth(key) == 0:
		return mode == formats.WithholdSecrets && r.whole(key) != "" || memberEnding().in(text)
	case mode == formats.OmitWithheld:
		return bytes.Contains(text, []byte(Marker))
	}
	return true
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
		if c.Class == store.Null || c.Class == store.Withheld {
			continue
		}
		var met [][]string // arguments of the notes
		code, key := loss.SecretWithheld, r.keyIn(cells)
		if prefix := r.whole(key); prefix != "" {
			cells[r.col], met = store.WithheldCell(), [][]string{{r.Set, prefix + "*"}}
		} else if text, names, broken := r.withhold(c, key); broken {
			code, cells[r.col], met = loss.SecretCellWithheld, store.WithheldCell(), [][]string{{r.Set}}
		} else {
			cells[r.col] = text
			for _, name := range names {
				met = append(met, []string{r.Set, name})
			}
		}
		for _, args := range met {
			changed = true
			f.note.Add(loss.Loss{Code: code, At: s.addr(id, cells), Args: args})
		}
	}
	return changed
}

// keyIn is what a record's key says; nothing where the set has none.
func (r *bound) keyIn(cells []store.Cell) []byte {
	if r.key < 0 {
		return nil
	}
	return cells[r.key].Bytes()
}

// omit cuts the markers out of one record.
func (f *Filter) omit(s *set, id int64, cells []store.Cell) (changed bool) {
	for i := range s.rules {
		r := &s.rules[i]
		key := r.keyIn(cells)
		if r.whole(key) != "" {
			continue
		}
		c, inserts := r.omit(cells[r.col], key)
		if inserts == nil {
			continue
		}
		changed = true
		cells[r.col] = c
		f.omitted(store.SidecarItem{At: s.addr(id, cells), Column: r.col, Inserts: inserts, Digest: digest.Cell(c)})
	}
	return changed
}

// clients reports whether stores of that origin are a client's: those that are
// anybody's have tables of any name.
func clients(origin string) bool { return origin != "" && origin != "sqlite" }

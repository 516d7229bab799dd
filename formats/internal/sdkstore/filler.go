package sdkstore

import (
	"bytes"
	"slices"

	"rehome/formats/internal/digest"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/store"
)

// filler makes rows of one table out of documents.
type filler struct {
	Columns
	table store.TableSchema
	cells map[int][]*store.SidecarItem // leftovers by line
	loose looseItems
	put   func(*store.Batch) error
	set   int
	last  int64 // row id
	some  bool  // there is a row
	batch *store.Batch
	whole bool // the table has all columns of the kind
}

func newFiller(k sdkdoc.Kind, b *base, set int, put func(*store.Batch) error) *filler {
	t, _ := b.design.Table(k.Table())
	f := &filler{Columns: Pair(k, t), table: t, cells: b.cells[t.Name], loose: b.loose[t.Name], put: put, set: set, whole: true}
	for col, at := range f.of {
		f.whole = f.whole && (at >= 0 || k == sdkdoc.Checkpoint && col == sdkdoc.BlobAgent)
	}
	return f
}

// told is what leftovers say of the row of a line.
type told struct {
	any    bool
	loose  bool // by the digest of the line
	stale  *store.SidecarItem
	rowid  int64
	cells  map[int]store.Cell // by column of the table
	merged []store.Cell
}

// ask looks up what is told of a line. What was told of another line than this
// is stale.
func (f *filler) ask(line int, text store.Cell) (t told) {
	items := f.cells[line]
	if len(items) == 0 && len(f.loose) > 0 {
		items = f.loose.take(line, digest.Cell(text))
		t.loose = len(items) > 0
	}
	if len(items) == 0 {
		return t
	}
	delete(f.cells, line)
	t.cells = map[int]store.Cell{}
	for _, it := range items {
		switch {
		case it.Digest != digest.Cell(text) || it.Column >= len(f.OfRow):
			t.stale = it
			continue
		case it.Row[0].Class != store.Withheld:
			t.cells[it.Column] = it.Row[0]
		}
		t.any = true
		if it.At.HasID {
			t.rowid = it.At.RowID
		}
	}
	return t
}

// looseItems are those that the sidecar of a part of a store tells of its lines. In the
// store the lines have other numbers, so they are found by their digests.
type looseItems map[store.Digest][]*store.SidecarItem

// take takes what is told of one line with this digest. In the store no line has a
// smaller number than in its part.
func (l looseItems) take(line int, sum store.Digest) (out []*store.SidecarItem) {
	l[sum] = slices.DeleteFunc(l[sum], func(it *store.SidecarItem) bool {
		own := it.At.Line <= line && (out == nil || out[0].Part == it.Part && out[0].At.Line == it.At.Line)
		if own {
			out = append(out, it)
		}
		return own
	})
	return out
}

// merge is the row as the table will have it, in the order of the kind.
func (f *filler) merge(row []store.Cell, t *told) []store.Cell {
	if f.whole && !t.any {
		return row
	}
	t.merged = append(t.merged[:0], row...)
	for col, at := range f.of {
		if at < 0 && (f.kind != sdkdoc.Checkpoint || col != sdkdoc.BlobAgent) {
			t.merged[col] = store.NullCell()
		} else if c, ok := t.cells[at]; ok && at >= 0 {
			t.merged[col] = c
		}
	}
	return t.merged
}

// unsaid reports whether a row with cells that are told makes the line that it is of, or the
// same as without them: they are only what no line can say. Whoever reads the line would
// otherwise not know what the row holds.
func (f *filler) unsaid(line []byte, row, merged []store.Cell) bool {
	got, _ := f.kind.Append(nil, merged)
	if bytes.Equal(got, line) {
		return true
	}
	want, _ := f.kind.Append(nil, f.merge(row, &told{any: true}))
	return bytes.Equal(got, want)
}

// add adds a row in the order of the table. A row id that is told but taken, by a line
// that a merge put in front, is not given again; renumbered says so.
func (f *filler) add(row []store.Cell, t *told) (renumbered bool, err error) {
	f.last++
	if t.rowid != 0 || t.any && f.table.RowIDs {
		if renumbered = f.some && f.table.RowIDs && t.rowid < f.last; !renumbered {
			f.last = t.rowid
		}
	}
	f.some = true
	f.begin(f.last)
	for col, at := range f.OfRow {
		if at >= 0 {
			f.batch.Add(row[at])
		} else {
			f.batch.Add(t.cells[col]) // NULL where nothing is told
		}
	}
	if f.batch.Full() {
		err = f.flush()
	}
	return renumbered, err
}

func (f *filler) begin(rowid int64) {
	if f.batch == nil {
		f.batch = store.NewBatch(f.set, len(f.table.Columns))
	}
	if !f.table.RowIDs {
		rowid = 0
	}
	f.batch.Row(rowid)
}

func (f *filler) flush() error {
	b := f.batch
	if b == nil {
		return nil
	}
	f.batch = nil
	return f.put(b)
}

// drop lets go of what an error left.
func (f *filler) drop() {
	if f != nil && f.batch != nil {
		f.batch.Release()
		f.batch = nil
	}
}

// addWhole adds a row as it is kept; false if it is none of this table.
func (f *filler) addWhole(it *store.SidecarItem) (bool, error) {
	if len(it.Row) != len(f.table.Columns) {
		return false, nil
	}
	f.begin(it.At.RowID)
	for _, c := range it.Row {
		f.batch.Add(c)
	}
	if f.batch.Full() {
		return true, f.flush()
	}
	return true, nil
}

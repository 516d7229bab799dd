package archive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/archive/internal/rowtext"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/sqliteddl"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// merged finds the rows of a table that git put together from two people's archives: rows
// that both have under one row id, and rows that both inserted.
type merged struct {
	r    *reader
	set  int
	keys keys

	ids  map[int64]uint64        // row ids so far: 64 in each element
	last int64                   // the largest
	file string                  // of seen
	seen map[store.Digest]keyRow // keys in the current file
	held []heldRow               // rows whose row id another row has
}

// fewKeys is how many keys of a file its map is used again after: a larger one takes
// long to clear.
const fewKeys = 256

type keyRow struct {
	line int
	row  store.Digest // of all cells
}

// heldRow is the place of a row, which is read again when all row ids are known.
type heldRow struct {
	file string
	line int
}

// begin begins a table.
func (m *merged) begin(set int, keys keys) {
	*m = merged{r: m.r, set: set, keys: keys, ids: map[int64]uint64{}, last: math.MinInt64}
}

// sift calls give with the rows of a batch that are restored as they are, as one batch or
// several, each with its first line.
func (m *merged) sift(b *store.Batch, file string, line int, give func(b *store.Batch, line int) error) error {
	m.enter(file)
	from := 0
	for i := range b.Rows() {
		keep, err := m.row(b, i, line+i)
		if err == nil && !keep {
			err = give(slice(b, from, i), line+from)
			from = i + 1
		}
		if err != nil {
			b.Release()
			return err
		}
	}
	if from == 0 {
		return give(b, line)
	}
	defer b.Release()
	return give(slice(b, from, b.Rows()), line+from)
}

// enter moves to a file. Rows of two files never have one key: the key names the file.
func (m *merged) enter(file string) {
	if m.file != file {
		if m.file = file; m.seen == nil || len(m.seen) > fewKeys {
			m.seen = map[store.Digest]keyRow{}
		}
		clear(m.seen)
	}
}

// slice returns some rows of a batch as another one.
func slice(b *store.Batch, from, to int) *store.Batch {
	out := store.NewBatch(b.Set, b.Width())
	for i := from; i < to; i++ {
		addRow(out, b, i, b.RowID(i))
	}
	return out
}

func addRow(to, b *store.Batch, i int, id int64) {
	to.Row(id)
	for col := range b.Width() {
		to.Add(b.Cell(i, col))
	}
}

// row reports whether a row is restored as it is.
func (m *merged) row(b *store.Batch, i, line int) (bool, error) {
	switch first, same := m.earlier(b, i, line); {
	case same:
		m.r.view.OnLoss.Add(loss.Loss{Code: loss.RowTwice, At: store.Addr{File: m.file, Line: line}})
		return false, nil
	case first > 0:
		return false, m.r.fail(fmt.Sprintf("%s:%d", m.file, line), &formats.Error{
			Err: fmt.Errorf("row with the same key as line %d", first), Hint: "keep one of the two lines"})
	}
	id, hidden := b.RowID(i), m.r.schema.Sets[m.set].RowIDs
	if !hidden {
		col := m.keys.integer()
		if col < 0 || b.Cell(i, col).Class != store.Int {
			return true, nil
		}
		id = b.Cell(i, col).Int()
	}
	bit := uint64(1) << (id & 63)
	switch {
	case m.ids[id>>6]&bit == 0:
		m.ids[id>>6] |= bit
		m.last = max(m.last, id)
		return true, nil
	case hidden:
		m.held = append(m.held, heldRow{m.file, line})
		return false, nil
	}
	return false, m.r.fail(fmt.Sprintf("%s:%d", m.file, line), &formats.Error{
		Err: fmt.Errorf("row with the same key as %s", m.find(id)), Hint: "keep one of the two lines"})
}

// find returns the place of the first row whose key is a number.
func (m *merged) find(id int64) string {
	set := &m.r.schema.Sets[m.set]
	for _, file := range m.r.files[m.set] {
		f, err := m.r.root.Open(file)
		if err != nil {
			continue
		}
		for l, err := range lines.Each(context.Background(), f, maxLine) {
			b := store.NewBatch(m.set, len(set.Columns))
			found := err == nil && rowtext.Parse(b, l.Bytes, false) == nil && b.Cell(0, m.keys.integer()).Class == store.Int && b.Cell(0, m.keys.integer()).Int() == id
			b.Release()
			if found {
				f.Close()
				return fmt.Sprintf("%s:%d", file, l.Number)
			}
			if err != nil {
				break
			}
		}
		f.Close()
	}
	return "a row of another file"
}

// earlier returns the line of the current file, if any, that has the key of a row, and
// whether the rows are the same in a common file.
func (m *merged) earlier(b *store.Batch, i, line int) (first int, same bool) {
	for n, key := range m.keys {
		sum, ok := m.sum(b, i, n, key)
		if !ok {
			continue
		}
		row, twice := m.seen[sum]
		if twice {
			return row.line, common(m.file) && row.row == m.whole(b, i)
		}
		m.seen[sum] = keyRow{line, m.whole(b, i)}
	}
	return 0, false
}

// sum returns a digest of the key of a row. NULL is equal to nothing.
func (m *merged) sum(b *store.Batch, i, n int, key []int) (sum store.Digest, ok bool) {
	sum.Lo = uint64(n)
	for at, col := range key {
		c := b.Cell(i, col)
		if c.Class == store.Null || c.Class == store.Withheld {
			return sum, false
		}
		d := digest.Cell(c)
		sum.Add(store.Digest{Hi: d.Hi * uint64(2*at+1), Lo: d.Lo * uint64(2*at+1)})
	}
	return sum, true
}

// whole returns a digest of the cells of a row. Only common files need it.
func (m *merged) whole(b *store.Batch, i int) (sum store.Digest) {
	if common(m.file) {
		one := store.NewBatch(b.Set, b.Width())
		addRow(one, b, i, 0)
		sum = digest.Batch(one).Digest
		one.Release()
	}
	return sum
}

// renumber calls give with the rows that were held back, under new row ids.
func (m *merged) renumber(ctx context.Context, give func(b *store.Batch, file string, line int) error) error {
	for len(m.held) > 0 {
		file := m.held[0].file
		n := slices.IndexFunc(m.held, func(h heldRow) bool { return h.file != file })
		if n < 0 {
			n = len(m.held)
		}
		if err := m.reread(ctx, file, m.held[:n], give); err != nil {
			return m.r.fail(file, err)
		}
		m.held = m.held[n:]
	}
	return nil
}

var errChanged = errors.New("changed while it was read")

func (m *merged) reread(ctx context.Context, file string, held []heldRow, give func(b *store.Batch, file string, line int) error) error {
	f, err := m.r.root.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	at := m.r.placeOf(m.set, file)
	for l, err := range lines.Each(ctx, f, maxLine) {
		if err != nil {
			return err
		}
		if len(held) == 0 {
			return nil
		}
		if l.Number != held[0].line {
			continue
		}
		if m.last == math.MaxInt64 {
			return errors.New("no row id left for a row whose own is used by another row")
		}
		m.last++
		b, err := m.parse(slices.Clone(l.Bytes), at, common(file))
		if err != nil {
			return err
		}
		m.r.view.OnLoss.Add(loss.Loss{Code: loss.RowRenumbered, At: store.Addr{File: file, Line: l.Number}})
		if err := give(b, file, l.Number); err != nil {
			return err
		}
		held = held[1:]
	}
	if len(held) > 0 {
		return errChanged
	}
	return ctx.Err()
}

// parse parses a line without its line end, and gives its row the next row id.
func (m *merged) parse(line []byte, at place, sealed bool) (*store.Batch, error) {
	line = append(line, '\n')
	if sealed {
		var err error
		if line, err = at.unseal(line); err != nil {
			return nil, err
		}
	}
	b := store.NewBatch(m.set, len(m.r.schema.Sets[m.set].Columns))
	defer b.Release()
	if err := rowtext.Parse(b, line[:len(line)-1], true); err != nil {
		return nil, err
	}
	out := store.NewBatch(b.Set, b.Width())
	addRow(out, b, 0, m.last)
	return out, nil
}

// keys are the columns of a table in which no two rows may be equal.
type keys [][]int

// first reports whether the first column alone is a key.
func (k keys) first() bool {
	return slices.ContainsFunc(k, func(key []int) bool { return len(key) == 1 && key[0] == 0 })
}

// integer returns the first column that alone is a key, or -1. If a row id is a column, its
// rows may be split by it, and two people's rows with one number are in two files.
func (k keys) integer() int {
	for _, key := range k {
		if len(key) == 1 {
			return key[0]
		}
	}
	return -1
}

// keysOf returns the keys of each set.
func keysOf(s *store.Schema) []keys {
	out := make([]keys, len(s.Sets))
	at := map[string]int{}
	for i, set := range s.Sets {
		at[path.Join(set.File, "x", sqliteddl.Fold(set.Name))] = i
	}
	for _, d := range s.Databases {
		for _, o := range d.Objects {
			i, ok := at[path.Join(d.Path, "x", sqliteddl.Fold(o.Table))]
			if !ok || o.Type != "table" && o.Type != "index" {
				continue
			}
			definition, _ := sqliteddl.Define(o.SQL)
			for _, text := range definition.Keys {
				if key := columnsOf(&s.Sets[i], text); len(key) > 0 && !slices.ContainsFunc(out[i], func(k []int) bool { return slices.Equal(k, key) }) {
					out[i] = append(out[i], key)
				}
			}
		}
	}
	return out
}

// columnsOf returns the columns of a key of sqliteddl.Definition, or nil if it is not a key
// of all rows.
func columnsOf(set *store.Set, text string) (key []int) {
	list, ok := strings.CutPrefix(text, "unique (")
	list, after, closed := strings.Cut(list, ")")
	if !ok || !closed || after != "" && !strings.HasPrefix(after, " on conflict ") {
		return nil
	}
	for _, column := range strings.Split(list, ", ") {
		col := slices.IndexFunc(set.Columns, func(c string) bool { return sqliteddl.Fold(c) == column })
		if col < 0 {
			return nil
		}
		key = append(key, col)
	}
	return key
}

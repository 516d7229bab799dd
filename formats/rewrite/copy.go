package rewrite

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strconv"

	"rehome/formats"
	"rehome/formats/internal/secret"
	"rehome/formats/loss"
	"rehome/formats/store"
	"rehome/internal/rawjson"
	"rehome/internal/scratch"
)

// value returns what becomes of a value that is no reference, and what that loses.
func (r *Reader) value(ctx context.Context, v []byte, blob bool, onHit func(kind string)) (out []byte, lost []loss.Code, err error) {
	if out, err = r.rw.Value(ctx, v, blob, onHit); err != nil || bytes.Equal(out, v) {
		return v, nil, err
	}
	out, lost = unsigned(v, out)
	return out, lost, nil
}

// copier yields the records of one scan.
type copier struct {
	*Reader
	give    func(*store.Batch) error
	filter  *secret.Filter
	out     *store.Batch // rows of the set at hand
	file    pieces
	aside   *spool // of plain files that are not in the order of their new names
	kept    []piece
	dropped int64                      // lines of the set at hand
	set     int                        // of the record at hand, in the source
	record  int64                      // its row id, or its line
	digits  []byte                     // of the number at hand
	seen    map[[sha256.Size]byte]bool // records of blobs that became the same
}

func (c *copier) run(ctx context.Context) error {
	c.set, c.seen = -1, map[[sha256.Size]byte]bool{}
	pass := c.give
	if c.sorted {
		file, err := scratch.NewFile("files")
		if err != nil {
			return err
		}
		defer file.Close()
		c.aside = &spool{file: file, at: map[int32][2]int64{}}
		pass = c.keep
	}
	err := c.each(ctx, visitor{
		row:  func(n int64, b *store.Batch, i int) error { return c.row(ctx, n, b, i) },
		done: c.pass,
		text: func(set, line int, v []byte) error { return c.text(ctx, set, line, v, pass) },
		end:  func(set int) error { return c.file.end(pass) },
	})
	if err != nil || !c.sorted {
		return err
	}
	return c.giveKept(ctx)
}

// keep keeps a piece of a file until it is the file's turn.
func (c *copier) keep(b *store.Batch) error {
	defer b.Release()
	n := int32(len(c.aside.at))
	c.kept = append(c.kept, piece{b.Set, n, b.RowID(0)})
	return c.aside.put(n, b.Cell(0, 0).Bytes())
}

// piece is a piece of a plain file that is kept.
type piece struct {
	set   int
	n     int32
	rowid int64
}

// giveKept yields the plain files in the order of their new names.
func (c *copier) giveKept(ctx context.Context) error {
	slices.SortStableFunc(c.kept, func(a, b piece) int { return cmp.Compare(a.set, b.set) })
	for _, p := range c.kept {
		text, err := c.aside.get(p.n)
		if err != nil {
			return err
		}
		b := store.NewBatch(p.set, 1)
		b.Row(p.rowid)
		b.AddBytes(store.Blob, text)
		if err := cmp.Or(c.give(b), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// pass passes the rows of a batch on.
func (c *copier) pass(b *store.Batch) error {
	out := c.out
	c.out = nil
	if out != nil && c.o.Client {
		out = c.filter.Apply(out)
	}
	return c.give(out)
}

// row rewrites a row of a table, or a line of documents.
func (c *copier) row(ctx context.Context, n int64, b *store.Batch, i int) error {
	if c.set != b.Set {
		c.set, c.dropped = b.Set, 0
	}
	if c.out == nil {
		c.out = store.NewBatch(c.to[b.Set], b.Width())
	}
	kind := c.schema.Sets[c.to[b.Set]].Kind
	c.record = b.RowID(i)
	if kind == store.Lines {
		c.record -= c.dropped
	}
	blob, isBlob := addressed(b, i, kind)
	cells := make([]store.Cell, b.Width())
	for col := range cells {
		cells[col] = b.Cell(i, col)
		v := cells[col].Bytes()
		if len(v) == 0 {
			if err := c.number(ctx, cells[col]); err != nil {
				return c.failure(b, i, err)
			}
			continue
		}
		var out []byte
		var err error
		if isBlob && blob.col == col {
			out, err = c.blob(ctx, &blob, v)
		} else {
			out, err = c.cell(ctx, c.retell(record{b.Set, col, n}, v), false)
		}
		if err != nil {
			return c.failure(b, i, err)
		}
		if !bytes.Equal(out, v) {
			if cells[col].Class == store.Text {
				cells[col] = store.TextCell(out)
			} else {
				cells[col] = store.BlobCell(out)
			}
		}
	}
	if isBlob && c.duplicate(b.Set, blob.id, kind, cells) {
		c.dropped++
		return nil
	}
	c.out.Row(c.record)
	for _, cell := range cells {
		c.out.Add(cell)
	}
	return nil
}

// number returns an error if a number would have to change: whatever replaced it would be
// of another type.
func (c *copier) number(ctx context.Context, cell store.Cell) error {
	switch cell.Class {
	case store.Int:
		c.digits = strconv.AppendInt(c.digits[:0], cell.Int(), 10)
	case store.Real:
		c.digits = strconv.AppendFloat(c.digits[:0], cell.Real(), 'f', -1, 64)
	default:
		return nil
	}
	out, err := c.rw.Value(ctx, c.digits, false, nil)
	if err == nil && !bytes.Equal(out, c.digits) {
		err = &formats.Error{Err: errors.New("a number is a value to redact"), Hint: "delete this record from a copy of the store, or omit the word or pattern"}
	}
	return err
}

// cell rewrites a value and the references in it.
func (c *copier) cell(ctx context.Context, v []byte, blob bool) ([]byte, error) {
	out, lost, err := c.value(ctx, v, blob, c.hit)
	for _, code := range lost {
		c.o.OnLoss.Add(loss.Loss{Code: code, At: c.at()})
	}
	if err == nil && len(c.graph.next) > 0 {
		out, _ = c.graph.find.replace(out, 0)
	}
	return out, err
}

// blob rewrites the cell of a blob.
func (c *copier) blob(ctx context.Context, a *address, v []byte) ([]byte, error) {
	content := a.content
	to, changed := c.graph.next[a.id]
	if changed {
		var err error
		if content, err = c.cell(ctx, content, true); err != nil {
			return nil, err
		}
		if sha256.Sum256(content) != to {
			return nil, formats.Changed("", "")
		}
	}
	if a.form != asLine {
		if !changed {
			return v, nil
		}
		return a.spell(content), nil
	}
	around := append(bytes.Clone(v[:a.from]), v[a.to:]...)
	out, err := c.cell(ctx, around, false)
	if err != nil || !changed && bytes.Equal(out, around) {
		return v, err
	}
	data := rawjson.Last(out, dataMember)
	at := cap(out) - cap(data) + 1
	return bytes.Join([][]byte{out[:at], a.spell(content), out[at:]}, nil), nil
}

// duplicate reports whether a record of a blob is what another became.
func (c *copier) duplicate(set int, was id, kind store.Kind, cells []store.Cell) bool {
	is, ok := c.graph.next[was]
	if !ok {
		is = was
	}
	if !c.graph.merged[is] {
		return false
	}
	key := []byte{byte(set), byte(set >> 8), byte(set >> 16), byte(set >> 24)}
	if kind == store.Lines {
		key = append(key, cells[0].Bytes()...)
	} else {
		key = append(key, is[:]...)
	}
	sum := sha256.Sum256(key)
	again := c.seen[sum]
	c.seen[sum] = true
	return again
}

// at returns the address of the record at hand in the new store.
func (c *copier) at() store.Addr {
	s := &c.schema.Sets[c.to[c.set]]
	at := store.Addr{File: cmp.Or(s.File, c.o.Name), Set: s.Name}
	if s.Kind == store.Table {
		at.RowID, at.HasID = c.record, c.record != 0
	} else {
		at.Line = int(c.record)
	}
	return at
}

func (c *copier) hit(kind string) {
	if c.o.OnHit != nil {
		c.o.OnHit(kind, c.at())
	}
}

// retell returns a value with the text that it has now, if it is a delta.
func (c *copier) retell(at record, v []byte) []byte {
	t, ok := c.retold[at]
	if !ok {
		return v
	}
	for _, kind := range t.hits {
		c.hit(kind)
	}
	return t.again(v)
}

// text rewrites a line of a plain file, or all of the file.
func (c *copier) text(ctx context.Context, set, line int, v []byte, pass func(*store.Batch) error) error {
	if c.set, c.record = set, int64(line); !c.file.open {
		c.file = pieces{set: c.to[set], open: true}
	}
	out, err := c.cell(ctx, c.retell(record{set, 0, int64(line)}, v), false)
	if err != nil {
		return err
	}
	return c.file.add(out, pass)
}

// pieces cuts a plain file into records.
type pieces struct {
	set  int
	open bool
	n    int64
	b    []byte
}

func (p *pieces) add(text []byte, give func(*store.Batch) error) error {
	for p.b = append(p.b, text...); len(p.b) >= store.PieceBytes; {
		if err := p.piece(p.b[:store.PieceBytes], give); err != nil {
			return err
		}
		p.b = p.b[:copy(p.b, p.b[store.PieceBytes:])]
	}
	return nil
}

func (p *pieces) piece(text []byte, give func(*store.Batch) error) error {
	b := store.NewBatch(p.set, 1)
	b.Row(p.n)
	b.AddBytes(store.Blob, text)
	p.n++
	return give(b)
}

func (p *pieces) end(give func(*store.Batch) error) error {
	p.open = false
	if len(p.b) == 0 {
		return nil
	}
	return p.piece(p.b, give)
}

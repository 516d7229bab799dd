package sqlitepages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"rehome/formats/store"
)

// MaxRecord is how long a record may be that is put together in memory. Of a
// longer one the cells that lie behind are poured.
const MaxRecord = 24 << 20

// Row is one record where it lies: its cells are views of the file, valid until
// the next row.
type Row struct {
	RowID int64
	Place Place
	Long  bool // longer than what is held: Cell gives only what lies in front

	file   *File
	Types  []uint64
	starts []int64 // offset of each cell's body in the record
	record []byte  // all of it, or its beginning
	size   int64
	over   uint32 // first page of what does not lie on the leaf
	local  int
	Joined []byte // room for records that lie on several pages
}

// Place is where a row lies, for reading it again.
type Place uint64

func place(page uint32, cell int) Place { return Place(page)<<16 | Place(cell) }

// Len is how many cells the record has. A table can have more columns: those
// were added later, and the row has their defaults.
func (r *Row) Len() int { return len(r.Types) }

// Size is how many bytes the record takes.
func (r *Row) Size() int64 { return r.size }

// Record is the record as it is stored, header and cells; nil if it is Long.
func (r *Row) Record() []byte {
	if r.Long {
		return nil
	}
	return r.record
}

var errRecord = errors.New("invalid record header")

// parse reads the record's header. What was put together is in r.record.
func (r *Row) parse() error {
	r.Types, r.starts = r.Types[:0], r.starts[:0]
	head, n := varint(r.record)
	if n == 0 || head < uint64(n) || head > uint64(len(r.record)) {
		return errRecord
	}
	at := int64(head)
	for b := r.record[n:head]; len(b) > 0; {
		t, n := varint(b)
		if n == 0 || t == 10 || t == 11 || b[0] == 0x80 { // SQLite writes no leading zeros
			return errRecord
		}
		b = b[n:]
		r.Types, r.starts = append(r.Types, t), append(r.starts, at)
		if t >= 12 && t > uint64(r.size)*2+13 {
			return errRecord
		}
		at += widthOf(t)
	}
	if at != r.size {
		return errRecord
	}
	return nil
}

func widthOf(t uint64) int64 {
	switch {
	case t >= 12:
		return int64((t - 12) / 2)
	case t < 8:
		return [...]int64{0, 1, 2, 3, 4, 6, 8, 8}[t]
	}
	return 0
}

// Class is the class of a cell, NULL where the record has none.
func (r *Row) Class(i int) store.Class {
	if i >= len(r.Types) {
		return store.Null
	}
	switch t := r.Types[i]; {
	case t == 0:
		return store.Null
	case t == 7:
		return store.Real
	case t < 10:
		return store.Int
	case t&1 == 0:
		return store.Blob
	}
	return store.Text
}

// Width is how many bytes a text or blob has.
func (r *Row) Width(i int) int64 {
	if i >= len(r.Types) {
		return 0
	}
	return widthOf(r.Types[i])
}

// Cell is one cell; of a Long row, NULL where it is not held whole. Text is
// UTF-8, whatever the database keeps.
func (r *Row) Cell(i int) store.Cell {
	c := r.Stored(i)
	if c.Class == store.Text && !r.file.UTF8() {
		return store.TextCell([]byte(r.file.text(c)))
	}
	return c
}

// Stored is one cell as it lies.
func (r *Row) Stored(i int) store.Cell {
	if i >= len(r.Types) {
		return store.NullCell()
	}
	t, from := r.Types[i], r.starts[i]
	to := from + widthOf(t)
	if to > int64(len(r.record)) {
		return store.NullCell()
	}
	b := r.record[from:to:to]
	switch {
	case t == 0:
		return store.NullCell()
	case t == 7:
		return store.RealCell(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case t == 8 || t == 9:
		return store.IntCell(int64(t - 8))
	case t < 7:
		v := int64(int8(b[0]))
		for _, c := range b[1:] {
			v = v<<8 | int64(c)
		}
		return store.IntCell(v)
	case t&1 == 0:
		return store.BlobCell(b)
	}
	return store.TextCell(b)
}

// Pour writes the bytes of a cell of a Long row, page by page.
func (r *Row) Pour(i int, to io.Writer) error {
	from, left := r.starts[i], widthOf(r.Types[i])
	give := func(b []byte, at int64) error { // a piece of the record
		lo, hi := max(from-at, 0), min(from+left-at, int64(len(b)))
		if lo >= hi {
			return nil
		}
		_, err := to.Write(b[lo:hi])
		return err
	}
	if err := give(r.record, 0); err != nil {
		return err
	}
	at := int64(len(r.record))
	for page := r.over; at < from+left; {
		b, err := r.file.View(page)
		if err != nil {
			return err
		}
		n := min(int64(r.file.Usable-4), r.size-at)
		if err := give(b[4:4+n], at); err != nil {
			return err
		}
		page, at = binary.BigEndian.Uint32(b), at+n
	}
	return nil
}

// Take puts a cell of a leaf or an index page together. used is told of each
// page that holds more of it; nil where they were counted before.
func (r *Row) Take(f *File, payload []byte, size int64, local int, used func(page uint32) error) error {
	r.file, r.size, r.Long, r.over, r.local = f, size, false, 0, local
	r.record = payload[:local]
	if int64(local) == size {
		return r.parse()
	}
	r.over = binary.BigEndian.Uint32(payload[local:])
	if size > MaxRecord {
		r.Long = true
		r.Joined = append(r.Joined[:0], r.record...) // pages go by while the chain is walked
		r.record = r.Joined
		if used != nil {
			if err := r.chain(used, nil); err != nil {
				return err
			}
		}
		return r.parse()
	}
	if cap(r.Joined) < int(size) {
		r.Joined = make([]byte, 0, roomFor(size))
	}
	r.Joined = append(r.Joined[:0], r.record...)
	err := r.chain(used, func(b []byte) { r.Joined = append(r.Joined, b...) })
	r.record = r.Joined
	if err != nil {
		return err
	}
	return r.parse()
}

func roomFor(size int64) int64 {
	if size > 1<<20 {
		return size
	}
	return max(64<<10, size+size/4)
}

// chain walks the pages that hold the rest of a record.
func (r *Row) chain(used func(page uint32) error, take func([]byte)) error {
	page, left := r.over, r.size-int64(r.local)
	for left > 0 {
		if used != nil {
			if err := used(page); err != nil {
				return err
			}
		}
		b, err := r.file.View(page)
		if err != nil {
			return err
		}
		n := min(int64(r.file.Usable-4), left)
		if take != nil {
			take(b[4 : 4+n])
		}
		next := binary.BigEndian.Uint32(b)
		if left -= n; left == 0 && next != 0 && used != nil {
			return fmt.Errorf("the overflow chain of a record continues after its end, at page %d", page)
		}
		page = next
	}
	return nil
}

// Again reads a row that was seen before. It is valid until the next one.
func (p *File) Again(at Place) (*Row, error) {
	page, err := p.View(uint32(at >> 16))
	if err != nil {
		return nil, err
	}
	c, ok := p.CellAt(uint32(at>>16), page, int(at&0xffff))
	if !ok {
		return nil, errRecord // the file is not what it was
	}
	p.Row.RowID, p.Row.Place = c.RowID, at
	return &p.Row, p.Row.Take(p, c.Payload, c.Size, c.Local, nil)
}

// CellAt is a cell of a table's leaf by its number.
func (p *File) CellAt(n uint32, page []byte, i int) (c cellOn, ok bool) {
	head := 0
	if n == 1 {
		head = HeaderBytes
	}
	if page[head] != LeafTable || i >= int(binary.BigEndian.Uint16(page[head+3:])) || head+10+2*i > p.Usable {
		return c, false
	}
	return p.LeafCell(page, int(binary.BigEndian.Uint16(page[head+8+2*i:])))
}

package sqlitepages

import "encoding/binary"

// Kinds of pages.
const (
	LeafTable  = 0x0d
	InnerIndex = 0x02
	innerTable = 0x05
	LeafIndex  = 0x0a
)

// cellOn is one cell of a page.
type cellOn struct {
	child   uint32 // of inner pages
	RowID   int64  // of table pages
	Payload []byte // from where the record begins to the end of the page
	Size    int64  // of the record, 0 on inner pages of tables
	Local   int    // bytes of it on this page
	bytes   int    // that the cell takes here
}

// LeafCell reads a cell of a table's leaf.
func (p *File) LeafCell(page []byte, at int) (c cellOn, ok bool) {
	if at >= p.Usable {
		return c, false
	}
	b := page[at:p.Usable]
	size, n := varint(b)
	if n == 0 {
		return c, false
	}
	id, k := varint(b[n:])
	if k == 0 {
		return c, false
	}
	c.RowID = int64(id)
	return c, p.payload(&c, b, n+k, size, p.Usable-35)
}

// innerCell reads a cell of a table's inner page.
func (p *File) innerCell(page []byte, at int) (c cellOn, ok bool) {
	if at+5 > p.Usable {
		return c, false
	}
	b := page[at:p.Usable]
	c.child = binary.BigEndian.Uint32(b)
	id, n := varint(b[4:])
	c.RowID, c.bytes = int64(id), 4+n
	return c, n > 0
}

// indexCell reads a cell of an index's page.
func (p *File) indexCell(page []byte, at int, inner bool) (c cellOn, ok bool) {
	if at >= p.Usable {
		return c, false
	}
	b, from := page[at:p.Usable], 0
	if inner {
		if len(b) < 5 {
			return c, false
		}
		c.child, from = binary.BigEndian.Uint32(b), 4
	}
	size, n := varint(b[from:])
	if n == 0 {
		return c, false
	}
	return c, p.payload(&c, b, from+n, size, (p.Usable-12)*64/255-23)
}

// payload finds out how much of a record lies on the page: up to most bytes
// all of it, else as much as leaves the last page of the rest full.
func (p *File) payload(c *cellOn, b []byte, from int, size uint64, most int) bool {
	if size > 1<<40 || int64(size) > int64(p.Pages)*int64(p.Page) {
		return false
	}
	c.Size, c.Local = int64(size), int(size)
	rest := 0
	if int64(size) > int64(most) {
		least := (p.Usable-12)*32/255 - 23
		c.Local = least + int((size-uint64(least))%uint64(p.Usable-4))
		if c.Local > most {
			c.Local = least
		}
		rest = 4
	}
	if from+c.Local+rest > len(b) {
		return false
	}
	c.Payload, c.bytes = b[from:], max(from+c.Local+rest, 4)
	return true
}

// varint reads SQLite's kind: seven bits a byte, the highest first, eight in
// the ninth.
func varint(b []byte) (v uint64, n int) {
	for n < len(b) {
		c := b[n]
		n++
		if n == 9 {
			return v<<8 | uint64(c), n
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return v, n
		}
	}
	return 0, 0
}

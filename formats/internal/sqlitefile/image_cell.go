package sqlitefile

import "encoding/binary"

// Kinds of pages.
const (
	leafTable  = 0x0d
	innerIndex = 0x02
	innerTable = 0x05
	leafIndex  = 0x0a
)

// cellOn is one cell of a page.
type cellOn struct {
	child   uint32 // of inner pages
	rowID   int64  // of table pages
	payload []byte // from where the record begins to the end of the page
	size    int64  // of the record, 0 on inner pages of tables
	local   int    // bytes of it on this page
	bytes   int    // that the cell takes here
}

// leafCell reads a cell of a table's leaf.
func (m *Image) leafCell(page []byte, at int) (c cellOn, ok bool) {
	if at >= m.Usable {
		return c, false
	}
	b := page[at:m.Usable]
	size, n := varint(b)
	if n == 0 {
		return c, false
	}
	id, k := varint(b[n:])
	if k == 0 {
		return c, false
	}
	c.rowID = int64(id)
	return c, m.payload(&c, b, n+k, size, m.Usable-35)
}

// innerCell reads a cell of a table's inner page.
func (m *Image) innerCell(page []byte, at int) (c cellOn, ok bool) {
	if at+5 > m.Usable {
		return c, false
	}
	b := page[at:m.Usable]
	c.child = binary.BigEndian.Uint32(b)
	id, n := varint(b[4:])
	c.rowID, c.bytes = int64(id), 4+n
	return c, n > 0
}

// indexCell reads a cell of an index's page.
func (m *Image) indexCell(page []byte, at int, inner bool) (c cellOn, ok bool) {
	if at >= m.Usable {
		return c, false
	}
	b, from := page[at:m.Usable], 0
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
	return c, m.payload(&c, b, from+n, size, (m.Usable-12)*64/255-23)
}

// payload finds out how much of a record lies on the page: up to most bytes
// all of it, else as much as leaves the last page of the rest full.
func (m *Image) payload(c *cellOn, b []byte, from int, size uint64, most int) bool {
	if size > 1<<40 || int64(size) > int64(m.Pages)*int64(m.Page) {
		return false
	}
	c.size, c.local = int64(size), int(size)
	rest := 0
	if int64(size) > int64(most) {
		least := (m.Usable-12)*32/255 - 23
		c.local = least + int((size-uint64(least))%uint64(m.Usable-4))
		if c.local > most {
			c.local = least
		}
		rest = 4
	}
	if from+c.local+rest > len(b) {
		return false
	}
	c.payload, c.bytes = b[from:], max(from+c.local+rest, 4)
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

package sqlitepages

import (
	"encoding/binary"
	"errors"
)

// Unused marks the pages that the file lists as unused, so that Stray takes no deleted
// rows from them. It reports whether the list is sound.
func (s *Salvage) Unused() (sound bool, err error) {
	left := binary.BigEndian.Uint32(s.File.Head[36:])
	for trunk := binary.BigEndian.Uint32(s.File.Head[32:]); trunk != 0; {
		if left == 0 || s.use(trunk) != nil {
			return false, s.Ctx.Err()
		}
		page, _, err := s.File.page(trunk)
		if gone(err) {
			return false, err
		}
		if err != nil {
			return false, nil
		}
		count := binary.BigEndian.Uint32(page[4:])
		if left--; count > left || int64(count) > int64(s.File.Usable/4-2) {
			return false, nil
		}
		left -= count
		for i := range count {
			if s.use(binary.BigEndian.Uint32(page[8+4*i:])) != nil {
				return false, nil
			}
		}
		trunk = binary.BigEndian.Uint32(page)
	}
	return left == 0, s.Ctx.Err()
}

var errStray = errors.New("no page refers to it, and its rows are not like those of a damaged table")

// Stray gives take the rows of leaves that nothing refers to: those of a table with so
// many columns, of which some rows are known. The last call reports the other leaves.
func (s *Salvage) Stray(known Known, width int, last bool, take func(*Row) error) error {
	s.Known = known
	for n := uint32(2); n <= s.File.Pages; n++ {
		if s.used[n/64]&(1<<(n%64)) != 0 {
			continue
		}
		if err := s.Ctx.Err(); err != nil {
			return err
		}
		page, head, err := s.File.page(n)
		if gone(err) {
			return err
		}
		if err != nil || page[head] != LeafTable {
			continue
		}
		if !s.like(page, head, width) {
			if last {
				s.Lost(n, errStray)
			}
			continue
		}
		if err := s.page(n, 1, take); err != nil {
			return err
		}
	}
	return nil
}

// like reports whether the rows of a leaf are those of a table with so many columns; some
// may have fewer, from before columns were added.
func (s *Salvage) like(page []byte, head, width int) bool {
	if !s.leafLike(page, head) {
		return false
	}
	count, _ := s.cells(page, head, head+8)
	most := 0
	for i := range count {
		c, _ := s.File.LeafCell(page, int(binary.BigEndian.Uint16(page[head+8+2*i:])))
		most = max(most, columns(c.Payload[:c.Local]))
	}
	return most == width
}

// columns returns how many columns a record has, as far as its header is in b.
func columns(b []byte) (n int) {
	head, at := varint(b)
	if at == 0 || head < uint64(at) || head > uint64(len(b)) {
		return 0
	}
	for b = b[at:head]; len(b) > 0; n++ {
		_, at := varint(b)
		if at == 0 {
			return 0
		}
		b = b[at:]
	}
	return n
}

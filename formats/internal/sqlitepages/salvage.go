package sqlitepages

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Salvage reads the rows of tables whatever is wrong with their pages. Unlike a Walk it
// goes on behind each flaw. It trusts a page as far as its cells can be read.
type Salvage struct {
	Ctx  context.Context
	File *File
	Lost func(page uint32, why error) // receives each page, and each page with a cell, that cannot be read

	used  []uint64 // a bit for each page
	Known          // of the table so far
	cut   bool     // part of the table's tree could not be followed
}

// Known are the row ids of a table.
type Known struct {
	ids []int64 // as long as they increase
	odd map[int64]bool
}

// NewSalvage begins to salvage a file.
func NewSalvage(ctx context.Context, f *File, lost func(page uint32, why error)) *Salvage {
	return &Salvage{Ctx: ctx, File: f, Lost: lost, used: make([]uint64, (uint64(f.Pages)+64)/64)}
}

// Table gives each row of a table to take, whose error ends it. If part of the table's
// tree could not be followed, its leaves may be among those that Stray finds once all
// tables are read.
func (s *Salvage) Table(root uint32, take func(*Row) error) (known Known, cut bool, err error) {
	s.Known, s.cut = Known{odd: map[int64]bool{}}, false
	err = s.page(root, 1, take)
	return s.Known, s.cut, err
}

var errTwice = errors.New("used twice")

// use marks a page as used.
func (s *Salvage) use(n uint32) error {
	if n == 0 || n > s.File.Pages {
		return fmt.Errorf("page %d does not exist", n)
	}
	bit := uint64(1) << (n % 64)
	if s.used[n/64]&bit != 0 {
		return fmt.Errorf("page %d is %w", n, errTwice)
	}
	s.used[n/64] |= bit
	return nil
}

func (s *Salvage) page(n uint32, depth int, take func(*Row) error) error {
	if err := s.Ctx.Err(); err != nil {
		return err
	}
	err := s.use(n)
	if err == nil && depth > maxTree {
		err = errTree
	}
	var page []byte
	head := 0
	if err == nil {
		page, head, err = s.File.page(n)
	}
	if gone(err) {
		return err
	}
	if err != nil {
		s.cut = true
		s.Lost(n, err)
		return nil
	}
	page = slices.Clone(page) // others are read while this is walked
	switch {
	case page[head] == innerTable:
		return s.inner(n, page, head, depth, take)
	case page[head] == LeafTable || s.leafLike(page, head):
		return s.leaf(n, page, head, take)
	}
	s.cut = true
	s.Lost(n, fmt.Errorf("not a page of a table (type %d)", page[head]))
	return nil
}

// cells returns how many cells a page can have at most, and where their offsets begin.
func (s *Salvage) cells(page []byte, head, offsets int) (count, content int) {
	count = int(binary.BigEndian.Uint16(page[head+3:]))
	content = int(binary.BigEndian.Uint16(page[head+5:]))
	if content == 0 || content > s.File.Usable {
		content = s.File.Usable
	}
	return min(count, max(0, (s.File.Usable-offsets)/2)), content
}

// leafLike reports whether a page of another type has the cells of a leaf.
func (s *Salvage) leafLike(page []byte, head int) bool {
	count, _ := s.cells(page, head, head+8)
	last := int64(0)
	for i := range count {
		at := int(binary.BigEndian.Uint16(page[head+8+2*i:]))
		c, ok := cellOn{}, at >= head+8+2*count
		if ok {
			c, ok = s.File.LeafCell(page, at)
		}
		if !ok || i > 0 && c.RowID <= last {
			return false
		}
		last = c.RowID
	}
	return count > 0
}

func (s *Salvage) inner(n uint32, page []byte, head, depth int, take func(*Row) error) error {
	count, _ := s.cells(page, head, head+12)
	for i := range count {
		c, ok := s.File.innerCell(page, int(binary.BigEndian.Uint16(page[head+12+2*i:])))
		if !ok {
			s.cut = true
			s.Lost(n, fmt.Errorf("cell %d is outside the page", i))
			continue
		}
		if err := s.page(c.child, depth+1, take); err != nil {
			return err
		}
	}
	return s.page(binary.BigEndian.Uint32(page[head+8:]), depth+1, take)
}

func (s *Salvage) leaf(n uint32, page []byte, head int, take func(*Row) error) error {
	count, _ := s.cells(page, head, head+8)
	for i := range count {
		at := int(binary.BigEndian.Uint16(page[head+8+2*i:]))
		c, ok := cellOn{}, at >= head+8+2*count
		if ok {
			c, ok = s.File.LeafCell(page, at)
		}
		if !ok {
			s.Lost(n, fmt.Errorf("cell %d is outside the page", i))
			continue
		}
		if s.has(c.RowID) {
			s.Lost(n, fmt.Errorf("row id %d comes twice", c.RowID))
			continue
		}
		r := &s.File.Row
		r.RowID, r.Place = c.RowID, place(n, i)
		err := r.Take(s.File, c.Payload, c.Size, c.Local, s.use)
		if err == nil {
			err = take(r)
			if err != nil {
				return err
			}
			s.add(c.RowID)
			continue
		}
		if gone(err) {
			return err
		}
		s.Lost(n, fmt.Errorf("row id %d: %w", c.RowID, err))
	}
	return nil
}

// has reports whether a row with this id was read before.
func (s *Known) has(id int64) bool {
	_, found := slices.BinarySearch(s.ids, id)
	return found || s.odd[id]
}

func (s *Known) add(id int64) {
	if n := len(s.ids); n > 0 && s.ids[n-1] >= id {
		s.odd[id] = true
		return
	}
	s.ids = append(s.ids, id)
}

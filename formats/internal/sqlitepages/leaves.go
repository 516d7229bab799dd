package sqlitepages

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errTree = errors.New("not a valid table tree")

// Leaves walks the tree of a table without reading its leaves. It calls inner with
// each inner page and leaf with each leaf, in the order of their rows. That a page
// is a leaf follows from its depth: whoever reads it checks it with LeafRows.
func (p *File) Leaves(root uint32, inner, leaf func(page uint32) error) error {
	depth, err := p.depth(root)
	if err != nil {
		return err
	}
	left := int64(p.Pages) // a loop in a damaged tree ends
	var walk func(n uint32, depth int) error
	walk = func(n uint32, depth int) error {
		if left--; left < 0 {
			return fmt.Errorf("%w: page %d is used twice", errTree, n)
		}
		if depth == 0 {
			return leaf(n)
		}
		if err := inner(n); err != nil {
			return err
		}
		children, err := p.children(n)
		if err != nil {
			return err
		}
		for _, c := range children {
			if err := walk(c, depth-1); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(root, depth)
}

// depth is how many inner pages lie above the leaves of a table.
func (p *File) depth(n uint32) (int, error) {
	for depth := range maxTree {
		page, head, err := p.page(n)
		if err != nil {
			return 0, err
		}
		switch page[head] {
		case LeafTable:
			return depth, nil
		case innerTable:
		default:
			return 0, fmt.Errorf("%w: page %d has type %d", errTree, n, page[head])
		}
		children, err := p.children(n)
		if err != nil {
			return 0, err
		}
		n = children[0]
	}
	return 0, fmt.Errorf("%w: deeper than %d levels", errTree, maxTree)
}

// page is a page and where its header starts.
func (p *File) page(n uint32) (page []byte, head int, err error) {
	page, err = p.View(n)
	if n == 1 {
		head = HeaderBytes
	}
	return page, head, err
}

// children are the pages below an inner page of a table, at least one.
func (p *File) children(n uint32) ([]uint32, error) {
	page, head, err := p.page(n)
	if err != nil {
		return nil, err
	}
	count := int(binary.BigEndian.Uint16(page[head+3:]))
	if page[head] != innerTable || head+12+2*count > p.Usable {
		return nil, fmt.Errorf("%w: page %d is not an inner page", errTree, n)
	}
	list := make([]uint32, 0, count+1)
	for i := range count {
		c, ok := p.innerCell(page, int(binary.BigEndian.Uint16(page[head+12+2*i:])))
		if !ok {
			return nil, fmt.Errorf("%w: page %d: cell %d is outside the page", errTree, n, i)
		}
		list = append(list, c.child)
	}
	return append(list, binary.BigEndian.Uint32(page[head+8:])), nil
}

// LeafRows calls f with each row of a table's leaf. used is called with each
// overflow page of a row; it may be nil. buffer holds the page meanwhile.
func (p *File) LeafRows(n uint32, buffer *[]byte, used func(page uint32) error, f func(*Row) error) error {
	view, head, err := p.page(n)
	if err != nil {
		return err
	}
	page := append((*buffer)[:0], view...) // overflow pages are viewed while this is walked
	*buffer = page
	count := int(binary.BigEndian.Uint16(page[head+3:]))
	if page[head] != LeafTable || head+8+2*count > p.Usable {
		return fmt.Errorf("%w: page %d is not a leaf", errTree, n)
	}
	for i := range count {
		c, ok := p.CellAt(n, page, i)
		if !ok {
			return fmt.Errorf("%w: page %d: cell %d is outside the page", errTree, n, i)
		}
		p.Row.RowID, p.Row.Place = c.RowID, place(n, i)
		if err := p.Row.Take(p, c.Payload, c.Size, c.Local, used); err != nil {
			return err
		}
		if err := f(&p.Row); err != nil {
			return err
		}
	}
	return nil
}

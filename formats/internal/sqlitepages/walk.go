package sqlitepages

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// FlawKind sorts what can be wrong with the pages of a database.
type FlawKind uint8

// The kinds, in the order in which they are looked for. With one of the first
// four rows may be lost.
const (
	BadPage    FlawKind = iota // a page that cannot be what it should be
	SharedPage                 // a page that belongs to two
	BadOrder                   // rows or entries out of order
	BadFree                    // the list of unused pages
	LostPage                   // a page that belongs to nothing
	BadIndex                   // an index and its table do not hold the same
	BadMap                     // the pointer map of auto_vacuum
	BadValue                   // a value that its column does not allow
	BadText                    // text that is none in the database's encoding
	OddClass                   // a blob in a column of texts, which SQLite allows
)

// Flaw is one thing that is wrong.
type Flaw struct {
	Kind  FlawKind
	Table string // or index
	RowID int64
	HasID bool
	Says  string // what is wrong: a format if there are Args
	Args  []any
}

// String returns what is wrong.
func (f Flaw) String() string {
	if len(f.Args) == 0 {
		return f.Says
	}
	return fmt.Sprintf(f.Says, f.Args...)
}

// mostFlaws is how many flaws are told of: one broken page can break thousands.
const mostFlaws = 1000

// Walk is one walk over all of a database. It looks at every page, calls f
// with each row of the tables that have one, and tells of flaws.
type Walk struct {
	file  *File
	found func(Flaw)
	Ctx   context.Context

	Used  []uint64 // a bit for each page
	Flaws int
	Owner string
	last  int64 // row id
	some  bool  // there is a last
	depth int   // of the leaves, 0 before the first
	spans []uint64
	Steps int64 // pages, cells and index entries looked at

	copies [maxTree + 1][]byte // of the pages that the walk stands on
}

// maxTree is how deep SQLite lets a tree be.
const maxTree = 20

// NewWalk begins a walk.
func NewWalk(ctx context.Context, f *File, found func(Flaw)) *Walk {
	return &Walk{file: f, Ctx: ctx, found: found, Used: make([]uint64, (uint64(f.Pages)+64)/64)}
}

// Flawf tells of one.
func (w *Walk) Flawf(k FlawKind, format string, args ...any) {
	w.Report(Flaw{Kind: k, Table: w.Owner, Says: format, Args: args})
}

func (w *Walk) Report(f Flaw) {
	if w.Flaws++; w.Flaws <= mostFlaws {
		w.found(f)
	}
}

// take marks a page as used.
func (w *Walk) take(n uint32) bool {
	if n == 0 || n > w.file.Pages {
		w.Flawf(BadPage, "page %d does not exist", n)
		return false
	}
	bit := uint64(1) << (n % 64)
	if w.Used[n/64]&bit != 0 {
		w.Flawf(SharedPage, "page %d is used twice", n)
		return false
	}
	w.Used[n/64] |= bit
	return true
}

// taken is take for the pages behind a long record, for Row.take.
func (w *Walk) taken(n uint32) error {
	if !w.take(n) {
		return errTold
	}
	return nil
}

// errTold ends a record whose flaw is told.
var errTold = fmt.Errorf("told")

// Leaf is what is done with each cell of a tree. An error ends the walk.
type Leaf struct {
	Table bool               // a table's tree, else one of an index or a table without row ids
	Take  func(r *Row) error // each record
}

// Tree walks one tree. What it returns is an error of reading or of f, not of
// the file.
func (w *Walk) Tree(owner string, root uint32, l *Leaf) error {
	w.Owner, w.some, w.depth = owner, false, 0
	return w.page(root, 1, l)
}

// page walks a page and what is below it.
func (w *Walk) page(n uint32, depth int, l *Leaf) error {
	w.Steps++
	if depth > maxTree {
		w.Flawf(BadPage, "page %d is deeper than %d levels", n, maxTree)
		return nil
	}
	if !w.take(n) {
		return nil
	}
	if err := w.Ctx.Err(); err != nil {
		return err
	}
	page, err := w.file.View(n)
	if err != nil {
		return w.Unread(n, err)
	}
	head := 0
	if n == 1 {
		head = HeaderBytes
	}
	kind := page[head]
	inner := kind == innerTable || kind == InnerIndex
	if table := kind == innerTable || kind == LeafTable; !inner && kind != LeafTable && kind != LeafIndex || table != l.Table {
		w.Flawf(BadPage, "page %d has type %d, which does not belong to this tree", n, kind)
		return nil
	}
	if !inner {
		if w.depth == 0 {
			w.depth = depth
		}
		if w.depth != depth {
			w.Flawf(BadPage, "page %d is not at the same depth as the other leaves", n)
			return nil
		}
	}
	if inner || !w.file.stable() {
		w.copies[depth] = append(w.copies[depth][:0], page...)
		page = w.copies[depth] // others are looked at while this is walked
	}
	return w.cells(n, page, head, inner, depth, l)
}

// Unread tells of a page that is not there; what the system refuses ends the
// walk.
func (w *Walk) Unread(n uint32, err error) error {
	if gone(err) {
		return err
	}
	w.Flawf(BadPage, "%v", err)
	return nil
}

// cells walks the cells of a page in their order.
func (w *Walk) cells(n uint32, page []byte, head int, inner bool, depth int, l *Leaf) error {
	count := int(binary.BigEndian.Uint16(page[head+3:]))
	array := head + 8
	if inner {
		array += 4
	}
	if array+2*count > w.file.Usable {
		w.Flawf(BadPage, "page %d has too many cells (%d)", n, count)
		return nil
	}
	spans := w.spans[:0] // cells of this page; those of the pages below come and go meanwhile
	w.spans = nil
	w.Steps += int64(count)
	for i := range count {
		at := int(binary.BigEndian.Uint16(page[array+2*i:]))
		c, ok := cellOn{}, at >= array+2*count
		if ok {
			c, ok = w.cell(page, at, inner, l)
		}
		if !ok {
			w.Flawf(BadPage, "page %d: cell %d is outside the page", n, i)
			return nil
		}
		spans = append(spans, uint64(at)<<32|uint64(at+c.bytes))
		if inner {
			if err := w.page(c.child, depth+1, l); err != nil {
				return err
			}
		}
		if err := w.one(n, i, &c, inner, l); err != nil {
			return err
		}
	}
	if inner {
		if err := w.page(binary.BigEndian.Uint32(page[head+8:]), depth+1, l); err != nil {
			return err
		}
	}
	w.spans = spans
	w.free(n, page, head, array+2*count)
	return nil
}

func (w *Walk) cell(page []byte, at int, inner bool, l *Leaf) (cellOn, bool) {
	switch {
	case !l.Table:
		return w.file.indexCell(page, at, inner)
	case inner:
		return w.file.innerCell(page, at)
	}
	return w.file.LeafCell(page, at)
}

// one looks at a cell, and gives its record away.
func (w *Walk) one(n uint32, i int, c *cellOn, inner bool, l *Leaf) error {
	if l.Table {
		if inner && w.some && w.last > c.RowID || !inner && w.some && w.last >= c.RowID {
			w.Report(Flaw{Kind: BadOrder, Table: w.Owner, RowID: c.RowID, HasID: true, Says: "row id %d follows %d", Args: []any{c.RowID, w.last}})
			return nil
		}
		w.last, w.some = c.RowID, true
		if inner {
			return nil
		}
	}
	r := &w.file.Row
	r.RowID, r.Place = c.RowID, place(n, i)
	if err := r.Take(w.file, c.Payload, c.Size, c.Local, w.taken); err != nil {
		return w.spoiled(n, i, err, l, c)
	}
	if l.Take == nil {
		return nil
	}
	return l.Take(r)
}

// spoiled tells of a record that cannot be read.
func (w *Walk) spoiled(n uint32, i int, err error, l *Leaf, c *cellOn) error {
	if gone(err) {
		return err
	}
	if !errors.Is(err, errTold) {
		w.Report(Flaw{Kind: BadPage, Table: w.Owner, RowID: c.RowID, HasID: l.Table, Says: "page %d, cell %d: %v", Args: []any{n, i, err}})
	}
	return nil
}

// free holds what a page says of its free room against where its cells lie:
// together they are all of it.
func (w *Walk) free(n uint32, page []byte, head, from int) {
	usable := w.file.Usable
	content := int(binary.BigEndian.Uint16(page[head+5:]))
	if content == 0 {
		content = 65536
	}
	if content < from || content > usable {
		w.Flawf(BadPage, "page %d: invalid start of content (%d)", n, content)
		return
	}
	for at, last := int(binary.BigEndian.Uint16(page[head+1:])), 0; at != 0; {
		if at <= last || at < content || at+4 > usable {
			w.Flawf(BadPage, "page %d: free block list points to offset %d", n, at)
			return
		}
		size := int(binary.BigEndian.Uint16(page[at+2:]))
		if size < 4 || at+size > usable {
			w.Flawf(BadPage, "page %d: invalid free block at %d (%d bytes)", n, at, size)
			return
		}
		w.spans = append(w.spans, uint64(at)<<32|uint64(at+size))
		last, at = at, int(binary.BigEndian.Uint16(page[at:]))
	}
	slices.Sort(w.spans)
	end, gaps := content, 0
	for _, s := range w.spans {
		lo, hi := int(s>>32), int(uint32(s))
		if lo < end {
			w.Flawf(BadPage, "page %d: cells overlap at %d", n, lo)
			return
		}
		gaps += lo - end
		end = hi
	}
	if gaps += usable - end; gaps != int(page[head+7]) {
		w.Flawf(BadPage, "page %d: %d free bytes between cells, but its header says %d", n, gaps, page[head+7])
	}
}

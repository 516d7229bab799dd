package store

import (
	"fmt"
	"math"
	"sync"
)

const (
	batchBytes    = 1 << 20 // a batch is full at about this many bytes of cells,
	batchRows     = 8192    // or at this many rows
	maxPooledSize = 8 << 20 // a larger arena is not pooled
)

// Batch is a sequence of records of one set in one arena. Its receiver owns it
// until Release; neither it nor its cells may be used afterwards.
type Batch struct {
	Set    int // index into Schema.Sets
	width  int
	rows   int
	rowids []int64
	slots  []slot
	ends   []int // arena length after each row
	arena  []byte
}

// slot is a cell without pointers: the garbage collector does not scan it.
type slot struct {
	bits  uint64 // value bits, or the arena offset of Text and Blob
	n     uint32
	class Class
}

var batches = sync.Pool{New: func() any { return new(Batch) }}

// NewBatch returns an empty batch for records of the given set and width.
func NewBatch(set, width int) *Batch {
	b := batches.Get().(*Batch)
	b.Set, b.width, b.rows = set, width, 0
	b.rowids, b.slots, b.ends, b.arena = b.rowids[:0], b.slots[:0], b.ends[:0], b.arena[:0]
	return b
}

// Release returns the batch to the pool. It must not be used afterwards.
func (b *Batch) Release() {
	if cap(b.arena) <= maxPooledSize {
		batches.Put(b)
	}
}

// Row starts a record. Exactly Width cells must be added before the next Row. The
// row id is 0 for sets without row ids.
func (b *Batch) Row(rowid int64) {
	if len(b.slots) != b.rows*b.width {
		panic(fmt.Sprintf("store: row %d has %d cells, want %d", b.rows, len(b.slots)-(b.rows-1)*b.width, b.width))
	}
	if b.rows > 0 {
		b.ends = append(b.ends, len(b.arena))
	}
	b.rows++
	b.rowids = append(b.rowids, rowid)
}

// AddNull adds a NULL cell to the current record.
func (b *Batch) AddNull() { b.slots = append(b.slots, slot{}) }

// AddWithheld adds a cell that replaces a secret.
func (b *Batch) AddWithheld() { b.slots = append(b.slots, slot{class: Withheld}) }

// AddInt adds an integer cell.
func (b *Batch) AddInt(v int64) { b.slots = append(b.slots, slot{bits: uint64(v), class: Int}) }

// AddReal adds a floating-point cell.
func (b *Batch) AddReal(v float64) {
	b.slots = append(b.slots, slot{bits: math.Float64bits(v), class: Real})
}

// AddText adds a text cell. It copies the text.
func (b *Batch) AddText(s string) {
	b.slots = append(b.slots, slot{bits: uint64(len(b.arena)), n: uint32(len(s)), class: Text})
	b.arena = append(b.arena, s...)
}

// AddBytes adds a Text or Blob cell. It copies the bytes.
func (b *Batch) AddBytes(c Class, p []byte) {
	b.slots = append(b.slots, slot{bits: uint64(len(b.arena)), n: uint32(len(p)), class: c})
	b.arena = append(b.arena, p...)
}

// Add adds any cell. It copies the bytes.
func (b *Batch) Add(c Cell) {
	if c.Class == Text || c.Class == Blob {
		b.AddBytes(c.Class, c.raw)
		return
	}
	b.slots = append(b.slots, slot{bits: c.bits, class: c.Class})
}

// Begin starts a Text or Blob cell that is written in pieces: append them to the
// returned arena, and pass the result to End.
func (b *Batch) Begin() []byte { return b.arena }

// End ends the cell that Begin started.
func (b *Batch) End(c Class, arena []byte) {
	from := len(b.arena)
	b.arena = arena
	b.slots = append(b.slots, slot{bits: uint64(from), n: uint32(len(arena) - from), class: c})
}

// Rows returns the number of records.
func (b *Batch) Rows() int { return b.rows }

// Width returns the number of cells in each record.
func (b *Batch) Width() int { return b.width }

// Size returns the number of bytes of all Text and Blob cells.
func (b *Batch) Size() int { return len(b.arena) }

// Full reports whether the batch has reached its target size.
func (b *Batch) Full() bool { return len(b.arena) >= batchBytes || b.rows >= batchRows }

// RowID returns the row id of record i.
func (b *Batch) RowID(i int) int64 { return b.rowids[i] }

// HideRowIDs sets the row ids of all records to 0.
func (b *Batch) HideRowIDs() { clear(b.rowids) }

// Cell returns a cell of record i. Its bytes are part of the batch.
func (b *Batch) Cell(i, col int) Cell {
	s := b.slots[i*b.width+col]
	if s.class == Text || s.class == Blob {
		return Cell{Class: s.class, raw: b.arena[s.bits : s.bits+uint64(s.n) : s.bits+uint64(s.n)]}
	}
	return Cell{Class: s.class, bits: s.bits}
}

// Span returns all Text and Blob content of record i, cell after cell.
func (b *Batch) Span(i int) []byte {
	from, to := 0, len(b.arena)
	if i > 0 {
		from = b.ends[i-1]
	}
	if i < len(b.ends) {
		to = b.ends[i]
	}
	return b.arena[from:to]
}

// Record returns a view of record i, valid until the batch is released.
func (b *Batch) Record(i int) Record { return Record{batch: b, row: i} }

// Record is a view of one row of a batch.
type Record struct {
	batch *Batch
	row   int
}

// Set returns the index of the record's set in the schema.
func (r Record) Set() int { return r.batch.Set }

// RowID returns the row id of the record, 0 if its set has none.
func (r Record) RowID() int64 { return r.batch.rowids[r.row] }

// Cell returns the cell in the given column.
func (r Record) Cell(col int) Cell { return r.batch.Cell(r.row, col) }

// Width returns the number of cells.
func (r Record) Width() int { return r.batch.width }

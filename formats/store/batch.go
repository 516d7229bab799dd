package store

import (
	"fmt"
	"math"
	"sync"
)

const (
	batchBytes = 1 << 20 // a batch is full at about this many bytes of cells,
	batchRows  = 8192    // or at this many rows
	keepBytes  = 8 << 20 // a larger arena is dropped, not pooled
)

// Batch is a run of records of one set in one arena. It belongs to whoever
// holds it until Release, after which neither it nor its cells may be touched.
type Batch struct {
	Set    int // index into Schema.Sets
	width  int
	rows   int
	rowids []int64
	slots  []slot
	ends   []int // arena length after each row
	arena  []byte
}

// slot is a cell without pointers: the collector never looks inside.
type slot struct {
	bits  uint64 // value bits, or the arena offset of Text and Blob
	n     uint32
	class Class
}

var batches = sync.Pool{New: func() any { return new(Batch) }}

// NewBatch takes an empty batch for records of the given set and width.
func NewBatch(set, width int) *Batch {
	b := batches.Get().(*Batch)
	b.Set, b.width, b.rows = set, width, 0
	b.rowids, b.slots, b.ends, b.arena = b.rowids[:0], b.slots[:0], b.ends[:0], b.arena[:0]
	return b
}

// Release gives the batch back. The batch must not be used afterwards.
func (b *Batch) Release() {
	if cap(b.arena) <= keepBytes {
		batches.Put(b)
	}
}

// Row begins a record. Exactly Width cells must be added before the next Row.
// Sets without row ids pass 0.
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

// AddWithheld adds a cell whose value was a secret.
func (b *Batch) AddWithheld() { b.slots = append(b.slots, slot{class: Withheld}) }

// AddInt adds an integer cell.
func (b *Batch) AddInt(v int64) { b.slots = append(b.slots, slot{bits: uint64(v), class: Int}) }

// AddReal adds a real cell.
func (b *Batch) AddReal(v float64) {
	b.slots = append(b.slots, slot{bits: math.Float64bits(v), class: Real})
}

// AddText adds a text cell, copying it into the arena.
func (b *Batch) AddText(s string) {
	b.slots = append(b.slots, slot{bits: uint64(len(b.arena)), n: uint32(len(s)), class: Text})
	b.arena = append(b.arena, s...)
}

// AddBytes adds a Text or Blob cell, copying the bytes into the arena.
func (b *Batch) AddBytes(c Class, p []byte) {
	b.slots = append(b.slots, slot{bits: uint64(len(b.arena)), n: uint32(len(p)), class: c})
	b.arena = append(b.arena, p...)
}

// Add adds any cell, copying it.
func (b *Batch) Add(c Cell) {
	if c.Class == Text || c.Class == Blob {
		b.AddBytes(c.Class, c.raw)
		return
	}
	b.slots = append(b.slots, slot{bits: c.bits, class: c.Class})
}

// Begin opens a Text or Blob cell that is written piece by piece through the
// returned arena: append to it and hand the result to End.
func (b *Batch) Begin() []byte { return b.arena }

// End closes the cell opened by Begin.
func (b *Batch) End(c Class, arena []byte) {
	from := len(b.arena)
	b.arena = arena
	b.slots = append(b.slots, slot{bits: uint64(from), n: uint32(len(arena) - from), class: c})
}

// Rows is the number of records.
func (b *Batch) Rows() int { return b.rows }

// Width is the number of cells of each record.
func (b *Batch) Width() int { return b.width }

// Size is the number of bytes of Text and Blob content.
func (b *Batch) Size() int { return len(b.arena) }

// Full reports whether the batch has reached its usual size.
func (b *Batch) Full() bool { return len(b.arena) >= batchBytes || b.rows >= batchRows }

// RowID is the row id of record i.
func (b *Batch) RowID(i int) int64 { return b.rowids[i] }

// Cell is one cell of record i. Its bytes are views into the batch.
func (b *Batch) Cell(i, col int) Cell {
	s := b.slots[i*b.width+col]
	if s.class == Text || s.class == Blob {
		return Cell{Class: s.class, raw: b.arena[s.bits : s.bits+uint64(s.n) : s.bits+uint64(s.n)]}
	}
	return Cell{Class: s.class, bits: s.bits}
}

// Span is all Text and Blob content of record i, cell after cell.
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

// Record is a view of record i, valid until the batch is released.
func (b *Batch) Record(i int) Record { return Record{batch: b, row: i} }

// Record is a view of one row of a batch.
type Record struct {
	batch *Batch
	row   int
}

// Set is the index of the record's set in the schema.
func (r Record) Set() int { return r.batch.Set }

// RowID is the record's row id; 0 where its set has none.
func (r Record) RowID() int64 { return r.batch.rowids[r.row] }

// Cell is the record's cell in the given column.
func (r Record) Cell(col int) Cell { return r.batch.Cell(r.row, col) }

// Width is the number of cells.
func (r Record) Width() int { return r.batch.width }

package agentstate

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Index lists the blobs of one store by id: where each is, its first byte, and whether it
// was reached. It takes 32 bytes for each blob.
type Index struct {
	marks  []mark
	sorted bool
}

// mark is one blob. Half of a SHA-256 is enough to distinguish two.
type mark struct {
	name     [2]uint64
	place    uint64
	seen     uint16 // a bit for each kind that it was reached as
	first    byte
	mismatch bool // its bytes do not match its id
}

func nameOf(id ID) [2]uint64 {
	return [2]uint64{binary.BigEndian.Uint64(id[:]), binary.BigEndian.Uint64(id[8:])}
}

// Add adds a blob. place is whatever the caller needs to find it again.
func (x *Index) Add(id ID, place uint64, data []byte) {
	m := mark{name: nameOf(id), place: place}
	if len(data) > 0 {
		m.first = data[0]
	}
	x.marks, x.sorted = append(x.marks, m), false
}

// AddFalse adds a blob whose bytes do not match its id. What follows from that is not
// reported as further faults.
func (x *Index) AddFalse(id ID, place uint64, data []byte) {
	x.Add(id, place, data)
	x.marks[len(x.marks)-1].mismatch = true
}

// Len returns the number of blobs.
func (x *Index) Len() int { return len(x.marks) }

// Place returns where a blob is.
func (x *Index) Place(id ID) (place uint64, ok bool) {
	if m := x.find(id); m != nil {
		return m.place, true
	}
	return 0, false
}

// Reached returns how many blobs were reached.
func (x *Index) Reached() (n int) {
	for i := range x.marks {
		if x.marks[i].seen != 0 {
			n++
		}
	}
	return n
}

// Reset removes all blobs and keeps the capacity.
func (x *Index) Reset() { x.marks = x.marks[:0] }

// find returns the mark of a blob; of two with one id the first.
func (x *Index) find(id ID) *mark {
	if !x.sorted {
		slices.SortFunc(x.marks, func(a, b mark) int {
			return cmp.Or(cmp.Compare(a.name[0], b.name[0]), cmp.Compare(a.name[1], b.name[1]), cmp.Compare(a.place, b.place))
		})
		x.sorted = true
	}
	name := nameOf(id)
	i, ok := slices.BinarySearchFunc(x.marks, name, func(m mark, name [2]uint64) int {
		return cmp.Or(cmp.Compare(m.name[0], name[0]), cmp.Compare(m.name[1], name[1]))
	})
	if !ok {
		return nil
	}
	return &x.marks[i]
}

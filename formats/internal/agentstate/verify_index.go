package agentstate

import (
	"cmp"

	"rehome/formats/internal/blobs"
)

// Index lists the blobs of one store by id: where each is, its first byte, and whether it
// was reached. It takes 32 bytes for each blob.
type Index struct {
	ids   *blobs.Index[int32] // indexes of marks; nil if there is none
	marks []mark
}

// mark is one blob.
type mark struct {
	place    uint64
	seen     uint16 // a bit for each kind that it was reached as
	first    byte
	mismatch bool // its bytes do not match its id
}

// Add adds a blob. place is whatever the caller needs to find it again.
func (x *Index) Add(id ID, place uint64, data []byte) {
	if x.ids == nil {
		x.ids = blobs.New(func(a, b int32) int { return cmp.Compare(x.marks[a].place, x.marks[b].place) })
	}
	m := mark{place: place}
	if len(data) > 0 {
		m.first = data[0]
	}
	x.ids.Add(id, true, int32(len(x.marks)))
	x.marks = append(x.marks, m)
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

// Reset removes all blobs.
func (x *Index) Reset() { x.ids, x.marks = nil, x.marks[:0] }

// forget makes the next walk look at every blob again.
func (x *Index) forget() {
	for i := range x.marks {
		x.marks[i].seen = 0
	}
}

// find returns the mark of a blob; of two with one id the first.
func (x *Index) find(id ID) *mark {
	if x.ids == nil {
		return nil
	}
	i, ok := x.ids.Find(id, nil)
	if !ok {
		return nil
	}
	return &x.marks[i]
}

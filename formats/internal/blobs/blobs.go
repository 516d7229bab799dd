// Package blobs finds the blobs of an agent by their ids, wherever they are
// stored. It knows no store: storedb reads them from SQLite tables,
// cursorndjson from lines.
package blobs

import (
	"cmp"
	"hash/maphash"
	"iter"
	"slices"
)

// ParseID reads the id of a blob, 64 hexadecimal digits. Clients write them in
// lower case and look for nothing else; exact reports that they are.
func ParseID[T string | []byte](text T) (id [32]byte, exact, ok bool) {
	if len(text) != 2*len(id) {
		return id, false, false
	}
	var seen byte
	for i := range id {
		high, low := digits[text[2*i]], digits[text[2*i+1]]
		id[i] = high<<4 | low&15
		seen |= high | low
	}
	if seen&notHex != 0 {
		return [32]byte{}, false, false
	}
	return id, seen&upperCase == 0, true
}

// digits are the values of hexadecimal digits, with flags.
var digits = func() (t [256]byte) {
	for c := range t {
		t[c] = notHex
	}
	for i := range 16 {
		t["0123456789ABCDEF"[i]] = byte(i) | upperCase
		t["0123456789abcdef"[i]] = byte(i)
	}
	return t
}()

const (
	upperCase = 0x10
	notHex    = 0x20
)

// Index finds the places of blobs by their ids. A place is whatever finds a blob
// again. An entry is a hash and a place: ids are not kept.
type Index[P any] struct {
	seed   maphash.Seed
	order  func(a, b P) int
	lists  [2][]entry[P] // exact ids, and others
	sorted bool
}

type entry[P any] struct {
	hash  uint64 // of the id: anyone can make ids that begin alike, as nobody has to store what an id stands for
	place P
}

// New returns an empty Index. order sorts places: of two blobs with the same id
// the first one is found.
func New[P any](order func(a, b P) int) *Index[P] {
	return &Index[P]{seed: maphash.MakeSeed(), order: order}
}

// Add adds a blob. One whose id is exact is preferred to one whose id is not.
func (x *Index[P]) Add(id [32]byte, exact bool, place P) {
	list := &x.lists[0]
	if !exact {
		list = &x.lists[1]
	}
	*list = append(*list, entry[P]{maphash.Bytes(x.seed, id[:]), place})
	x.sorted = false
}

// Len returns the number of blobs.
func (x *Index[P]) Len() int { return len(x.lists[0]) + len(x.lists[1]) }

// Find returns the place of a blob. is reports whether a place is that of the
// blob: another id may have the same hash. Without is, the first one counts.
func (x *Index[P]) Find(id [32]byte, is func(place P) bool) (place P, ok bool) {
	x.sort()
	hash := maphash.Bytes(x.seed, id[:])
	for _, list := range &x.lists {
		i, _ := slices.BinarySearchFunc(list, hash, func(e entry[P], hash uint64) int { return cmp.Compare(e.hash, hash) })
		for ; i < len(list) && list[i].hash == hash; i++ {
			if is == nil || is(list[i].place) {
				return list[i].place, true
			}
		}
	}
	return place, false
}

func (x *Index[P]) sort() {
	if x.sorted {
		return
	}
	x.sorted = true
	for _, list := range x.lists {
		slices.SortFunc(list, func(a, b entry[P]) int {
			if c := cmp.Compare(a.hash, b.hash); c != 0 {
				return c
			}
			return x.order(a.place, b.place)
		})
	}
}

// Places yields the places of all blobs in no order.
func (x *Index[P]) Places() iter.Seq[P] {
	return func(yield func(P) bool) {
		for _, list := range x.lists {
			for _, e := range list {
				if !yield(e.place) {
					return
				}
			}
		}
	}
}

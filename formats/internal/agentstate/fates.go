package agentstate

import "hash/maphash"

// fates is what became of each blob that was asked for, in 8 bytes a blob: a
// store has hundreds of thousands. Ids are told apart by a hash whose seed
// nobody knows, as strangers could choose ids that begin alike.
type fates struct {
	seed  maphash.Seed
	slots []slot // a power of two of them, a quarter empty
	used  int
}

// slot is one blob: 58 bits of the hash, how often it was read, its fate. 0 is
// none.
type slot uint64

const (
	slotBits = 3 // of a fate, and of a count of reads
	slotMask = 1<<slotBits - 1
	slotHash = ^slot(1<<(2*slotBits) - 1)
	anyHash  = 1 << (2 * slotBits) // is part of each, so that none is 0
)

func (s slot) fate() fate     { return fate(s & slotMask) }
func (s slot) reads() int     { return int(s >> slotBits & slotMask) }
func (s *slot) become(f fate) { *s = *s&^slotMask | slot(f) }
func (s *slot) read()         { *s += 1 << slotBits }

// find is a blob's slot, nil if it was never asked for. It is valid until the
// next one is entered.
func (f *fates) find(id ID) *slot {
	if f.used == 0 {
		return nil
	}
	if s := f.place(f.key(id)); *s != 0 {
		return s
	}
	return nil
}

// at is a blob's slot, entered if it is new.
func (f *fates) at(id ID) *slot {
	if 4*(f.used+1) > 3*len(f.slots) {
		f.grow()
	}
	key := f.key(id)
	s := f.place(key)
	if *s == 0 {
		*s = key
		f.used++
	}
	return s
}

func (f *fates) key(id ID) slot {
	return slot(maphash.Bytes(f.seed, id[:]))&slotHash | anyHash
}

func (f *fates) place(key slot) *slot {
	mask := uint64(len(f.slots) - 1)
	for i := uint64(key>>(2*slotBits)) & mask; ; i = (i + 1) & mask {
		if s := &f.slots[i]; *s == 0 || *s&slotHash == key {
			return s
		}
	}
}

func (f *fates) grow() {
	old := f.slots
	if old == nil {
		f.seed = maphash.MakeSeed()
	}
	f.slots = make([]slot, max(64, 2*len(old)))
	for _, s := range old {
		if s != 0 {
			*f.place(s & slotHash) = s
		}
	}
}

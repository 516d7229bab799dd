package agentstate

import "hash/maphash"

// fates records the fate of each requested blob in 8 bytes, as a store has hundreds of
// thousands. Ids are distinguished by a hash with a secret seed, as an attacker could
// choose ids that begin alike.
type fates struct {
	seed  maphash.Seed
	slots []slot // their number is a power of two; at least a quarter is empty
	used  int
}

// slot is one blob: 58 bits of the hash, the number of reads, the fate. 0 is an empty
// slot.
type slot uint64

const (
	slotBits = 3 // of a fate, and of a count of reads
	slotMask = 1<<slotBits - 1
	slotHash = ^slot(1<<(2*slotBits) - 1)
	anyHash  = 1 << (2 * slotBits) // set in each, so that no slot in use is 0
)

func (s slot) fate() fate     { return fate(s & slotMask) }
func (s slot) reads() int     { return int(s >> slotBits & slotMask) }
func (s *slot) become(f fate) { *s = *s&^slotMask | slot(f) }
func (s *slot) read()         { *s += 1 << slotBits }

// find returns the slot of a blob, nil if the blob was never requested. It is valid until
// the next one is added.
func (f *fates) find(id ID) *slot {
	if f.used == 0 {
		return nil
	}
	if s := f.place(f.key(id)); *s != 0 {
		return s
	}
	return nil
}

// at returns the slot of a blob, which it adds if necessary.
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

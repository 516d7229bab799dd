package wire

import (
	"encoding/hex"
	"hash/maphash"
)

// ID is the name of a blob: the SHA-256 of its bytes. A ref field holds one.
type ID [32]byte

// ParseID parses 64 hexadecimal digits of either case.
func ParseID(text string) (id ID, ok bool) {
	if len(text) != 2*len(id) {
		return ID{}, false
	}
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return ID{}, false
	}
	return id, true
}

// AsID returns the id that the bytes of a ref field are; false if they are not 32 bytes.
func AsID(b []byte) (id ID, ok bool) {
	if len(b) != len(id) {
		return ID{}, false
	}
	return ID(b), true
}

// Hash returns a seeded hash of the id, for lookup tables. Do not use a prefix of the id
// instead: a stored name need not match its bytes, so an attacker can choose names that
// begin alike.
func (id ID) Hash(seed maphash.Seed) uint64 { return maphash.Bytes(seed, id[:]) }

// Short returns the first 16 hexadecimal digits, enough to tell the messages of a
// session apart.
func (id ID) Short() string { return hex.EncodeToString(id[:8]) }

// String returns the id in lowercase hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

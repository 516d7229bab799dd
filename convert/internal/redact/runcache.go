package redact

import (
	"bytes"
	"encoding/binary"
)

const (
	cachedRuns = 1 << 10
	// maxCached is the max length of a run that is remembered: a UUID, a digest, the id of a
	// call.
	maxCached = 64
	// maxCachedDepth is up to which depth runs are remembered. Whatever is in one is not too
	// deep for maxDepth then: a level takes two digits at least.
	maxCachedDepth = maxDepth - maxCached/2
)

// runCache remembers runs in which there is nothing. Sessions repeat ids: that of a message
// is also in the next one, and that of a session in all of them.
type runCache struct{ slots *[cachedRuns]cachedRun }

type cachedRun struct {
	n      uint8
	digits [maxCached]byte
}

// has reports whether add was called with the same digits.
func (c *runCache) has(digits []byte, depth int) bool {
	if c.slots == nil || len(digits) > maxCached || depth > maxCachedDepth {
		return false
	}
	s := &c.slots[slot(digits)]
	return bytes.Equal(s.digits[:s.n], digits)
}

func (c *runCache) add(digits []byte, depth int) {
	if len(digits) > maxCached || depth > maxCachedDepth {
		return
	}
	if c.slots == nil {
		c.slots = new([cachedRuns]cachedRun)
	}
	s := &c.slots[slot(digits)]
	s.n = uint8(copy(s.digits[:], digits))
}

// slot returns where digits are kept, of which there are minRun at least.
func slot(digits []byte) uint64 {
	const prime = 1099511628211
	h := uint64(len(digits))
	for len(digits) > 8 {
		h, digits = (h^binary.LittleEndian.Uint64(digits))*prime, digits[8:]
		h ^= h >> 32
	}
	for _, c := range digits {
		h = (h ^ uint64(c)) * prime
	}
	return (h ^ h>>29) % cachedRuns
}

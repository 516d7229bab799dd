package redact

import "encoding/binary"

// skipStep is how many bytes skip looks at in one step.
const skipStep = 8

// addPairs makes skip stop at the gram of a spelling. A plus sign stands for a space.
func (x *index) addPairs(text []byte) {
	for i := range gram - 1 {
		for _, a := range plused(text[i]) {
			for _, b := range plused(text[i+1]) {
				pair := uint16(a) | uint16(b)<<8
				x.pairs[pair>>6] |= 1 << (pair & 63)
			}
		}
	}
}

func plused(c byte) []byte {
	if c == ' ' {
		return []byte(" +")
	}
	return []byte{c}
}

// unplus returns the normal form of a character that begins no escape.
func unplus(c byte) byte {
	if c == '+' {
		return ' '
	}
	return c
}

// skip returns how far b can be skipped from i on: up to the end of the next gram, the next
// escape, or the last bytes. The two bytes before i must not be part of an escape.
//
// A gram has two pairs of bytes, one of which begins at an even distance. So it is enough to
// look up every other pair, which is much less than a hash for each byte.
func (x *index) skip(b []byte, i int) int {
	const ones, highs, slash, percent = 0x0101010101010101, 0x8080808080808080, '\\' * 0x0101010101010101, '%' * 0x0101010101010101
	for ; i+skipStep <= len(b); i += skipStep {
		t := (*[2 + skipStep]byte)(b[i-2 : i+skipStep]) // one check of bounds for all
		before, w := binary.LittleEndian.Uint64(t[:]), binary.LittleEndian.Uint64(t[2:])
		s, p := w^slash, w^percent // with a zero byte where w has one
		escapes := ((s-ones)&^s | (p-ones)&^p) & highs
		pairs := x.pair(before) | x.pair(before>>16) | x.pair(before>>32) | x.pair(before>>48) | x.pair(w>>48)
		if escapes|pairs&1 == 0 {
			continue
		}
		for end := i; end < i+skipStep; end++ {
			if b[end] == '\\' || b[end] == '%' || x.has(uint32(unplus(b[end-2]))<<16|uint32(unplus(b[end-1]))<<8|uint32(unplus(b[end]))) {
				return end
			}
		}
	}
	return i
}

// pair returns a number whose last bit is 1 if the first two bytes of w are in a gram.
func (x *index) pair(w uint64) uint64 { return x.pairs[uint16(w)>>6] >> (w & 63) }

package rawjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// The tables are functions of nothing and never written: a switch would cost
// a mispredicted jump a byte.

// nest remembers for each open level whether it is an object: one bit each.
type nest [MaxDepth / 64]uint64

func (n *nest) set(depth int, object bool) {
	bit := uint64(1) << (depth & 63)
	if object {
		n[depth>>6&(MaxDepth/64-1)] |= bit
	} else {
		n[depth>>6&(MaxDepth/64-1)] &^= bit
	}
}

func (n *nest) object(depth int) bool {
	return n[depth>>6&(MaxDepth/64-1)]>>(depth&63)&1 != 0
}

// Masks for looking at eight bytes at once.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special has the high bit set in the first byte of x (and perhaps in later
// ones) that ends a plain run in a string: a quote, a backslash, a C0 control,
// or anything beyond ASCII. Borrows only ever reach upwards, so the lowest bit
// is always true.
func special(x uint64) uint64 {
	return (x | (x - ones*0x20) | ((x ^ ones*'"') - ones) | ((x ^ ones*'\\') - ones)) & highs
}

// hex is the value of a hexadecimal digit, 0xff for other bytes.
func hex(c byte) byte {
	switch {
	case c-'0' <= 9:
		return c - '0'
	case (c|0x20)-'a' <= 5:
		return (c | 0x20) - 'a' + 10
	}
	return 0xff
}

// hex4 reads the four digits behind \u; ok is false if there are none.
func hex4(b []byte, i int) (r rune, ok bool) {
	if len(b)-i < 4 {
		return 0, false
	}
	for _, c := range b[i : i+4] {
		h := hex(c)
		if h > 15 {
			return 0, false
		}
		r = r<<4 | rune(h)
	}
	return r, true
}

// escape reads the \u at b[i], with its partner if it is half a surrogate pair:
// the character, which is a surrogate if there is no partner, and how long the
// escapes are; 0 if b[i:] begins otherwise.
func escape(b []byte, i int) (r rune, n int) {
	r, ok := hex4(b, i+2)
	if !ok || b[i+1] != 'u' {
		return 0, 0
	}
	if utf16.IsSurrogate(r) && len(b)-i >= 12 && b[i+6] == '\\' && b[i+7] == 'u' {
		low, _ := hex4(b, i+8)
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6
}

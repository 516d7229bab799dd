package linecheck

import (
	"encoding/binary"
	"math/bits"
)

// Masks for looking at eight bytes at once.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// text takes the string at b[i]. plain: it has no escapes. The bytes are known
// to be UTF-8.
func (s *scanner) text(i int) (end int, plain bool, bad string) {
	b := s.b
	plain = true
	for i++; ; {
		for len(b)-i >= 8 {
			x := binary.LittleEndian.Uint64(b[i:])
			y := x &^ highs // what is beyond ASCII is fine
			m := ((y - ones*0x20) | ((y ^ ones*'"') - ones) | ((y ^ ones*'\\') - ones)) & highs &^ x
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		if i >= len(b) {
			return i, plain, brokenOff
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, plain, ""
		case c == '\\':
			plain = false
			if i, bad = s.escape(i + 1); bad != "" {
				return i, plain, bad
			}
		case c < ' ':
			return i, plain, "raw control character in a string"
		default:
			i++
		}
	}
}

// escape takes what follows a backslash.
func (s *scanner) escape(i int) (int, string) {
	b := s.b
	if i >= len(b) {
		return i, brokenOff
	}
	switch b[i] {
	case 'n', '"', '\\', 't', 'r', '/', 'b', 'f':
		return i + 1, ""
	case 'u':
		r, n := hex4(b[i+1:])
		switch {
		case n < 4 && i+1+n == len(b):
			return len(b), brokenOff
		case n < 4:
			return i, "malformed escape"
		case r < 0xd800 || r > 0xdfff:
			return i + 5, ""
		case r < 0xdc00 && len(b)-i >= 11 && b[i+5] == '\\' && b[i+6] == 'u':
			if low, n := hex4(b[i+7:]); n == 4 && low >= 0xdc00 && low <= 0xdfff {
				return i + 11, ""
			}
		}
		s.odd(half, "")
		return i + 5, ""
	}
	return i, "malformed escape"
}

// hex4 reads four digits, and says how many there are.
func hex4(b []byte) (r rune, n int) {
	for n < 4 && n < len(b) {
		c := b[n]
		switch {
		case c-'0' <= 9:
			c -= '0'
		case (c|0x20)-'a' <= 5:
			c = (c | 0x20) - 'a' + 10
		default:
			return r, n
		}
		r, n = r<<4|rune(c), n+1
	}
	return r, n
}

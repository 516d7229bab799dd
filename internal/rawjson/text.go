package rawjson

import "encoding/binary"

// stringEnd is the index behind the closing quote of the string whose content
// begins at b[i].
func stringEnd(b []byte, i int) (int, string) {
	for {
		for len(b)-i >= 8 {
			m := special(binary.LittleEndian.Uint64(b[i:]))
			if m != 0 {
				i += lowest(m)
				break
			}
			i += 8
		}
		for i < len(b) && plain[b[i]] {
			i++
		}
		if i >= len(b) {
			return i, Truncated
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, ""
		case c == '\\':
			if len(b)-i > 1 && unletters[b[i+1]] != 0 { // nearly all of them
				i += 2
				continue
			}
			_, n := escape(b, i)
			if n == 0 {
				return i, msgEscape
			}
			i += n
		case c < ' ':
			return i, msgControl
		default:
			var bad string
			if i, bad = runes(b, i); bad != "" {
				return i, bad
			}
		}
	}
}

// plain are the bytes that a string may hold as they are.
var plain = func() (t [256]bool) {
	for c := ' '; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// runes skips what is beyond ASCII, as strictly as UTF-8 is defined, and stops
// at separators that some readers take for line ends.
func runes(b []byte, i int) (int, string) {
	for i < len(b) && b[i] >= 0x80 {
		c := b[i]
		switch {
		case c-0xc3 < 0xe0-0xc3 && len(b)-i > 1 && follows(b[i+1]): // most letters
			i += 2
		case c-0xe3 < 0xed-0xe3 && len(b)-i > 2 && follows(b[i+1]) && follows(b[i+2]): // most ideographs
			i += 3
		default:
			n := runeLen(b[i:])
			if n == 0 {
				return i, msgUTF8
			}
			if separator(b[i : i+n]) {
				return i, msgSeparator
			}
			i += n
		}
	}
	return i, ""
}

// separator reports whether one character beyond ASCII is U+0085, U+2028 or
// U+2029.
func separator(c []byte) bool {
	return c[0] == 0xc2 && c[1] == 0x85 || c[0] == 0xe2 && c[1] == 0x80 && c[2]|1 == 0xa9
}

// runeLen is the length of the character beyond ASCII that begins b, 0 where
// it is malformed: overlong, a surrogate, or beyond U+10FFFF.
func runeLen(b []byte) int {
	c := b[0]
	switch {
	case c < 0xc2:
	case c < 0xe0:
		if len(b) > 1 && follows(b[1]) {
			return 2
		}
	case c < 0xf0:
		if len(b) > 2 && follows(b[1]) && follows(b[2]) && (c != 0xe0 || b[1] >= 0xa0) && (c != 0xed || b[1] < 0xa0) {
			return 3
		}
	case c < 0xf5:
		if len(b) > 3 && follows(b[1]) && follows(b[2]) && follows(b[3]) && (c != 0xf0 || b[1] >= 0x90) && (c != 0xf4 || b[1] < 0x90) {
			return 4
		}
	}
	return 0
}

func follows(c byte) bool { return c&0xc0 == 0x80 }

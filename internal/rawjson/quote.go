package rawjson

import (
	"encoding/binary"
)

// Quote appends text as a JSON string, one spelling for each text. It escapes
// the quote and the backslash; C0 controls as \b \t \n \f \r or \u00xx; DEL
// and the C1 controls as \u00xx; U+2028 and U+2029. All else stands as it is,
// so that people can read it. The text must be valid UTF-8.
func Quote(dst, text []byte) []byte {
	dst = append(dst, '"')
	from, i := 0, 0
	for {
		for len(text)-i >= 8 {
			x := binary.LittleEndian.Uint64(text[i:])
			if m := special(x) | (((x ^ ones*0x7f) - ones) & highs); m != 0 {
				i += lowest(m)
				break
			}
			i += 8
		}
		for i < len(text) && plain[text[i]] && text[i] != 0x7f {
			i++
		}
		for i < len(text) && text[i] >= 0x80 && (follows(text[i]) || !escaped(text[i:])) {
			i++
		}
		if i >= len(text) {
			break
		}
		if c := text[i]; plain[c] && c != 0x7f {
			continue
		}
		dst = append(dst, text[from:i]...)
		var n int
		dst, n = appendEscape(dst, text[i:])
		i += n
		from = i
	}
	dst = append(dst, text[from:]...)
	return append(dst, '"')
}

// escaped reports whether the character beyond ASCII that begins b is one that
// Quote escapes: a C1 control, U+2028 or U+2029.
func escaped(b []byte) bool {
	switch b[0] {
	case 0xc2:
		return len(b) > 1 && b[1] >= 0x80 && b[1] < 0xa0
	case 0xe2:
		return len(b) > 2 && b[1] == 0x80 && b[2]|1 == 0xa9
	}
	return false
}

// letters are the escapes of one letter, by the byte they stand for.
var letters = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

const lowerHex = "0123456789abcdef"

// appendEscape appends the escape of the character that begins b and tells how
// many bytes it had.
func appendEscape(dst, b []byte) ([]byte, int) {
	c := b[0]
	switch {
	case letters[c] != 0:
		return append(dst, '\\', letters[c]), 1
	case c == 0xc2:
		c = b[1]
		return append(dst, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&15]), 2
	case c == 0xe2:
		return append(dst, '\\', 'u', '2', '0', '2', lowerHex[b[2]&15]), 3
	}
	return append(dst, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&15]), 1
}

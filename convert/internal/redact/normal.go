package redact

import "unicode/utf8"

// next returns what the bytes at i stand for in the normal form, and how many there
// are. An escape of JSON stands for its character, at any depth of JSON in JSON, and any
// other backslash for nothing. So the normal form of a text is that of the text as JSON
// spells it, whatever is in it. Percent-encoding is undone, too.
func next(b []byte, i int) (out [utf8.UTFMax]byte, n, size int) {
	switch c := b[i]; c {
	case '\\':
		return nextEscape(b, i)
	case '%':
		return nextPercent(b, i)
	case '+':
		out[0] = ' ' // as URLs spell it
		return out, 1, 1
	default:
		out[0] = c
		return out, 1, 1
	}
}

func nextEscape(b []byte, i int) (out [utf8.UTFMax]byte, n, size int) {
	j := skipBackslashes(b, i)
	if j == len(b) {
		return out, 0, j - i
	}
	if out[0] = shortEscapes[b[j]]; out[0] != 0 {
		return out, 1, j + 1 - i
	}
	if b[j] == 'u' {
		r, ok := hexRune(b[j+1:])
		if !ok {
			return out, 0, j - i
		}
		end := j + 5
		if k := skipBackslashes(b, end); r >= 0xD800 && r < 0xDC00 && k > end && k < len(b) && b[k] == 'u' {
			if low, ok := hexRune(b[k+1:]); ok && low >= 0xDC00 && low < 0xE000 {
				r, end = 0x10000+(r-0xD800)<<10+(low-0xDC00), k+5
			}
		}
		if r == '\\' {
			return out, 0, end - i
		}
		return out, utf8.EncodeRune(out[:], r), end - i
	}
	return out, 0, j - i
}

// shortEscapes are the characters of escapes with one letter.
var shortEscapes = [256]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f', '"': '"', '\'': '\'', '/': '/'}

// nextPercent undoes percent-encoding that was applied any number of times.
func nextPercent(b []byte, i int) (out [utf8.UTFMax]byte, n, size int) {
	j := i + 1
	for len(b)-j >= 4 && b[j] == '2' && b[j+1] == '5' && unhex(b[j+2]) < 16 && unhex(b[j+3]) < 16 {
		j += 2
	}
	if len(b)-j < 2 || unhex(b[j]) > 15 || unhex(b[j+1]) > 15 {
		out[0] = '%'
		return out, 1, 1
	}
	out[0] = unhex(b[j])<<4 | unhex(b[j+1])
	if out[0] == '\\' {
		return out, 0, j + 2 - i
	}
	return out, 1, j + 2 - i
}

func skipBackslashes(b []byte, i int) int {
	for i < len(b) && b[i] == '\\' {
		i++
	}
	return i
}

// unhex returns the value of a hexadecimal digit, or more than 15.
func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

func hexRune(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		d := unhex(c)
		if d > 15 {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

// normal appends the normal form of b.
func normal(dst, b []byte) []byte {
	for i := 0; i < len(b); {
		out, n, size := next(b, i)
		dst = append(dst, out[:n]...)
		i += size
	}
	return dst
}

// unescaped is the normal form, but for plus signs, so that patterns can match them.
func unescaped(dst, b []byte) []byte {
	for i := 0; i < len(b); {
		if b[i] == '+' {
			dst = append(dst, '+')
			i++
			continue
		}
		out, n, size := next(b, i)
		dst = append(dst, out[:n]...)
		i += size
	}
	return dst
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

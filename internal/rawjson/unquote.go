package rawjson

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// Unquote appends the text of the JSON string that begins at b[i] and returns
// the index behind it. It takes only the one spelling that Quote gives, so
// that what it accepts can be written again byte for byte.
func Unquote(dst, b []byte, i int) (out []byte, end int, err error) {
	if i < 0 || i >= len(b) || b[i] != '"' {
		return dst, i, &SyntaxError{i, msgQuote}
	}
	i++
	from := i
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
			return dst, i, &SyntaxError{i, Truncated}
		}
		switch c := b[i]; {
		case c == '"':
			if d := indexDEL(b[from:i]); d >= 0 {
				return dst, from + d, &SyntaxError{from + d, msgSpelling}
			}
			return append(dst, b[from:i]...), i + 1, nil
		case c == '\\':
			if d := indexDEL(b[from:i]); d >= 0 {
				return dst, from + d, &SyntaxError{from + d, msgSpelling}
			}
			dst = append(dst, b[from:i]...)
			r, n := unescape(b, i+1)
			if n == 0 {
				return dst, i, &SyntaxError{i, msgSpelling}
			}
			dst = utf8.AppendRune(dst, r)
			i += n
			from = i
		case c < ' ':
			return dst, i, &SyntaxError{i, msgControl}
		default:
			n := runeLen(b[i:])
			if n == 0 {
				return dst, i, &SyntaxError{i, msgUTF8}
			}
			if escaped(b[i:]) {
				return dst, i, &SyntaxError{i, msgSpelling}
			}
			i += n
		}
	}
}

// unescape is the character of the escape whose letter is b[i], and its length
// with the backslash; 0 where Quote would not have written it so.
func unescape(b []byte, i int) (rune, int) {
	if i >= len(b) {
		return 0, 0
	}
	if b[i] != 'u' {
		if r := unletters[b[i]]; letters[r] != 0 {
			return rune(r), 2
		}
		return 0, 0
	}
	r, ok := hex4(b, i+1)
	if !ok {
		return 0, 0
	}
	switch {
	case r < ' ' && letters[r] == 0, r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029:
	default:
		return 0, 0
	}
	for _, c := range b[i+1 : i+5] {
		if c >= 'A' && c <= 'F' {
			return 0, 0
		}
	}
	return r, 6
}

// unletters is letters backwards, and the slash, which need not be escaped.
var unletters = [256]byte{'"': '"', '/': '/', '\\': '\\', 'b': '\b', 't': '\t', 'n': '\n', 'f': '\f', 'r': '\r'}

// indexDEL finds a raw U+007F, which Quote always escapes.
func indexDEL(b []byte) int { return bytes.IndexByte(b, 0x7f) }

package rawjson

import (
	"bytes"
	"iter"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions of this file walk JSON that is known to be valid, from Inline,
// End or Line. On anything else they stop early; they never panic.

// Members yields the members of an object in their order: each name without
// its quotes and escapes, and the bytes of each value. What is no object has
// none.
func Members(b []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := space(b, 0)
		if i >= len(b) || b[i] != '{' {
			return
		}
		for i = space(b, i+1); i < len(b) && b[i] == '"'; {
			end := pass(b, i)
			name := b[i:min(end, len(b))]
			if bytes.IndexByte(name, '\\') >= 0 {
				name = AppendText(nil, name)
			} else {
				name = inside(name)
			}
			from := space(b, space(b, end)+1)
			i = pass(b, from)
			if i > len(b) || from >= len(b) || !yield(name, b[from:i]) {
				return
			}
			i = space(b, space(b, i)+1)
		}
	}
}

// Elements yields the values of an array. What is no array has none.
func Elements(b []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		i := space(b, 0)
		if i >= len(b) || b[i] != '[' {
			return
		}
		for i = space(b, i+1); i < len(b) && b[i] != ']'; {
			from := i
			i = pass(b, from)
			if i > len(b) || i == from || !yield(b[from:i]) {
				return
			}
			i = space(b, space(b, i)+1)
		}
	}
}

// Last is the value of the last member of that name, as a decoder takes it;
// nil if there is none.
func Last(b []byte, name string) (value []byte) {
	for n, v := range Members(b) {
		if string(n) == name {
			value = v
		}
	}
	return value
}

// At returns the value of a member, or of a member of a member, and so on: with no
// such member nil. Of members with the same name, the last one counts.
func At(b []byte, names ...string) (value []byte) {
	for _, name := range names {
		b = Last(b, name)
	}
	return b
}

// TextAt returns the text of the string at At, "" if there is none.
func TextAt(b []byte, names ...string) string { return Text(At(b, names...)) }

// IsText reports whether a JSON value is a string.
func IsText(b []byte) bool { return len(b) > 0 && b[0] == '"' }

// IsNumber reports whether a JSON value is a number.
func IsNumber(b []byte) bool { return len(b) > 0 && (b[0] == '-' || b[0]-'0' <= 9) }

// Text is the text of a JSON string, "" for any other value.
func Text(b []byte) string {
	if len(b) < 2 || b[0] != '"' {
		return ""
	}
	if bytes.IndexByte(b, '\\') < 0 {
		return string(inside(b))
	}
	return string(AppendText(make([]byte, 0, len(b)), b))
}

// AppendText appends the text of a JSON string in any spelling. A surrogate
// that has no partner becomes the three bytes it would have in UTF-8.
func AppendText(dst, b []byte) []byte { return appendText(dst, inside(b), false) }

// AppendUTF8 is AppendText for the content of a string, without its quotes. A
// surrogate that has no partner becomes U+FFFD.
func AppendUTF8(dst, content []byte) []byte { return appendText(dst, content, true) }

func appendText(dst, b []byte, replace bool) []byte {
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 || i+1 >= len(b) {
			return append(dst, b...)
		}
		dst = append(dst, b[:i]...)
		if c := b[i+1]; c != 'u' {
			dst = append(dst, unletters[c])
			b = b[i+2:]
			continue
		}
		r, n := escape(b, i)
		switch {
		case n == 0:
			return dst
		case utf16.IsSurrogate(r) && !replace:
			dst = append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
		default:
			dst = utf8.AppendRune(dst, r)
		}
		b = b[i+n:]
	}
}

// inside is a string without its quotes.
func inside(b []byte) []byte {
	if len(b) < 2 {
		return nil
	}
	return b[1 : len(b)-1]
}

// pass is the index behind the value at b[i], beyond len(b) if it does not end.
func pass(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = passString(b, i+1)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			if depth < 0 {
				return i // of what is around this value
			}
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i < len(b) && !ends(b[i]) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return len(b) + 1
}

// ends reports whether a byte can follow a number or a word.
func ends(c byte) bool {
	switch c {
	case ',', '}', ']', ' ', '\t', '\n', '\r', '"', '{', '[', ':':
		return true
	}
	return false
}

// passString is the index behind the closing quote of the string whose content
// begins at b[i].
func passString(b []byte, i int) int {
	for {
		n := bytes.IndexByte(b[min(i, len(b)):], '"')
		if n < 0 {
			return len(b) + 1
		}
		i += n
		back := i
		for back > 0 && b[back-1] == '\\' {
			back--
		}
		if (i-back)%2 == 0 {
			return i + 1
		}
		i++
	}
}

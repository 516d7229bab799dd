package leaks

import (
	"io"
	"unicode/utf8"
)

// deepest is how many backslashes in a row are looked at: JSON in JSON in JSON
// in JSON has fifteen before a quote.
const deepest = 16

// read is the character at i and the bytes it takes. An escape of JSON is the
// character it stands for, however many backslashes it took to write it: how
// deep a text is nested cannot be known from the middle of it.
func read(b []byte, i int) (r rune, size int) {
	c := b[i]
	if c != '\\' {
		if c < utf8.RuneSelf {
			return rune(c), 1
		}
		return utf8.RuneError, 1 // no rule asks for one; each byte stays one
	}
	j := i + 1
	for j < len(b) && j-i < deepest && b[j] == '\\' {
		j++
	}
	if j == len(b) {
		return '\\', 1
	}
	switch b[j] {
	case 'n':
		return '\n', j + 1 - i
	case 'r':
		return '\r', j + 1 - i
	case 't':
		return '\t', j + 1 - i
	case 'b', 'f':
		return ' ', j + 1 - i
	case '"', '\'', '/':
		return rune(b[j]), j + 1 - i
	case 'u':
		if r, ok := hex4(b[j+1:]); ok {
			return r, j + 5 - i
		}
	}
	return '\\', 1
}

// hex4 is the character of \u and four digits, if it is ASCII: nothing else
// matters to a rule.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	if r >= utf8.RuneSelf {
		r = utf8.RuneError
	}
	return r, true
}

// before is the character that ends where i begins; a line end at the start.
func before(b []byte, i int) rune {
	const longest = 6 // \u0022
	for from := max(0, i-longest); from < i; from++ {
		if b[from] != '\\' {
			continue
		}
		if r, size := read(b[:i], from); size > 1 && from+size == i {
			return r
		}
	}
	if i == 0 {
		return '\n'
	}
	return rune(b[i-1])
}

// gaze reads on from a place for a regexp that wants one character at a time,
// and so takes no more of them than it needs. The sizes it tells are those of
// the bytes, so that an expression's offsets are too, but for the first: the
// character before the place, which counts as one byte.
type gaze struct {
	b     []byte
	at    int
	left  int  // characters
	ahead bool // the first is still to come
	spent bool // more was wanted than is left
}

func (g *gaze) ReadRune() (r rune, size int, err error) {
	if g.ahead {
		g.ahead = false
		return before(g.b, g.at), 1, nil
	}
	if g.at == len(g.b) {
		return 0, 0, io.EOF
	}
	if g.left == 0 {
		g.spent = true
		return 0, 0, io.EOF
	}
	g.left--
	r, size = read(g.b, g.at)
	g.at += size
	return r, size, nil
}

// plain is a stretch of bytes with its escapes undone, and where each byte of
// that came from.
type plain struct {
	text   []byte
	origin []int // of each byte of text, and of the end
}

// fill undoes the escapes of b[from:to]; one that straddles the end is whole.
func (p *plain) fill(b []byte, from, to int) {
	p.text, p.origin = p.text[:0], p.origin[:0]
	for from < to {
		p.origin = append(p.origin, from)
		if b[from] != '\\' {
			p.text = append(p.text, b[from])
			from++
			continue
		}
		r, size := read(b, from)
		p.text = append(p.text, byte(min(r, utf8.RuneSelf)))
		from += size
	}
	p.origin = append(p.origin, from)
}

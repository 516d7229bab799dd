package leaks

import (
	"io"
	"strconv"
	"unicode/utf8"
)

// maxBackslashes is how many backslashes in a row are read: JSON in JSON in
// JSON in JSON has fifteen before a quote.
const maxBackslashes = 16

// readRune returns the character at i and its size in bytes. An escape of JSON
// is the character it stands for, with any number of backslashes: in the middle
// of a text, the depth of nesting is unknown.
func readRune(b []byte, i int) (r rune, size int) {
	c := b[i]
	if c != '\\' {
		if c < utf8.RuneSelf {
			return rune(c), 1
		}
		return utf8.RuneError, 1 // no rule matches one; each byte counts by itself
	}
	j := i + 1
	for j < len(b) && j-i < maxBackslashes && b[j] == '\\' {
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
		if r, ok := parseHex4(b[j+1:]); ok {
			return r, j + 5 - i
		}
	}
	return '\\', 1
}

// parseHex4 returns the character of \\u and four digits. Every character that
// is not ASCII is the same to a rule.
func parseHex4(b []byte) (r rune, ok bool) {
	n, err := strconv.ParseUint(string(b[:min(4, len(b))]), 16, 16)
	if err != nil || len(b) < 4 {
		return 0, false
	}
	if n >= utf8.RuneSelf {
		n = utf8.RuneError
	}
	return rune(n), true
}

// runeBefore returns the character that ends where i begins, or a line break at
// the start.
func runeBefore(b []byte, i int) rune {
	const longest = 6 // \u0022
	for from := max(0, i-longest); from < i; from++ {
		if b[from] != '\\' {
			continue
		}
		if r, size := readRune(b[:i], from); size > 1 && from+size == i {
			return r
		}
	}
	if i == 0 {
		return '\n'
	}
	return rune(b[i-1])
}

// runeReader reads from a place on, for a regexp that reads one character at a
// time and no more than it needs. The sizes it returns are in bytes of the
// input, so offsets of the expression are too, except for the first: the
// character before the place counts as one byte.
type runeReader struct {
	b         []byte
	at        int
	left      int  // characters
	first     bool // the character before the place comes next
	exhausted bool // more characters were wanted than allowed
}

func (g *runeReader) ReadRune() (r rune, size int, err error) {
	if g.first {
		g.first = false
		return runeBefore(g.b, g.at), 1, nil
	}
	if g.at == len(g.b) {
		return 0, 0, io.EOF
	}
	if g.left == 0 {
		g.exhausted = true
		return 0, 0, io.EOF
	}
	g.left--
	r, size = readRune(g.b, g.at)
	g.at += size
	return r, size, nil
}

// unescaped is a part of the input without escapes, and the origin of each
// byte.
type unescaped struct {
	text   []byte
	origin []int // by byte of text, and for its end
}

// fill unescapes b[from:to], including an escape that extends beyond the end.
func (p *unescaped) fill(b []byte, from, to int) {
	p.text, p.origin = p.text[:0], p.origin[:0]
	for from < to {
		p.origin = append(p.origin, from)
		if b[from] != '\\' {
			p.text = append(p.text, b[from])
			from++
			continue
		}
		r, size := readRune(b, from)
		p.text = append(p.text, byte(min(r, utf8.RuneSelf)))
		from += size
	}
	p.origin = append(p.origin, from)
}

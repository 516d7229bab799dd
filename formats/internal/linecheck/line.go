package linecheck

import (
	"bytes"
	"unicode/utf8"

	"rehome/formats/internal/lines"
	"rehome/formats/rule"
	"rehome/internal/rawjson"
)

// line examines one line.
func (c *checker) line(l *lines.Line) (out Line, ok bool) {
	c.last = lines.Line{Number: l.Number, Ended: l.Ended}
	c.tail = false
	if l.Number == 1 && l.Offset > 0 {
		c.breach(marked, 1, "", "")
	}
	if l.Long {
		c.breach(tooLong, l.Number, "", "longer than %d bytes", c.o.Most)
		return out, c.refuse(l)
	}
	b := l.Bytes
	if l.Ended && bytes.HasSuffix(b, []byte{'\r'}) {
		if b = b[:len(b)-1]; c.crs == 0 {
			c.crAt = l.Number
		}
		c.crs++
	}
	if b = bytes.Trim(b, " \t\r"); len(b) == 0 {
		if c.blanks == 0 {
			c.blankAt = l.Number
		}
		c.blanks++
		return out, false
	}
	if c.o.Trim != nil {
		b = c.o.Trim(b)
	}
	if b, ok = c.sound(l, b); !ok {
		return out, c.refuse(l)
	}
	return Line{Number: l.Number, Offset: l.Offset, Bytes: b, Wild: c.scan.wild, members: c.scan.members}, true
}

func (c *checker) refuse(l *lines.Line) bool {
	c.odd(l.Number)
	return false
}

// odd says that a line is not handed on.
func (c *checker) odd(number int) {
	if c.o.Odd != nil {
		c.o.Odd(number)
	}
}

// sound is a line as one JSON object of valid UTF-8.
func (c *checker) sound(l *lines.Line, b []byte) ([]byte, bool) {
	if b[0] == 0 && len(bytes.Trim(b, "\x00")) == 0 {
		c.breach(zeros, l.Number, "", "%v", rule.Count(int64(len(b)), "byte"))
		return nil, false
	}
	end, bad := 0, ""
	valid := utf8.Valid(b)
	if !valid && !l.Ended { // a tail can be torn within a character, too
		_, bad = c.scan.scan(b)
		if bad == rawjson.Truncated {
			c.tail = true
			return nil, false
		}
	}
	at := 0
	if !valid {
		at = firstBad(b)
		b = bytes.ToValidUTF8(b, []byte("\ufffd"))
	}
	end, bad = c.scan.scan(b)
	switch {
	case bad == rawjson.TooDeep:
		c.breach(tooDeep, l.Number, "", "")
	case bad == rawjson.Truncated && !l.Ended:
		c.tail = true
	case bad != "" && lines.Conflict(l.Bytes):
		c.breach(notJSON, l.Number, "", "unresolved merge conflict: run `rehome merge --finish`")
	case bad != "":
		c.breach(notJSON, l.Number, "", "byte %d: %s", end+1, rule.Words(bad))
	case end < len(b):
		c.breach(glued, l.Number, "", "the second one starts at byte %d", end+1)
	case b[0] != '{' && (b[0] != '[' || !c.o.Arrays):
		c.breach(notObject, l.Number, "", "")
	default:
		if !valid {
			c.breach(notUTF8, l.Number, "", "byte %d", at+1)
		}
		for _, i := range c.scan.issues {
			c.breach(i.ids, l.Number, i.pointer, i.says, i.args...)
		}
		return b, true
	}
	return nil, false
}

// firstBad is where the first byte lies that is no UTF-8.
func firstBad(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// Separators reports whether a line has a character that ends lines in Unicode, and in
// JavaScript's own readers of lines.
func Separators(b []byte) bool {
	return bytes.Contains(b, []byte("\u2028")) || bytes.Contains(b, []byte("\u2029"))
}

package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible makes foreign text safe to print: control characters, the escape
// sequences of terminals, direction overrides and other characters without a
// shape are spelled out, and so are bytes that are not UTF-8. Paths, names and
// error texts all pass through here on their way to a terminal.
func visible(s string) string {
	if strings.IndexFunc(s, unseen) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unseen(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unseen(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case unseen(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// unseen reports characters that act on a terminal or on the order of the
// text around them instead of showing.
func unseen(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// visibleJSON is the same for JSON text, where such characters can only stand
// inside strings: they become JSON's own escapes, and the values stay equal.
func visibleJSON(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for len(doc) > 0 {
		r, n := utf8.DecodeRune(doc)
		switch {
		case r < 0x20 || !unseen(r): // below 0x20 only the line ends of the layout are left
			out = append(out, doc[:n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		doc = doc[n:]
	}
	return out
}

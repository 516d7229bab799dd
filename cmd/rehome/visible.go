package main

import (
	"fmt"
	"unicode/utf8"

	"rehome/cmd/rehome/internal/screen"
)

// visible makes foreign text safe to print. Paths, names and error texts all
// pass through here on their way to a terminal.
func visible(s string) string { return screen.Visible(s) }

// visibleJSON is the same for JSON text, where such characters can only stand
// inside strings: they become JSON's own escapes, and the values stay equal.
func visibleJSON(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for len(doc) > 0 {
		r, n := utf8.DecodeRune(doc)
		switch {
		case r < 0x20 || !screen.Unseen(r): // below 0x20 only the line ends of the layout are left
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

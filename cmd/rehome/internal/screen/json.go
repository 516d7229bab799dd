package screen

import (
	"fmt"
	"unicode/utf8"
)

// JSON is Visible for JSON text, where such characters can only stand inside
// strings: they become JSON's own escapes, and the values stay equal. Only the
// line ends of the layout are left.
func JSON(doc []byte) []byte {
	at := 0
	for at < len(doc) && (doc[at] < 0x7f || doc[at] >= utf8.RuneSelf && plain(doc[at:])) {
		_, n := utf8.DecodeRune(doc[at:])
		at += n
	}
	if at == len(doc) {
		return doc
	}
	out := append(make([]byte, 0, len(doc)+64), doc[:at]...)
	for at < len(doc) {
		r, n := utf8.DecodeRune(doc[at:])
		switch {
		case r < 0x7f || r > 0x7f && plain(doc[at:]):
			out = append(out, doc[at:at+n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default: // a byte that is no character is what decoders take it for
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		at += n
	}
	return out
}

// plain reports that a text begins with a character that shows.
func plain(b []byte) bool {
	r, n := utf8.DecodeRune(b)
	return !Unseen(r) && (r != utf8.RuneError || n > 1)
}

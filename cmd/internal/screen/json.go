package screen

import (
	"fmt"
	"unicode/utf8"
)

// JSON is Visible for JSON text: invisible characters, which can only occur in strings,
// become JSON escapes, so the values stay equal. Line ends between tokens are kept.
func JSON(doc []byte) []byte {
	at := 0
	for at < len(doc) && (doc[at] < 0x7f || doc[at] >= utf8.RuneSelf && printable(doc[at:])) {
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
		case r < 0x7f || r > 0x7f && printable(doc[at:]):
			out = append(out, doc[at:at+n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default: // decoders read an invalid byte as U+FFFD, too
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		at += n
	}
	return out
}

// printable reports whether b begins with a visible character.
func printable(b []byte) bool {
	r, n := utf8.DecodeRune(b)
	return !Invisible(r) && (r != utf8.RuneError || n > 1)
}

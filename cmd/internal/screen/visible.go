// Package screen makes text safe to print on a terminal, and measures, wraps and
// colors it. All foreign text passes through it.
package screen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible makes foreign text safe to print on one line. It escapes control
// characters, terminal escape sequences, direction overrides, other invisible
// characters and bytes that are not UTF-8.
func Visible(s string) Safe {
	if strings.IndexFunc(s, Invisible) < 0 && utf8.ValidString(s) {
		return Safe(s)
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		default:
			writeRune(&b, r, s[i:i+n])
		}
		i += n
	}
	return Safe(b.String())
}

// Lines makes foreign text of several lines safe to print. It keeps line ends and tabs,
// and joiners between two characters that need them, as some scripts and emoji do.
func Lines(s string) Safe {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if strings.IndexFunc(s, func(r rune) bool { return r != '\n' && r != '\t' && Invisible(r) }) < 0 && utf8.ValidString(s) {
		return Safe(s)
	}
	var b strings.Builder
	last := rune(0)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case joiner(r) && joined(last) && joinedNext(s[i+n:]):
			b.WriteRune(r)
		default:
			writeRune(&b, r, s[i:i+n])
		}
		last = r
		i += n
	}
	return Safe(b.String())
}

func joiner(r rune) bool { return r == 0x200c || r == 0x200d }

// joined reports whether joiners may be next to r: it is a letter or mark of a
// script that joins, or an emoji.
func joined(r rune) bool {
	return r >= 0x300 && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsSymbol(r))
}

func joinedNext(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r != utf8.RuneError && joined(r)
}

// writeRune writes a character, escaped if it is invisible. raw holds its bytes.
func writeRune(b *strings.Builder, r rune, raw string) {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		fmt.Fprintf(b, `\x%02x`, raw[0])
	case !Invisible(r):
		b.WriteString(raw)
	case r < 0x100:
		fmt.Fprintf(b, `\x%02x`, r)
	case r > 0xffff:
		fmt.Fprintf(b, `\U%08x`, r)
	default:
		fmt.Fprintf(b, `\u%04x`, r)
	}
}

// Invisible reports whether a character acts on the terminal or on the order of
// the text around it instead of being displayed.
func Invisible(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

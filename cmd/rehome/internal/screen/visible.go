// Package screen knows what a terminal does with characters: which ones act on
// it instead of showing, how many cells the others take, where a line can be
// broken, and how words are painted. All foreign text passes through it.
package screen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible makes foreign text safe to print on one line: control characters, the
// escape sequences of terminals, direction overrides and other characters
// without a shape are spelled out, and so are bytes that are not UTF-8.
func Visible(s string) Safe {
	if strings.IndexFunc(s, Unseen) < 0 && utf8.ValidString(s) {
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
			spell(&b, r, s[i:i+n])
		}
		i += n
	}
	return Safe(b.String())
}

// Lines makes foreign text of several lines safe to print: it keeps their ends,
// and the joiners without which some scripts and emoji fall apart, where they
// stand between two such characters. Tabs stay.
func Lines(s string) Safe {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if strings.IndexFunc(s, Unseen) < 0 && utf8.ValidString(s) {
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
			spell(&b, r, s[i:i+n])
		}
		last = r
		i += n
	}
	return Safe(b.String())
}

func joiner(r rune) bool { return r == 0x200c || r == 0x200d }

// joined reports characters that joiners stand between: letters and marks of
// scripts that are written joined, and emoji.
func joined(r rune) bool {
	return r >= 0x300 && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsSymbol(r))
}

func joinedNext(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r != utf8.RuneError && joined(r)
}

// spell writes a character, or what it is called if it would not show.
func spell(b *strings.Builder, r rune, as string) {
	switch {
	case r == utf8.RuneError && len(as) == 1:
		fmt.Fprintf(b, `\x%02x`, as[0])
	case !Unseen(r):
		b.WriteString(as)
	case r < 0x100:
		fmt.Fprintf(b, `\x%02x`, r)
	case r > 0xffff:
		fmt.Fprintf(b, `\U%08x`, r)
	default:
		fmt.Fprintf(b, `\u%04x`, r)
	}
}

// Unseen reports characters that act on a terminal or on the order of the text
// around them instead of showing.
func Unseen(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

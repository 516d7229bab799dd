package screen

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// ShellQuote quotes s as one word for a shell, if necessary. Characters that are
// unsafe on a terminal are written as octal escapes, so that the command can be
// copied from the screen.
func ShellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%#=,", r) // shells expand ~ after = and :, too
	}
	if s != "" && strings.TrimFunc(s, plain) == "" && !strings.ContainsRune("#=", rune(s[0])) {
		return s
	}
	if string(Visible(s)) == s {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	b := []byte("$'")
	for _, c := range []byte(s) {
		if c < ' ' || c >= 0x7f || c == '\'' || c == '\\' {
			b = fmt.Appendf(b, `\%03o`, c)
		} else {
			b = append(b, c)
		}
	}
	return string(append(b, '\''))
}

// PowerShellQuote is ShellQuote for PowerShell, which takes several characters for
// quotation marks.
func PowerShellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(`./\_-:`, r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	if string(Visible(s)) == s && !strings.ContainsAny(s, "'‘’‚‛") {
		return "'" + s + "'"
	}
	b := []byte(`"`)
	for _, c := range utf16.Encode([]rune(s)) {
		if plain(rune(c)) || c == ' ' {
			b = append(b, byte(c))
		} else {
			b = fmt.Appendf(b, "$([char]0x%x)", c)
		}
	}
	return string(append(b, '"'))
}

package envelope

import (
	"strings"
	"unicode"
)

// FirstLine returns the first line of a text with a printable character, at most 200
// characters of it.
func FirstLine(s string) string {
	const limit = 200
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(strings.ToValidUTF8(line, "\ufffd"))
		if strings.IndexFunc(line, unicode.IsPrint) < 0 {
			continue
		}
		if r := []rune(line); len(r) > limit {
			return string(r[:limit-1]) + "…"
		}
		return line
	}
	return ""
}

package prose

import (
	"strings"

	"rehome/cmd/rehome/internal/screen"
)

// fence follows the fenced code blocks of Markdown, line by line. It takes a
// fence at any depth of indentation for one, also behind the mark of a list's
// entry: inside of lists they stand deep.
type fence struct {
	mark   string      // what opened the block; "" outside
	lead   screen.Safe // marks of lists in front of it
	indent int         // characters in front of it, lead included
	info   screen.Safe // what stood behind it
}

func (f *fence) inside() bool { return f.mark != "" }

// step looks at the next line, and reports whether it opens or closes a block.
func (f *fence) step(line screen.Safe) (opens, closes bool) {
	body := strings.TrimLeft(string(line), " \t")
	if !f.inside() {
		for next := afterMark(body); next != body; next = afterMark(body) {
			body = strings.TrimLeft(next, " \t")
		}
	}
	if body == "" || body[0] != '`' && body[0] != '~' {
		return false, false
	}
	run := len(body) - len(strings.TrimLeft(body, body[:1]))
	if run < 3 {
		return false, false
	}
	mark, rest := body[:run], strings.TrimSpace(body[run:])
	switch {
	case f.inside():
		if mark[0] == f.mark[0] && run >= len(f.mark) && rest == "" {
			*f = fence{}
			return false, true
		}
	case mark[0] == '~' || !strings.Contains(rest, "`"):
		indent := len(line) - len(body)
		at := strings.LastIndex(string(line), rest)
		*f = fence{mark, screen.TrimRight(line[:indent], " \t"), indent, line[at : at+len(rest)]}
		return true, false
	}
	return false, false
}

// afterMark is what stands behind the mark of a list's entry, or all of it if
// there is none.
func afterMark(s string) string {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	switch {
	case len(s) > 1 && strings.ContainsRune("-*+", rune(s[0])) && (s[1] == ' ' || s[1] == '\t'):
		return s[2:]
	case digits > 0 && digits < 10 && len(s) > digits+1 && (s[digits] == '.' || s[digits] == ')') && (s[digits+1] == ' ' || s[digits+1] == '\t'):
		return s[digits+2:]
	}
	return s
}

// longest is the longest run of a mark's character at the beginning of a line:
// a fence around these lines has to be longer.
func longest(lines []screen.Safe, mark byte) int {
	most := 0
	for _, line := range lines {
		l := strings.TrimLeft(string(line), " \t")
		most = max(most, len(l)-len(strings.TrimLeft(l, string(mark))))
	}
	return most
}

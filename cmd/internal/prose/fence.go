package prose

import (
	"strings"

	"rehome/cmd/internal/screen"
)

// fence tracks fenced code blocks of Markdown, line by line. It accepts fences at any
// indentation and after list markers, since code blocks in lists are deeply indented.
type fence struct {
	mark     string      // the opening fence; "" outside of a block
	listMark screen.Safe // list markers before the fence
	indent   int         // bytes before the fence, including listMark
	info     screen.Safe // info string
}

func (f *fence) inside() bool { return f.mark != "" }

// step examines the next line, and reports whether it opens or closes a block.
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

// afterMark returns what follows a list marker, or s if it does not begin with one.
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

// longestRun returns the length of the longest run of mark at the beginning of
// a line. A fence around these lines has to be longer.
func longestRun(lines []screen.Safe, mark byte) int {
	longest := 0
	for _, line := range lines {
		l := strings.TrimLeft(string(line), " \t")
		longest = max(longest, len(l)-len(strings.TrimLeft(l, string(mark))))
	}
	return longest
}

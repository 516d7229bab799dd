package cli

import (
	"strings"
	"unicode"

	"rehome/cmd/internal/screen"
	"rehome/internal/udiff"
)

// Limits of the search for words that differ.
const (
	maxRun      = 1000    // lines that are removed or added together
	maxWordLine = 8 << 10 // bytes of a line
	maxTokens   = 200     // of a line, without the same start and end
)

// diffPage prints the lines of a difference. With colors, it marks the words that differ
// between a removed line and the one added in its place.
type diffPage struct {
	*screen.Page
	old, new []diffLine // a run of removed lines, and the added ones after it
}

// put prints a line, or keeps it until the end of its run. It returns false if the page
// cannot be written.
func (p *diffPage) put(l diffLine) bool {
	keep := bool(p.Palette) && l.level == 3 && len(p.old)+len(p.new) < maxRun
	switch {
	case keep && l.mark == '-' && len(p.new) == 0:
		p.old = append(p.old, l)
	case keep && l.mark == '+' && len(p.old) > 0:
		p.new = append(p.new, l)
	default:
		p.flush()
		if keep && l.mark == '-' {
			p.old = append(p.old, l)
		} else {
			printDiffLine(p.Page, l)
		}
	}
	return p.Err() == nil
}

// flush prints the run.
func (p *diffPage) flush() {
	for i := range min(len(p.old), len(p.new)) {
		a, b := &p.old[i], &p.new[i]
		a.text, b.text = screen.ExpandTabs(a.text), screen.ExpandTabs(b.text)
		a.words, b.words = differingWords(a.text, b.text)
	}
	for _, l := range append(p.old, p.new...) {
		printDiffLine(p.Page, l)
	}
	p.old, p.new = p.old[:0], p.new[:0]
}

// differingWords returns where the words are that two lines do not have in common, as
// pairs of a start and an end. There are none if the lines have little in common, or are
// long.
func differingWords(a, b screen.Safe) (x, y [][2]int) {
	if max(len(a), len(b)) > maxWordLine {
		return nil, nil
	}
	s, t := splitWords(string(a)), splitWords(string(b))
	lead, tail := 0, 0
	for lead < min(len(s), len(t)) && s[lead] == t[lead] {
		lead++
	}
	for tail < min(len(s), len(t))-lead && s[len(s)-1-tail] == t[len(t)-1-tail] {
		tail++
	}
	list := []udiff.Change{{OldStart: lead, Removed: len(s) - lead - tail, NewStart: lead, Added: len(t) - lead - tail}}
	if max(list[0].Removed, list[0].Added) <= maxTokens {
		list = udiff.Changes(s, t)
	}
	for _, c := range list {
		x, y = mark(x, s, c.OldStart, c.Removed), mark(y, t, c.NewStart, c.Added)
	}
	if 2*length(x) > len(a) || 2*length(y) > len(b) {
		return nil, nil
	}
	return x, y
}

// splitWords splits a line into words, runs of spaces, and other characters.
func splitWords(s string) (out []string) {
	start, last := 0, rune(0)
	for i, r := range s {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			r = 'a'
		}
		if i > 0 && (r != last || r != 'a' && r != ' ') {
			out, start = append(out, s[start:i]), i
		}
		last = r
	}
	return append(out, s[start:])
}

// mark adds the span of n words. With only spaces between it and the one before, they
// become one.
func mark(spans [][2]int, list []string, start, n int) [][2]int {
	from := len(strings.Join(list[:start], ""))
	to := from + len(strings.Join(list[start:start+n], ""))
	last := len(spans) - 1
	switch {
	case n == 0:
		return spans
	case last >= 0 && start > 0 && strings.Trim(list[start-1], " ") == "" && spans[last][1] == from-len(list[start-1]):
		spans[last][1] = to
		return spans
	}
	return append(spans, [2]int{from, to})
}

func length(spans [][2]int) (n int) {
	for _, s := range spans {
		n += s[1] - s[0]
	}
	return n
}

// paintDiffLine returns a piece of a line, which was wrapped, in the color of its mark, and its
// words that differ inverse. The piece is not before from; end is where it ends.
func paintDiffLine(p *screen.Page, l diffLine, piece screen.Safe, from int) (out screen.Safe, end int) {
	plain, inverse := p.Red, p.RedWord
	if l.mark == '+' {
		plain, inverse = p.Green, p.GreenWord
	}
	text := screen.TrimLeft(piece, " ")
	from += max(0, strings.Index(string(l.text[from:]), string(text)))
	end = from + len(text)
	before := l.prefix() + piece[:len(piece)-len(text)]
	for _, w := range l.words {
		start := min(max(w[0], from), end)
		stop := min(max(w[1], start), end)
		out += plain(before+l.text[from:start]) + inverse(l.text[start:stop])
		before, from = "", stop
	}
	return out + plain(before+l.text[from:end]), end
}

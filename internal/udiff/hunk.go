package udiff

import (
	"strconv"
	"strings"
)

// Hunk is a run of changed lines with what stands around them. Each line has a
// blank, a minus or a plus in front.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	Lines              []string
}

// Header returns the line above the hunk in a unified diff.
func (h Hunk) Header() string {
	span := func(start, n int) string {
		if n == 1 {
			return strconv.Itoa(start)
		}
		return strconv.Itoa(start) + "," + strconv.Itoa(n)
	}
	return "@@ -" + span(h.OldStart, h.OldLines) + " +" + span(h.NewStart, h.NewLines) + " @@"
}

// Parse reads the hunks of a unified diff. What stands in front of the first
// one is passed over; nil if there is none.
func Parse(text string) (out []Hunk) {
	var h *Hunk
	oldLeft, newLeft := 0, 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if next, ok := header(line); ok && oldLeft <= 0 && newLeft <= 0 {
			out = append(out, next)
			h = &out[len(out)-1]
			oldLeft, newLeft = h.OldLines, h.NewLines
			h.OldLines, h.NewLines = 0, 0
			continue
		}
		if h == nil || oldLeft <= 0 && newLeft <= 0 {
			continue
		}
		if line == "" {
			line = " " // some strip the blank of an empty line
		}
		switch line[0] {
		case ' ':
			h.OldLines, h.NewLines = h.OldLines+1, h.NewLines+1
			oldLeft, newLeft = oldLeft-1, newLeft-1
		case '-':
			h.OldLines, oldLeft = h.OldLines+1, oldLeft-1
		case '+':
			h.NewLines, newLeft = h.NewLines+1, newLeft-1
		default:
			continue // no newline at end of file
		}
		h.Lines = append(h.Lines, line)
	}
	return out
}

// Chunk reads changed lines that came without a header, from the given line on.
func Chunk(text string, oldStart, newStart int) Hunk {
	h := Hunk{OldStart: oldStart, NewStart: newStart}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			line = " "
		}
		switch line[0] {
		case '-':
			h.OldLines++
		case '+':
			h.NewLines++
		case ' ':
			h.OldLines, h.NewLines = h.OldLines+1, h.NewLines+1
		default:
			continue
		}
		h.Lines = append(h.Lines, line)
	}
	return h
}

// header reads @@ -1,2 +3,4 @@.
func header(line string) (h Hunk, ok bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return h, false
	}
	older, rest, ok := strings.Cut(rest, " +")
	if !ok {
		return h, false
	}
	newer, _, ok := strings.Cut(rest, " @@")
	if !ok || !span(older, &h.OldStart, &h.OldLines) || !span(newer, &h.NewStart, &h.NewLines) {
		return h, false
	}
	return h, true
}

func span(s string, start, n *int) bool {
	from, count, some := strings.Cut(s, ",")
	var err error
	if *start, err = strconv.Atoi(from); err != nil || *start < 0 {
		return false
	}
	if *n = 1; some {
		*n, err = strconv.Atoi(count)
	}
	return err == nil && *n >= 0
}

// Sides are the old and the new text of hunks, with what stands around the
// changes. Between hunks it leaves out what was left out of the diff.
func Sides(list []Hunk) (before, after string) {
	var a, b []string
	for _, h := range list {
		for _, line := range h.Lines {
			if line[0] != '+' {
				a = append(a, line[1:])
			}
			if line[0] != '-' {
				b = append(b, line[1:])
			}
		}
	}
	return strings.Join(a, "\n"), strings.Join(b, "\n")
}

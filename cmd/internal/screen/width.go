package screen

import (
	"strings"
	"unicode"
)

// Cells returns the number of terminal cells that s takes. Control characters,
// which have no width, must have been escaped.
func Cells(s Safe) int {
	n := 0
	for _, r := range s {
		n += CellsOf(r)
	}
	return n
}

// wideRanges are the blocks whose characters take two cells.
var wideRanges = [...][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x23e9, 0x23ec}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x26a1, 0x26a1},
	{0x26bd, 0x26be}, {0x26d4, 0x26d4}, {0x2705, 0x2705}, {0x270a, 0x270b}, {0x2728, 0x2728}, {0x274c, 0x274c},
	{0x274e, 0x274e}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55},
	{0x2e80, 0x303e}, {0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf}, {0xa960, 0xa97f},
	{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f1e6, 0x1f202},
	{0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
}

// CellsOf returns the number of cells that a character takes.
func CellsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case joiner(r) || r >= 0xfe00 && r <= 0xfe0f || unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	for _, w := range wideRanges {
		if r < w[0] {
			return 1
		}
		if r <= w[1] {
			return 2
		}
	}
	return 1
}

// Cut shortens a text to a width at its end.
func Cut(s Safe, width int) Safe {
	if width <= 0 {
		return ""
	}
	n := 0
	end := 0 // end of the text that leaves a cell for the ellipsis
	for i, r := range s {
		w := CellsOf(r)
		if n+w > width {
			return s[:end] + "…"
		}
		if n += w; n <= width-1 {
			end = i + len(string(r))
		}
	}
	return s
}

// CutLeft shortens a text to a width at its beginning.
func CutLeft(s Safe, width int) Safe {
	n := Cells(s)
	if n <= width {
		return s
	}
	for i, r := range s {
		if n+1 <= width {
			return "…" + s[i:]
		}
		n -= CellsOf(r)
	}
	return "…"
}

// Pad adds spaces to s until it is as wide as a column.
func Pad(s Safe, width int) Safe { return s + Repeat(" ", width-Cells(s)) }

// tabWidth is the distance between tab stops.
const tabWidth = 4

// ExpandTabs replaces the tabs of one line with spaces.
func ExpandTabs(line Safe) Safe {
	if !strings.Contains(string(line), "\t") {
		return line
	}
	var b strings.Builder
	at := 0
	for _, r := range line {
		if r != '\t' {
			b.WriteRune(r)
			at += CellsOf(r)
			continue
		}
		n := tabWidth - at%tabWidth
		b.WriteString("    "[:n])
		at += n
	}
	return Safe(b.String())
}

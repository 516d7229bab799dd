package screen

import (
	"io"
	"strings"
)

// PageWidth is the width that text keeps to where it can be broken.
const PageWidth = 80

// Page is text on its way out, line by line. The first error of the writer
// sticks.
type Page struct {
	Palette
	w   io.Writer
	err error
}

// NewPage returns a page that writes to w.
func NewPage(w io.Writer, paint Palette) *Page { return &Page{Palette: paint, w: w} }

// Err is the first error of the writer.
func (p *Page) Err() error { return p.err }

// Line writes a line.
func (p *Page) Line(s Safe) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, string(inert(TrimRight(s, " ")))+"\n")
	}
}

// Linef writes a line as Sprintf spells it.
func (p *Page) Linef(format Safe, operands ...any) { p.Line(Sprintf(format, operands...)) }

// Wrapped writes a line behind an indent, broken where the width ends.
func (p *Page) Wrapped(indent, s Safe, paint func(Safe) Safe) {
	for _, part := range Hang(s, PageWidth-len(indent)) {
		p.Line(indent + paint(part))
	}
}

// Plain is the paint that changes nothing.
func Plain(s Safe) Safe { return s }

// inert is a line that a runner of a build service does not take for a command
// to itself: GitHub's looks for :: behind blanks, and for the older ##[ in all
// of a line. A path means the same with ./ in front.
func inert(s Safe) Safe {
	if !strings.Contains(string(s), "##[") && !strings.Contains(string(s), "::") {
		return s
	}
	s = Safe(strings.ReplaceAll(string(s), "##[", `#\x23[`))
	if rest := strings.TrimLeft(string(s), " "); strings.HasPrefix(rest, "::") {
		return s[:len(s)-len(rest)] + "./" + Safe(rest)
	}
	return s
}

// Table writes rows in columns, two blanks apart; the last column is broken
// between words. Cells hold no color.
func (p *Page) Table(indent Safe, rows [][]Safe) {
	width := Widths(rows)
	for _, row := range rows {
		s, last := indent, len(row)-1
		for i, c := range row[:last] {
			s += c + Repeat(" ", width[i]-Cells(c)+2)
		}
		margin := Repeat(" ", Cells(s))
		for i, part := range Broken(row[last], PageWidth-len(margin)) {
			if i > 0 {
				s = margin
			}
			p.Line(s + part)
		}
	}
}

// Widths are the cells that the columns of a table take.
func Widths(rows [][]Safe) (out []int) {
	for _, row := range rows {
		for i, c := range row {
			if i == len(out) {
				out = append(out, 0)
			}
			out[i] = max(out[i], Cells(c))
		}
	}
	return out
}

// Broken is prose in lines of at most so many cells, where its words allow
// that.
func Broken(s Safe, width int) []Safe {
	out := []Safe{""}
	used := 0
	for _, word := range strings.Split(string(s), " ") {
		at, n := &out[len(out)-1], Cells(Safe(word))
		switch {
		case *at == "":
			*at, used = Safe(word), n
		case used+1+n <= width:
			*at, used = *at+" "+Safe(word), used+1+n
		default:
			out, used = append(out, Safe(word)), n
		}
	}
	return out
}

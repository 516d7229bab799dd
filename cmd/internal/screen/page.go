package screen

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// PageWidth is the width that text is wrapped to, unless the terminal is narrower.
const PageWidth = 80

// Page writes text line by line. It keeps the first error of the writer.
type Page struct {
	Palette
	Links bool // make paths links; set it only for terminals
	Width int  // that text is wrapped to
	// Rename puts the name of the program that runs into text that names commands of rehome;
	// nil = it is rehome.
	Rename func(string) string
	w      io.Writer
	err    error
}

// NewPage returns a page that writes to w.
func NewPage(w io.Writer, paint Palette) *Page { return &Page{Palette: paint, Width: PageWidth, w: w} }

// Err returns the first error of the writer.
func (p *Page) Err() error { return p.err }

// Line writes a line.
func (p *Page) Line(s Safe) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, string(escapeCommands(TrimRight(s, " ")))+"\n")
	}
}

// Linef writes a line formatted with Sprintf.
func (p *Page) Linef(format Safe, operands ...any) { p.Line(Sprintf(format, operands...)) }

// Wrapped writes a line with an indent, wrapped at the width of the page.
func (p *Page) Wrapped(indent, s Safe, paint func(Safe) Safe) {
	for _, part := range WrapHanging(s, p.Width-len(indent)) {
		p.Line(indent + paint(part))
	}
}

// Hint writes what to do about an error, if there is anything.
func (p *Page) Hint(indent Safe, hint string) {
	if hint == "" {
		return
	}
	if p.Rename != nil {
		hint = p.Rename(hint)
	}
	p.Line(p.Faint(indent + "hint: " + Visible(hint)))
}

// Link makes text a link to a file or folder, if the page has links. Terminals
// that do not know links show the text alone.
func (p *Page) Link(path string, text Safe) Safe {
	if abs, err := filepath.Abs(path); p.Links && err == nil {
		path = filepath.ToSlash(abs)
		if path[0] != '/' { // a drive letter
			path = "/" + path
		}
		return "\x1b]8;;" + Safe((&url.URL{Scheme: "file", Path: path}).String()) + "\x1b\\" + text + "\x1b]8;;\x1b\\"
	}
	return text
}

// Plain returns s without color.
func Plain(s Safe) Safe { return s }

// escapeCommands changes a line that the runner of a build service would take
// for a command. GitHub's runner looks for :: after leading spaces, and for the
// older ##[ anywhere in a line. A path means the same with ./ before it.
func escapeCommands(s Safe) Safe {
	if !strings.Contains(string(s), "##[") && !strings.Contains(string(s), "::") {
		return s
	}
	s = Safe(strings.ReplaceAll(string(s), "##[", `#\x23[`))
	if rest := strings.TrimLeft(string(s), " "); strings.HasPrefix(rest, "::") {
		return s[:len(s)-len(rest)] + "./" + Safe(rest)
	}
	return s
}

// Table writes rows in columns separated by two spaces. The last column is
// wrapped between words. Cells must not contain color.
func (p *Page) Table(indent Safe, rows [][]Safe) {
	width := ColumnWidths(rows)
	for _, row := range rows {
		s, last := indent, len(row)-1
		for i, c := range row[:last] {
			s += c + Repeat(" ", width[i]-Cells(c)+2)
		}
		margin := Repeat(" ", Cells(s))
		for i, part := range WrapWords(row[last], p.Width-len(margin)) {
			if i > 0 {
				s = margin
			}
			p.Line(s + part)
		}
	}
}

// Columns returns rows as lines, with their columns separated by two spaces. The
// columns in right are aligned to the right.
func Columns(rows [][]Safe, right ...int) (lines []Safe) {
	width := ColumnWidths(rows)
	for _, row := range rows {
		var line Safe
		for i, c := range row {
			pad := Repeat(" ", width[i]-Cells(c))
			if slices.Contains(right, i) {
				line += pad + c + "  "
			} else {
				line += c + pad + "  "
			}
		}
		lines = append(lines, TrimRight(line, " "))
	}
	return lines
}

// ColumnWidths returns the number of cells that each column needs.
func ColumnWidths(rows [][]Safe) (out []int) {
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

// WrapWords splits prose into lines of at most width cells. A longer word gets
// a line of its own.
func WrapWords(s Safe, width int) []Safe {
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

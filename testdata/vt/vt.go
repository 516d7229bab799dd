// Package vt has a terminal for tests.
package vt

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Screen is what a terminal shows: programs do not write line after line, but go
// back and change what they drew before. It has no limit at its top, so that what
// scrolled away is still there.
type Screen struct {
	Rows, Columns int
	lines         [][]rune   // cells; 0 behind a rune that is two wide
	looks         [][]string // of the cells: the sequences that color them
	look          string     // of what is put next
	row, column   int
	last          rune   // the last one that was put
	rest          []byte // a sequence or rune whose end is still to come

	main *Screen // the screen below a full-screen program, nil if there is none
}

// Write draws what a program sends. A sequence can be split over calls.
func (s *Screen) Write(b []byte) {
	b = append(s.rest, b...)
	for len(b) > 0 {
		n := s.step(b)
		if n == 0 {
			break
		}
		b = b[n:]
	}
	s.rest = append([]byte(nil), b...)
}

// step takes what is in front, and says how long that is: nothing if its end is
// not there yet.
func (s *Screen) step(b []byte) int {
	switch b[0] {
	case 0x1b:
		return s.escape(b)
	case '\r':
		s.column = 0
	case '\n':
		s.row++
	case '\b':
		s.column = max(0, s.column-1)
	case '\t':
		s.column = (s.column/8 + 1) * 8
	default:
		if b[0] < ' ' || b[0] == 0x7f {
			return 1
		}
		if !utf8.FullRune(b) {
			return 0
		}
		r, n := utf8.DecodeRune(b)
		s.put(r)
		return n
	}
	return 1
}

// cells is how wide a rune is. Joiners and marks have no cell of their own.
func cells(r rune) int {
	switch {
	case r >= 0x300 && r < 0x370, r >= 0x200b && r <= 0x200f, r >= 0xfe00 && r <= 0xfe0f:
		return 0
	case r >= 0x1100 && r < 0x1160, r >= 0x2e80 && r < 0xa4d0, r >= 0xac00 && r < 0xd7a4, r >= 0xf900 && r < 0xfb00, r >= 0xff00 && r < 0xff61, r >= 0x1f300 && r < 0x1fb00:
		return 2
	}
	return 1
}

func (s *Screen) put(r rune) {
	w := cells(r)
	if w == 0 {
		return
	}
	if s.column+w > s.Columns {
		s.row, s.column = s.row+1, 0
	}
	line := s.line()
	for len(*line) < s.column+w {
		*line = append(*line, ' ')
	}
	(*line)[s.column], s.last = r, r
	s.paint(w)
	if w == 2 {
		(*line)[s.column+1] = 0
	}
	s.column += w
}

func (s *Screen) line() *[]rune {
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, nil)
	}
	return &s.lines[s.row]
}

// escape takes a sequence that steers the terminal.
func (s *Screen) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '[':
		for n := 2; n < len(b); n++ {
			if b[n] >= 0x40 && b[n] <= 0x7e {
				s.control(b[n], string(b[2:n]))
				return n + 1
			}
		}
		return 0
	case ']', 'P', '_', '^': // until a bell or ESC \
		for n := 2; n < len(b); n++ {
			if b[n] == 0x07 {
				return n + 1
			}
			if b[n] == '\\' && b[n-1] == 0x1b {
				return n + 1
			}
		}
		return 0
	case '(', ')', '#':
		if len(b) < 3 {
			return 0
		}
		return 3
	}
	return 2
}

func (s *Screen) control(final byte, args string) {
	var n [2]int
	for i, arg := range strings.SplitN(args, ";", 3) {
		if i < len(n) {
			n[i], _ = strconv.Atoi(arg) // what is no number belongs to no move
		}
	}
	by, top := max(1, n[0]), max(0, len(s.lines)-s.Rows)
	switch final {
	case 'A':
		s.row = max(top, s.row-by)
	case 'B':
		s.row += by
	case 'C':
		s.column = min(s.Columns-1, s.column+by)
	case 'D':
		s.column = max(0, s.column-by)
	case 'E':
		s.row, s.column = s.row+by, 0
	case 'F':
		s.row, s.column = max(top, s.row-by), 0
	case 'G':
		s.column = by - 1
	case 'd':
		s.row = top + by - 1
	case 'H', 'f':
		s.row, s.column = top+by-1, max(1, n[1])-1
	case '`':
		s.column = by - 1
	case 'X':
		s.fill(by)
	case 'b':
		for range by {
			s.put(s.last)
		}
	case 'h', 'l':
		if args == "?1049" {
			s.alternate(final == 'h')
		}
	case 'J':
		s.erase(n[0], top)
	case 'm':
		switch {
		case args == "" || args == "0":
			s.look = ""
		case args[0] != '>': // which is about keys
			s.look += "[" + args + "m"
		}
	case 'K':
		s.wipe(n[0])
	}
}

// fill empties cells from the cursor on.
func (s *Screen) fill(n int) {
	line := s.line()
	for i := s.column; i < min(s.column+n, len(*line)); i++ {
		(*line)[i] = ' '
		s.clear(i)
	}
}

// alternate begins or ends the screen of a full-screen program.
func (s *Screen) alternate(begin bool) {
	switch {
	case begin && s.main == nil:
		below := *s
		*s = Screen{Rows: s.Rows, Columns: s.Columns, look: s.look, main: &below}
	case !begin && s.main != nil:
		rest, look := s.rest, s.look
		*s = *s.main
		s.rest, s.look = rest, look
	}
}

// FullScreen reports whether a full-screen program is running.
func (s *Screen) FullScreen() bool { return s.main != nil }

// Resize gives the terminal another size, and empties it.
func (s *Screen) Resize(rows, columns int) {
	s.Rows, s.Columns, s.lines, s.looks, s.row, s.column = rows, columns, nil, nil, 0, 0
}

// erase empties the screen: below the cursor, above it, or all of it.
func (s *Screen) erase(what, top int) {
	s.wipe(what)
	for i := top; i < len(s.lines); i++ {
		if what == 0 && i > s.row || what == 1 && i < s.row || what > 1 {
			s.lines[i] = nil
			if i < len(s.looks) {
				s.looks[i] = nil
			}
		}
	}
}

// wipe empties the line in the same way.
func (s *Screen) wipe(what int) {
	line := s.line()
	for i := range *line {
		if what == 0 && i >= s.column || what == 1 && i <= s.column || what > 1 {
			(*line)[i] = ' '
			s.clear(i)
		}
	}
}

// Text returns the lines.
func (s *Screen) Text() string {
	var b strings.Builder
	for _, line := range s.lines {
		b.WriteString(strings.TrimRight(strings.ReplaceAll(string(line), "\x00", ""), " ") + "\n")
	}
	return b.String()
}

// paint gives the next w cells the current look.
func (s *Screen) paint(w int) {
	for len(s.looks) <= s.row {
		s.looks = append(s.looks, nil)
	}
	row := &s.looks[s.row]
	for len(*row) < s.column+w {
		*row = append(*row, "")
	}
	for i := range w {
		(*row)[s.column+i] = s.look
	}
}

// clear takes the look of a cell of the current line.
func (s *Screen) clear(i int) {
	if s.row < len(s.looks) && i < len(s.looks[s.row]) {
		s.looks[s.row][i] = ""
	}
}

// Marked returns the lines with their colors, as sequences without the ESC.
func (s *Screen) Marked() string {
	var b strings.Builder
	for n, line := range s.lines {
		look, text := "", strings.TrimRight(string(line), " ")
		for i, r := range []rune(text) {
			next := ""
			if n < len(s.looks) && i < len(s.looks[n]) {
				next = s.looks[n][i]
			}
			if next != look && look != "" {
				b.WriteString("[0m")
			}
			if next != look {
				b.WriteString(next)
				look = next
			}
			if r != 0 {
				b.WriteRune(r)
			}
		}
		if look != "" {
			b.WriteString("[0m")
		}
		b.WriteString("\n")
	}
	return b.String()
}

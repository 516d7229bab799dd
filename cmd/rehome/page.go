package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"rehome/cmd/rehome/internal/screen"
)

// page is text on its way to stdout. The first error of the writer sticks.
type page struct {
	palette
	w   io.Writer
	err error
}

func (p *page) line(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, strings.TrimRight(s, " ")+"\n")
	}
}

func (p *page) linef(format string, args ...any) { p.line(fmt.Sprintf(format, args...)) }

// pageWidth is the width that text keeps to where it can be broken.
const pageWidth = 80

// table prints rows in columns, two blanks apart; the last column is broken
// between words. Cells hold no colour.
func (p *page) table(indent string, rows [][]string) {
	var width []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, row := range rows {
		s, last := indent, len(row)-1
		for i, c := range row[:last] {
			s += c + strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)+2)
		}
		margin := strings.Repeat(" ", utf8.RuneCountInString(s))
		for i, part := range broken(row[last], pageWidth-len(margin)) {
			if i > 0 {
				s = margin
			}
			p.line(s + part)
		}
	}
}

// columnsOf puts rows into columns, two blanks apart, one line a row.
func columnsOf(rows [][]string) (out []string) {
	width := map[int]int{}
	for _, row := range rows {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, row := range rows {
		s := ""
		for i, c := range row {
			s += c + strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)+2)
		}
		out = append(out, strings.TrimRight(s, " "))
	}
	return out
}

// broken is prose in lines of at most so many characters, where its words
// allow that.
func broken(s string, most int) []string {
	out := []string{""}
	for _, word := range strings.Split(s, " ") {
		at := &out[len(out)-1]
		switch {
		case *at == "":
			*at = word
		case utf8.RuneCountInString(*at)+1+utf8.RuneCountInString(word) <= most:
			*at += " " + word
		default:
			out = append(out, word)
		}
	}
	return out
}

// ways says whether something comes in, goes out, or both.
func ways(in, out bool) string {
	switch {
	case in && out:
		return "in, out"
	case in:
		return "in"
	case out:
		return "out"
	}
	return "-"
}

// yes says whether something can be done.
func yes(can bool) string {
	if can {
		return "yes"
	}
	return "-"
}

func many(n int64, noun string) string { return screen.Many(n, noun) }
func grouped(n int64) string           { return screen.Grouped(n) }
func size(n int64) string              { return screen.Size(n) }

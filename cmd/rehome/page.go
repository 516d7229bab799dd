package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
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

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "-"
}

func many(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

// grouped prints a number in groups of three digits: 47,043.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// size prints a number of bytes in powers of ten: 312 B, 4.1 kB, 351 MB.
func size(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v := float64(n) / 1000
	for _, unit := range []string{"kB", "MB", "GB", "TB"} {
		switch {
		case v < 9.95:
			return fmt.Sprintf("%.1f %s", v, unit)
		case v < 999.5:
			return fmt.Sprintf("%.0f %s", v, unit)
		}
		v /= 1000
	}
	return fmt.Sprintf("%.0f PB", v)
}

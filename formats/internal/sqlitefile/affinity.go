package sqlitefile

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"rehome/formats/rule"
	"rehome/formats/store"
)

// affinity is what a column does to the values put into it.
type affinity uint8

const (
	asIs affinity = iota
	textual
	numeric  // INTEGER and NUMERIC
	floating // REAL
)

// affinityOf follows SQLite's rules for a declared type, in their order.
func affinityOf(declared string, strict bool) affinity {
	d := fold(declared)
	has := func(s string) bool { return strings.Contains(d, s) }
	switch {
	case strict && d == "any":
		return asIs
	case has("int"):
		return numeric
	case has("char"), has("clob"), has("text"):
		return textual
	case has("blob"), d == "":
		return asIs
	case has("real"), has("floa"), has("doub"):
		return floating
	}
	return numeric
}

// changed says what a column of this affinity would make of a value, "" where
// it would leave it alone.
func (a affinity) changed(c store.Cell) string {
	switch c.Class {
	case store.Int:
		switch a {
		case textual:
			return "an integer would become text"
		case floating:
			return "an integer would become a real"
		}
	case store.Real:
		r := c.Real()
		switch {
		case math.IsNaN(r):
			return "not-a-number would become NULL"
		case a == textual:
			return "a real would become text"
		case a == numeric && r == math.Trunc(r) && math.Abs(r) < 1<<63:
			return "a real without a fraction would become an integer"
		}
	case store.Text:
		if (a == numeric || a == floating) && looksNumeric(c.Bytes()) {
			return "text that reads as a number would become one"
		}
	}
	return ""
}

// unlike is the error of a value that would not stay what it is.
func unlike(what, declared string) error {
	return fmt.Errorf("%s in a column declared %q", what, rule.Clip(declared))
}

// looksNumeric reports whether SQLite would take a text for a number: all of
// it, or all before a NUL.
func looksNumeric(b []byte) bool {
	b, _, _ = bytes.Cut(b, []byte{0})
	i := skip(b, 0, " \t\n\v\f\r")
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		i++
	}
	from := i
	i = skip(b, i, "0123456789")
	digits := i - from
	if i < len(b) && b[i] == '.' {
		from = i + 1
		i = skip(b, from, "0123456789")
		digits += i - from
	}
	if digits == 0 {
		return false
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from = i
		if i = skip(b, i, "0123456789"); i == from {
			return false
		}
	}
	return skip(b, i, " \t\n\v\f\r") == len(b)
}

func skip(b []byte, i int, set string) int {
	for i < len(b) && strings.IndexByte(set, b[i]) >= 0 {
		i++
	}
	return i
}

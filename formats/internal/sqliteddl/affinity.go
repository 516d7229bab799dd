package sqliteddl

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"rehome/formats/rule"
	"rehome/formats/store"
)

// Affinity is what a column does to the values put into it.
type Affinity uint8

const (
	AnyAffinity Affinity = iota
	TextAffinity
	NumericAffinity // INTEGER and NUMERIC
	RealAffinity    // REAL
)

// AffinityOf returns the affinity of a declared type, by SQLite's rules in their order.
func AffinityOf(declared string, strict bool) Affinity {
	d := Fold(declared)
	has := func(s string) bool { return strings.Contains(d, s) }
	switch {
	case strict && d == "any":
		return AnyAffinity
	case has("int"):
		return NumericAffinity
	case has("char"), has("clob"), has("text"):
		return TextAffinity
	case has("blob"), d == "":
		return AnyAffinity
	case has("real"), has("floa"), has("doub"):
		return RealAffinity
	}
	return NumericAffinity
}

// Changed says what a column of this affinity would turn a value into, "" where
// it would keep it.
func (a Affinity) Changed(c store.Cell) string {
	switch c.Class {
	case store.Int:
		switch a {
		case TextAffinity:
			return "an integer would become text"
		case RealAffinity:
			return "an integer would become a real"
		}
	case store.Real:
		r := c.Real()
		switch {
		case math.IsNaN(r):
			return "NaN would become NULL"
		case a == TextAffinity:
			return "a real would become text"
		case a == NumericAffinity && r == math.Trunc(r) && math.Abs(r) < 1<<63:
			return "a real without a fraction would become an integer"
		}
	case store.Text:
		if (a == NumericAffinity || a == RealAffinity) && looksNumeric(c.Bytes()) {
			return "text that looks like a number would become a number"
		}
	}
	return ""
}

// Mismatch is the error of a value that its column would convert.
func Mismatch(what, declared string) error {
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

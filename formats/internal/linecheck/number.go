package linecheck

import (
	"bytes"
	"slices"
	"strconv"

	"rehome/internal/rawjson"
)

// What the schema library can bear of a number, see schemas.Validate.
const (
	mostDigits   = 1000
	mostExponent = 400
)

// number judges a number, which is well-formed.
func (s *scanner) number(text []byte) {
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		exponent, err := strconv.Atoi(string(text[i+1:]))
		if err != nil {
			exponent = mostExponent + 1 // what has no place in an int is too much as well
		}
		s.weigh(text, false, exponent)
	} else if len(text) >= 16 {
		s.weigh(text, bytes.IndexByte(text, '.') < 0, 0)
	}
}

// weigh judges a number that may not be one for JavaScript.
func (s *scanner) weigh(text []byte, whole bool, exponent int) {
	switch {
	case len(text) > mostDigits:
		s.wild = true
		s.odd(absurd, "%d characters", len(text))
	case exponent > mostExponent || exponent < -mostExponent:
		s.wild = true
		s.odd(absurd, "exponent beyond ±%d", mostExponent)
	default:
		f, err := strconv.ParseFloat(string(text), 64)
		switch {
		case err != nil:
			s.odd(inexact, "read as infinity")
		case whole && !spelled(f, string(text)):
			s.odd(inexact, "last digits are lost")
		}
	}
}

// spelled reports whether text says no more than f does: either all digits of
// it, or those that JavaScript prints, which are what a client writes that has
// read it before.
func spelled(f float64, text string) bool {
	return strconv.FormatFloat(f, 'f', -1, 64) == text || strconv.FormatFloat(f, 'f', 0, 64) == text
}

// pairs looks for doubles among few names.
func (s *scanner) pairs(f *frame, names []uint64) {
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			s.double(f, i)
		}
	}
}

// double notes that the i-th name of the innermost object is not its first.
func (s *scanner) double(f *frame, i int) {
	if len(s.issues) == mostIssues {
		return
	}
	for name := range rawjson.Members(s.b[f.start:]) {
		if i--; i < 0 {
			f.to = 0
			s.odd(twice, "")
			s.issues[len(s.issues)-1].pointer += string(appendName([]byte{'/'}, name))
			return
		}
	}
}

// sort looks for doubles among many.
func (s *scanner) sort(f *frame, names []uint64) {
	s.sorted = append(s.sorted[:0], names...)
	slices.Sort(s.sorted)
	for i := 1; i < len(s.sorted); i++ {
		if s.sorted[i] == s.sorted[i-1] {
			s.double(f, slices.Index(names, s.sorted[i]))
		}
	}
}

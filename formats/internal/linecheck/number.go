package linecheck

import (
	"slices"
	"strconv"

	"rehome/formats/internal/rawjson"
)

// What the schema library can bear of a number, see schemas.Validate.
const (
	mostDigits   = 1000
	mostExponent = 400
)

// number takes the number at b[i].
func (s *scanner) number(i int) (int, string) {
	b, from := s.b, i
	if b[i] == '-' {
		i++
	}
	start := i
	i = digits(b, i)
	if i == start || b[start] == '0' && i > start+1 {
		return s.misspelled(i)
	}
	whole, exponent := true, 0
	if i < len(b) && b[i] == '.' {
		whole = false
		start = i + 1
		if i = digits(b, start); i == start {
			return s.misspelled(i)
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		whole = false
		sign := i + 1
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start = i
		if i = digits(b, i); i == start {
			return s.misspelled(i)
		}
		exponent = mostExponent + 1 // what has no place in an int is too much as well
		if n, err := strconv.Atoi(string(b[sign:i])); err == nil {
			exponent = n
		}
	}
	if n := i - from; n >= 16 || exponent != 0 {
		s.weigh(b[from:i], whole, exponent)
	}
	return i, ""
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

func (s *scanner) misspelled(i int) (int, string) {
	if i >= len(s.b) {
		return i, brokenOff
	}
	return i, "malformed number"
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

package rawjson

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// Member is a member that Find was asked for, by offsets.
type Member struct {
	Name     string // as asked for, however it is spelled
	From, To int    // its value

	// CutFrom and CutTo bound what to remove so that the member is gone and
	// the JSON stays valid: the name, the value, and one comma, the one in
	// front unless the member is its object's first.
	CutFrom, CutTo int

	// Next is behind the comma that follows, or To if none does. Where a cut
	// has taken the comma in front of this member (it belonged to a first
	// member), [the end of that cut, Next) is what to remove instead.
	Next int
}

// Find calls f for each member whose name is one of names, at any depth and
// however the name is escaped: members in the order in which they end, so an
// inner one comes before the one it lies in. It stops when f returns false.
//
// Find is laxer than Inline, because a secret has to be found in any JSON: it
// takes any blanks, any line ends, and strings that are not quite UTF-8. What
// is not JSON is a *SyntaxError; f may have been called by then.
func Find(b []byte, names []string, f func(m Member) bool) error {
	return find(search{b: b, match: oneOf(names, false), f: f})
}

// FindFold is Find for names in any case of their ASCII letters: decoders that
// read a member so are common, Go's own among them.
func FindFold(b []byte, names []string, f func(m Member) bool) error {
	return find(search{b: b, match: oneOf(names, true), f: f})
}

// FindFunc is Find for the names that match says are wanted, and what to call
// them; "" is not wanted. depth is how many objects and arrays the member lies in.
func FindFunc(b []byte, match func(name []byte, depth int) string, f func(m Member) bool) error {
	return find(search{b: b, match: match, f: f})
}

func oneOf(names []string, fold bool) func([]byte, int) string {
	return func(name []byte, _ int) string {
		for _, n := range names {
			if string(name) == n || fold && sameLetters(name, n) {
				return n
			}
		}
		return ""
	}
}

func find(s search) error {
	b := s.b
	for i := 0; s.want != nothing; {
		i = space(b, i)
		if i >= len(b) {
			if s.want == aComma && s.depth == 0 {
				return nil
			}
			return &SyntaxError{i, msgEnd}
		}
		var bad string
		if i, bad = s.step(i); bad != "" {
			return &SyntaxError{i, bad}
		}
	}
	return nil
}

// search is the state of one Find.
type search struct {
	b     []byte
	match func(name []byte, depth int) string
	f     func(Member) bool
	plain []byte // room for a name that was spelled with escapes

	want   wanted
	depth  int
	object bool
	open   nest
	comma  int       // where the last comma of this object was, -1 before any
	found  []pending // members that have begun, innermost last
}

type pending struct {
	Member
	depth int
	first bool
}

// wanted is what may come next.
type wanted uint8

const (
	aValue wanted = iota
	aFirstValue
	aName
	aFirstName
	aComma // or the end of the object or array
	nothing
)

// step takes the token at b[i] and returns the index behind it.
func (s *search) step(i int) (int, string) {
	c := s.b[i]
	switch {
	case s.want == aComma:
		return s.next(i)
	case s.want == aFirstName && c == '}', s.want == aFirstValue && c == ']':
		return s.close(i), ""
	case s.want == aName || s.want == aFirstName:
		return s.name(i)
	case c == '{' || c == '[':
		if s.depth >= MaxDepth {
			return i, msgDeep
		}
		s.open.set(s.depth, s.object)
		s.depth++
		s.object = c == '{'
		if s.want = aFirstValue; s.object {
			s.want, s.comma = aFirstName, -1
		}
		return i + 1, ""
	}
	i, bad := s.scalar(i)
	s.ended(i)
	return i, bad
}

// next takes what follows a value.
func (s *search) next(i int) (int, string) {
	c := s.b[i]
	if s.depth == 0 {
		return i, msgTrailing
	}
	comma := c == ','
	if !comma && (c != '}' || !s.object) && (c != ']' || s.object) {
		return i, msgNext
	}
	if !s.report(i, comma) {
		s.want = nothing
		return i, ""
	}
	if !comma {
		return s.close(i), ""
	}
	if s.want = aValue; s.object {
		s.want, s.comma = aName, i
	}
	return i + 1, ""
}

// close takes the end of an object or array.
func (s *search) close(i int) int {
	s.depth--
	s.object = s.open.object(s.depth)
	s.ended(i + 1)
	return i + 1
}

// name takes a member's name and the colon, up to where its value begins.
func (s *search) name(i int) (int, string) {
	b, from := s.b, i
	if b[i] != '"' {
		return i, msgName
	}
	i, bad := looseEnd(b, i+1)
	if bad != "" {
		return i, bad
	}
	raw := b[from+1 : i-1]
	if bytes.IndexByte(raw, '\\') >= 0 {
		s.plain = appendText(s.plain[:0], raw)
		raw = s.plain
	}
	name := s.match(raw, s.depth)
	if i = space(b, i); i >= len(b) {
		return i, msgEnd
	}
	if b[i] != ':' {
		return i, msgColon
	}
	i = space(b, i+1)
	if name != "" {
		p := pending{Member{Name: name, From: i, CutFrom: from}, s.depth, s.want == aFirstName}
		if !p.first {
			p.CutFrom = s.comma
		}
		s.found = append(s.found, p)
	}
	s.want = aValue
	return i, ""
}

// scalar takes a string, a number or a word.
func (s *search) scalar(i int) (int, string) {
	switch c := s.b[i]; {
	case c == '"':
		return looseEnd(s.b, i+1)
	case c-'0' <= 9 || c == '-':
		return numberEnd(s.b, i)
	}
	return wordEnd(s.b, i)
}

// ended notes that a value ends at i.
func (s *search) ended(i int) {
	s.want = aComma
	if p := s.last(); p != nil {
		p.To = i
	}
}

// last is the member of the present object whose value this is, if it was
// asked for.
func (s *search) last() *pending {
	if n := len(s.found); n > 0 && s.found[n-1].depth == s.depth {
		return &s.found[n-1]
	}
	return nil
}

// report tells of the member that the comma or bracket at i ends.
func (s *search) report(i int, comma bool) bool {
	p := s.last()
	if p == nil {
		return true
	}
	p.Next = p.To
	if comma {
		p.Next = i + 1
	}
	p.CutTo = p.To
	if p.first {
		p.CutTo = p.Next
	}
	m := p.Member
	s.found = s.found[:len(s.found)-1]
	return s.f(m)
}

// space skips blanks and line ends.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// looseEnd is stringEnd for strings that need not be UTF-8.
func looseEnd(b []byte, i int) (int, string) {
	for i < len(b) {
		if len(b)-i >= 8 {
			// As special, but blind to what is beyond ASCII.
			x := binary.LittleEndian.Uint64(b[i:])
			m := special(x&^highs) &^ x
			if m == 0 {
				i += 8
				continue
			}
			i += lowest(m)
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, ""
		case c == '\\':
			n := escape(b, i+1)
			if n == 0 {
				return i, msgEscape
			}
			i += n
		case c < ' ':
			return i, msgControl
		default:
			i++
		}
	}
	return i, msgEnd
}

// sameLetters compares ignoring the case of ASCII letters.
func sameLetters(raw []byte, name string) bool {
	if len(raw) != len(name) {
		return false
	}
	for i, c := range raw {
		if d := name[i]; c != d && (c^d != 0x20 || c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// appendText appends what the content of a well-formed JSON string says. Half
// a surrogate pair becomes U+FFFD; no name that is asked for holds one.
func appendText(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch {
		case raw[i] != '\\':
			dst = append(dst, raw[i])
			i++
		case raw[i+1] == 'u':
			r, _ := hex4(raw, i+2)
			i += 6
			if low, ok := lowHalf(raw, i); ok && r >= 0xd800 && r < 0xdc00 {
				r = (r-0xd800)<<10 + (low - 0xdc00) + 0x10000
				i += 6
			}
			dst = utf8.AppendRune(dst, r)
		case raw[i+1] == '/':
			dst = append(dst, '/')
			i += 2
		default:
			dst = append(dst, unletters[raw[i+1]])
			i += 2
		}
	}
	return dst
}

// lowHalf reads an escaped low surrogate at raw[i].
func lowHalf(raw []byte, i int) (rune, bool) {
	if len(raw)-i < 6 || raw[i] != '\\' || raw[i+1] != 'u' {
		return 0, false
	}
	r, ok := hex4(raw, i+2)
	return r, ok && r >= 0xdc00 && r < 0xe000
}

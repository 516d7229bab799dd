package linecheck

import (
	"hash/maphash"

	"rehome/internal/rawjson"
)

// What is kept of one line, whatever it holds.
const (
	mostIssues  = 32      // findings of it
	mostNames   = 1 << 17 // names of its open objects, to find doubles
	mostMembers = 4096    // members of the object itself
)

// issue is something odd in a line that is JSON all the same.
type issue struct {
	ids     []string
	pointer string
	says    string
	args    []any
}

// frame is an open object or array.
type frame struct {
	object   bool
	from, to int // the present member's name, with its quotes
	index    int // the present element
	names    int // where this object's begin in scanner.names
	start    int // where it opens
}

// scanner takes one line after the other.
type scanner struct {
	b       []byte
	tokens  rawjson.Tokens
	depth   int
	frames  []frame // as deep as any value was; the first is none
	seed    maphash.Seed
	names   []uint64 // hashes of the names of open objects
	sorted  []uint64
	members []member
	member  []byte // the present one's name
	value   int    // and where its value begins
	issues  []issue
	wild    bool // a number that no library should be given
}

// member is one of the line's own object.
type member struct{ name, value []byte }

// scan takes the value at the start of b and returns the index behind it, or
// why it is none.
func (s *scanner) scan(b []byte) (int, string) {
	s.b, s.depth, s.names, s.members, s.issues, s.wild = b, 0, s.names[:0], s.members[:0], s.issues[:0], false
	if s.frames == nil {
		s.frames = make([]frame, 16)
	}
	t := &s.tokens
	for t.Reset(b); t.Next(); {
		switch t.Kind {
		case rawjson.Open:
			s.open()
			continue
		case rawjson.Name:
			s.name()
			continue
		case rawjson.Comma:
			s.frames[s.depth].index++
			continue
		case rawjson.Close:
			s.close()
		case rawjson.String:
			s.halves()
		case rawjson.Number:
			s.number(b[t.From:t.To])
		}
		if s.depth == 1 && s.frames[1].object && len(s.members) < mostMembers {
			s.members = append(s.members, member{s.member, b[s.value:t.To]})
		}
	}
	return t.At, t.Bad
}

func (s *scanner) open() {
	if s.depth++; s.depth >= len(s.frames) {
		s.frames = append(s.frames, make([]frame, 16)...)
	}
	s.frames[s.depth] = frame{object: s.b[s.tokens.From] == '{', names: len(s.names), start: s.tokens.From}
}

func (s *scanner) name() {
	t, f := &s.tokens, &s.frames[s.depth]
	f.to = 0 // no member is open
	s.halves()
	f.from, f.to = t.From, t.To
	name := s.b[t.From+1 : t.To-1]
	if t.Escaped {
		name = rawjson.AppendText(nil, s.b[t.From:t.To])
	}
	if len(s.names) < mostNames {
		s.names = append(s.names, maphash.Bytes(s.seed, name))
	}
	if s.depth == 1 {
		s.member, s.value = name, t.At
	}
}

// halves notes each half of a surrogate pair in a string.
func (s *scanner) halves() {
	for range s.tokens.Halves {
		s.odd(half, "")
	}
}

// close ends the innermost object or array, and looks for doubles in it.
func (s *scanner) close() {
	f := &s.frames[s.depth]
	if f.object {
		names := s.names[f.names:]
		if len(names) <= 16 {
			s.pairs(f, names)
		} else {
			s.sort(f, names)
		}
		s.names = s.names[:f.names]
	}
	s.depth--
}

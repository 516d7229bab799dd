package linecheck

import (
	"bytes"
	"hash/maphash"

	"rehome/formats/internal/rawjson"
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
	depth   int
	frames  []frame // as deep as any value was; the first is none
	seed    maphash.Seed
	names   []uint64 // hashes of the names of open objects
	sorted  []uint64
	members []member
	issues  []issue
	wild    bool // a number that no library should be given
}

// member is one of the line's own object.
type member struct{ name, value []byte }

// scan takes the value at b[i] and returns the index behind it, or why it is
// none.
func (s *scanner) scan(b []byte, i int) (int, string) {
	s.b, s.depth, s.names, s.members, s.issues, s.wild = b, 0, s.names[:0], s.members[:0], s.issues[:0], false
	if s.frames == nil {
		s.frames = make([]frame, 16)
	}
	for i = space(b, i); ; {
		var bad string
		if i, bad = s.value(i); bad != "" {
			return i, bad
		}
		for { // behind a value
			if s.depth == 0 {
				return i, ""
			}
			f := &s.frames[s.depth]
			if s.depth == 1 && f.object {
				s.member(f, i)
			}
			if i = space(b, i); i >= len(b) {
				return i, brokenOff
			}
			if b[i] == ',' {
				if f.index++; !f.object {
					i = space(b, i+1)
					break
				}
				if i, bad = s.name(space(b, i+1)); bad != "" {
					return i, bad
				}
				break
			}
			if b[i] != '}' && b[i] != ']' || (b[i] == '}') != f.object {
				return i, "expected a comma or the end"
			}
			i++
			s.close()
		}
	}
}

const brokenOff = "incomplete"
const deep = "too deep"

// value takes what stands at b[i]: all of it, or the opening of an object or
// array that is not empty, up to its first value.
func (s *scanner) value(i int) (int, string) {
	b := s.b
	for {
		if i >= len(b) {
			return i, brokenOff
		}
		c := b[i]
		if c != '{' && c != '[' {
			return s.scalar(i)
		}
		if s.depth == rawjson.MaxDepth {
			return i, deep
		}
		if s.depth++; s.depth >= len(s.frames) {
			s.frames = append(s.frames, make([]frame, 16)...)
		}
		s.frames[s.depth] = frame{object: c == '{', names: len(s.names), start: i}
		if i = space(b, i+1); i >= len(b) {
			return i, brokenOff
		}
		if b[i] == c+2 { // '}' and ']' lie two behind their opening
			s.close()
			return i + 1, ""
		}
		if c == '{' {
			var bad string
			if i, bad = s.name(i); bad != "" {
				return i, bad
			}
		}
	}
}

// name takes a member's name and the colon.
func (s *scanner) name(i int) (int, string) {
	b := s.b
	if i >= len(b) {
		return i, brokenOff
	}
	if b[i] != '"' {
		return i, "expected a name"
	}
	f := &s.frames[s.depth]
	f.to = 0 // no member is open
	end, plain, bad := s.text(i)
	if bad != "" {
		return end, bad
	}
	f.from, f.to = i, end
	if len(s.names) < mostNames {
		name := b[i+1 : end-1]
		if !plain {
			name = rawjson.AppendText(nil, b[i:end])
		}
		s.names = append(s.names, maphash.Bytes(s.seed, name))
	}
	if end = space(b, end); end >= len(b) {
		return end, brokenOff
	}
	if b[end] != ':' {
		return end, "expected a colon"
	}
	return space(b, end+1), ""
}

// member enters one of the line's own members, whose value ends at i.
func (s *scanner) member(f *frame, i int) {
	if len(s.members) == mostMembers {
		return
	}
	name := s.b[f.from+1 : f.to-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = rawjson.AppendText(nil, s.b[f.from:f.to])
	}
	from := space(s.b, space(s.b, f.to)+1)
	s.members = append(s.members, member{name, s.b[from:i]})
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

// space skips blanks and line ends.
func space(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// scalar takes a string, a number or a word.
func (s *scanner) scalar(i int) (int, string) {
	switch c := s.b[i]; {
	case c == '"':
		end, _, bad := s.text(i)
		return end, bad
	case c-'0' <= 9 || c == '-':
		return s.number(i)
	case c == 't':
		return s.word(i, "true")
	case c == 'f':
		return s.word(i, "false")
	case c == 'n':
		return s.word(i, "null")
	}
	return i, "expected a value"
}

func (s *scanner) word(i int, word string) (int, string) {
	rest := s.b[i:]
	switch {
	case len(rest) >= len(word) && string(rest[:len(word)]) == word:
		return i + len(word), ""
	case len(rest) < len(word) && string(rest) == word[:len(rest)]:
		return len(s.b), brokenOff
	}
	return i, "expected a value"
}

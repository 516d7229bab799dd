package sdkdoc

import "rehome/internal/rawjson"

// span is a value inside a line; the zero span is none.
type span struct{ from, to int }

func (s span) of(line []byte) []byte { return line[s.from:s.to] }

// shape is what split saw of an object.
type shape struct {
	object bool // it is one object, and valid JSON
	extra  bool // it has members that were not asked for, or one twice
}

// split finds the members of an object by name; of two the last counts, as it
// does for the SDK. found is cleared and filled in the order of names.
func split(b []byte, names []string, found []span) (s shape) {
	clear(found)
	var t rawjson.Tokens
	t.Reset(b)
	if !t.Next() || b[t.From] != '{' {
		return s
	}
	for next := 0; t.Next() && t.Kind != rawjson.Close; {
		if t.Kind == rawjson.Comma {
			continue
		}
		name := b[t.From+1 : t.To-1]
		if t.Escaped {
			name = rawjson.AppendUTF8(nil, name)
		}
		at := member(name, names, next)
		if !t.Skip() {
			return s
		}
		if at < 0 || found[at] != (span{}) {
			s.extra = true
		}
		if at >= 0 {
			found[at], next = span{t.From, t.To}, at+1
		}
	}
	s.object = t.Bad == "" && past(b, t.At) == len(b)
	return s
}

// member finds a name, which is most often the next one.
func member(name []byte, names []string, next int) int {
	if next < len(names) && string(name) == names[next] {
		return next
	}
	for i, n := range names {
		if string(name) == n {
			return i
		}
	}
	return -1
}

// past skips blanks.
func past(b []byte, i int) int {
	for i < len(b) && blank(b[i]) {
		i++
	}
	return i
}

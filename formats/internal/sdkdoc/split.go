package sdkdoc

import "rehome/formats/internal/rawjson"

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
	i, next := past(b, 0), 0
	if i >= len(b) || b[i] != '{' {
		return s
	}
	if i = past(b, i+1); i < len(b) && b[i] == '}' {
		s.object = past(b, i+1) == len(b)
		return s
	}
	for {
		end, ok := value(b, i)
		if !ok || b[i] != '"' {
			return s
		}
		at := member(b[i+1:end-1], names, next)
		if i = past(b, end); i >= len(b) || b[i] != ':' {
			return s
		}
		i = past(b, i+1)
		if end, ok = value(b, i); !ok {
			return s
		}
		if at < 0 || found[at] != (span{}) {
			s.extra = true
		}
		if at >= 0 {
			found[at], next = span{i, end}, at+1
		}
		switch i = past(b, end); {
		case i < len(b) && b[i] == ',':
			i = past(b, i+1)
		case i < len(b) && b[i] == '}':
			s.object = past(b, i+1) == len(b)
			return s
		default:
			return s
		}
	}
}

// member finds a name, which is most often the next one.
func member(raw []byte, names []string, next int) int {
	if next < len(names) && string(raw) == names[next] {
		return next
	}
	for i, n := range names {
		if string(raw) == n {
			return i
		}
	}
	for i := range raw {
		if raw[i] == '\\' {
			text := string(appendText(nil, raw))
			for i, n := range names {
				if text == n {
					return i
				}
			}
			break
		}
	}
	return -1
}

// value is the end of the value at b[i]. What the strict way refuses the SDK
// may still read (U+2028, text that is not quite UTF-8): then its end is
// counted out, and what lies before it looked at in the lax way.
func value(b []byte, i int) (end int, ok bool) {
	if end, err := rawjson.End(b, i); err == nil {
		return end, true
	}
	end, ok = counted(b, i)
	return end, ok && end > i && rawjson.Find(b[i:end], nil, nil) == nil
}

// counted finds where a value ends if it is JSON.
func counted(b []byte, i int) (end int, ok bool) {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			i++
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
			continue
		default:
			for i < len(b) && !blank(b[i]) && b[i] != ',' && b[i] != '}' && b[i] != ']' {
				i++
			}
		}
		if depth <= 0 {
			return i, depth == 0 && i <= len(b) // not where a string is torn
		}
	}
	return 0, false
}

// past skips blanks.
func past(b []byte, i int) int {
	for i < len(b) && blank(b[i]) {
		i++
	}
	return i
}

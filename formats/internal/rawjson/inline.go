package rawjson

// Inline reports whether b may stand in a line of text exactly as it is: it is
// one JSON object or array from the first byte to the last, strictly valid
// (RFC 8259) and valid UTF-8, not deeper than MaxDepth, and holds nothing that
// any reader takes for a line end: no CR, LF, U+0085, U+2028 or U+2029.
// Duplicate names, odd number spellings and lone \ud800 escapes are fine, for
// the bytes are kept.
func Inline(b []byte) bool {
	if len(b) < 2 || b[0] != '{' && b[0] != '[' {
		return false
	}
	end, bad := scan(b, 0)
	return bad == "" && end == len(b)
}

// End is the index behind the JSON value that begins at b[i]. The value may be
// of any kind; otherwise the rules of Inline hold. The error is a *SyntaxError.
func End(b []byte, i int) (int, error) {
	if i < 0 || i > len(b) {
		return 0, &SyntaxError{i, msgEnd}
	}
	end, bad := scan(b, i)
	if bad != "" {
		return 0, &SyntaxError{end, bad}
	}
	return end, nil
}

// scan is End without an allocation: where the value ends, or where and why it
// does not.
func scan(b []byte, i int) (int, string) {
	var open nest
	var bad string
	depth, object := 0, false

value:
	if i >= len(b) {
		return i, msgEnd
	}
	switch c := b[i]; {
	case c == '"':
		if i, bad = stringEnd(b, i+1); bad != "" {
			return i, bad
		}
	case c == '{' || c == '[':
		if depth >= MaxDepth {
			return i, msgDeep
		}
		open.set(depth, object)
		depth++
		object = c == '{'
		if i = blanks(b, i+1); i >= len(b) {
			return i, msgEnd
		}
		if b[i] == c+2 { // '}' and ']' lie two behind their opening
			i++
			depth--
			object = open.object(depth)
			break
		}
		if object {
			goto name
		}
		goto value
	case c-'0' <= 9 || c == '-':
		if i, bad = numberEnd(b, i); bad != "" {
			return i, bad
		}
	default:
		if i, bad = wordEnd(b, i); bad != "" {
			return i, bad
		}
	}

next:
	if depth == 0 {
		return i, ""
	}
	if i >= len(b) {
		return i, msgEnd
	}
	switch c := b[i]; {
	case c == ',':
		if i++; i < len(b) && b[i] <= ' ' {
			i = blanks(b, i)
		}
		if object {
			goto name
		}
		goto value
	case c == '}' && object || c == ']' && !object:
		i++
		depth--
		object = open.object(depth)
		goto next
	case c == ' ' || c == '\t':
		i = blanks(b, i)
		goto next
	}
	return i, msgNext

name:
	if i >= len(b) {
		return i, msgEnd
	}
	if b[i] != '"' {
		return i, msgName
	}
	if i, bad = stringEnd(b, i+1); bad != "" {
		return i, bad
	}
	if i < len(b) && b[i] <= ' ' {
		i = blanks(b, i)
	}
	if i >= len(b) {
		return i, msgEnd
	}
	if b[i] != ':' {
		return i, msgColon
	}
	if i++; i < len(b) && b[i] <= ' ' {
		i = blanks(b, i)
	}
	goto value
}

// blanks skips spaces and tabs. CR and LF, blank to JSON, are errors here.
func blanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return i
}

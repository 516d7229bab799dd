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
		return 0, &SyntaxError{i, Truncated}
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
	for {
		if i >= len(b) {
			return i, Truncated
		}
		if c := b[i]; c != '{' && c != '[' {
			if i, bad = scalarEnd(b, i); bad != "" {
				return i, bad
			}
		} else {
			if depth >= MaxDepth {
				return i, TooDeep
			}
			open.set(depth, object)
			depth++
			object = c == '{'
			i = blanks(b, i+1)
			if i < len(b) && b[i] != c+2 { // '}' and ']' lie two behind their opening
				if object {
					if i, bad = nameEnd(b, i); bad != "" {
						return i, bad
					}
				}
				continue
			}
		}
		for { // behind a value
			if depth == 0 {
				return i, ""
			}
			if i = blanks(b, i); i >= len(b) {
				return i, Truncated
			}
			c := b[i]
			if c == ',' {
				break
			}
			if (c != '}' || !object) && (c != ']' || object) {
				return i, msgNext
			}
			i++
			depth--
			object = open.object(depth)
		}
		i = blanks(b, i+1)
		if object {
			if i, bad = nameEnd(b, i); bad != "" {
				return i, bad
			}
		}
	}
}

// nameEnd is where the value begins whose member's name begins at b[i].
func nameEnd(b []byte, i int) (int, string) {
	if i >= len(b) {
		return i, Truncated
	}
	if b[i] != '"' {
		return i, msgName
	}
	i, bad := stringEnd(b, i+1)
	if bad != "" {
		return i, bad
	}
	if i = blanks(b, i); i >= len(b) {
		return i, Truncated
	}
	if b[i] != ':' {
		return i, msgColon
	}
	return blanks(b, i+1), ""
}

// blanks skips spaces and tabs. CR and LF, blank to JSON, are errors here.
func blanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return i
}

package rawjson

import (
	"encoding/binary"
	"unicode/utf16"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens. A name is one with the colon after it.
const (
	Name Kind = iota
	String
	Number
	Word // true, false or null
	Open
	Close
	Comma
)

// Tokens reads one JSON value token by token. It is laxer than Inline: it takes
// any blanks, any line ends, and strings that are not quite UTF-8. Reset makes
// it ready.
type Tokens struct {
	Kind     Kind
	From, To int    // the token; of a name and a string with the quotes
	Depth    int    // how many objects and arrays are open after the token
	Escaped  bool   // the name or string has escapes in it
	Halves   int    // the escapes in it that are half a surrogate pair
	At       int    // where the next token is looked for, or where the syntax is wrong
	Bad      string // why there is no next token; "" at the end of the value

	b      []byte
	want   wanted
	object bool // the innermost that is open
	open   nest
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

// Reset begins with the value at the start of b.
func (t *Tokens) Reset(b []byte) { t.b, t.At, t.Depth, t.want, t.Bad = b, 0, 0, aValue, "" }

// Next reads a token; false after the value, whatever follows it, and where the
// syntax is wrong.
func (t *Tokens) Next() bool {
	if t.want == nothing {
		return false
	}
	i := space(t.b, t.At)
	if i >= len(t.b) {
		return t.fail(i, Truncated)
	}
	t.From = i
	switch c := t.b[i]; {
	case t.want == aComma:
		return t.next(c)
	case c == '"':
		return t.text()
	case t.want == aFirstName && c == '}', t.want == aFirstValue && c == ']':
		return t.close()
	case t.want == aName || t.want == aFirstName:
		return t.fail(i, msgName)
	case c == '{' || c == '[':
		if t.Depth >= MaxDepth {
			return t.fail(i, TooDeep)
		}
		t.open.set(t.Depth, t.object)
		t.Depth++
		if t.object, t.want = c == '{', aFirstValue; t.object {
			t.want = aFirstName
		}
		t.Kind, t.To, t.At = Open, i+1, i+1
		return true
	case c-'0' <= 9 || c == '-':
		end, bad := numberEnd(t.b, i)
		if bad != "" {
			return t.fail(digits(t.b, end), bad)
		}
		return t.ended(Number, end)
	}
	end, bad := wordEnd(t.b, i)
	if bad != "" {
		return t.fail(i, bad)
	}
	return t.ended(Word, end)
}

// Skip reads a whole value as one token, whose Kind is undefined.
func (t *Tokens) Skip() bool {
	i := space(t.b, t.At)
	if end, bad := scan(t.b, i); bad == "" {
		t.From = i
		return t.ended(String, end)
	}
	for depth := t.Depth; t.Next() && t.Depth > depth; {
	}
	t.From = i
	return t.Bad == ""
}

// next takes what follows a value: c, at t.From.
func (t *Tokens) next(c byte) bool {
	if c != ',' {
		if c != '}' && c != ']' || (c == '}') != t.object {
			return t.fail(t.From, msgNext)
		}
		return t.close()
	}
	if t.want = aValue; t.object {
		t.want = aName
	}
	t.Kind, t.To, t.At = Comma, t.From+1, t.From+1
	return true
}

// close takes the end of an object or array.
func (t *Tokens) close() bool {
	t.Depth--
	t.object = t.open.object(t.Depth)
	return t.ended(Close, t.From+1)
}

// ended sets the token that ends a value.
func (t *Tokens) ended(k Kind, end int) bool {
	t.Kind, t.To, t.At = k, end, end
	if t.want = aComma; t.Depth == 0 {
		t.want = nothing
	}
	return true
}

// text takes a string, or a name and the colon, up to where its value begins.
func (t *Tokens) text() bool {
	t.Escaped, t.Halves = false, 0
	i, bad := t.stringEnd(t.From + 1)
	if bad != "" {
		return t.fail(i, bad)
	}
	if t.want != aName && t.want != aFirstName {
		return t.ended(String, i)
	}
	t.Kind, t.To, t.want = Name, i, aValue
	if i = space(t.b, i); i >= len(t.b) {
		return t.fail(i, Truncated)
	}
	if t.b[i] != ':' {
		return t.fail(i, msgColon)
	}
	t.At = space(t.b, i+1)
	return true
}

// stringEnd is the function stringEnd for strings that need not be UTF-8.
func (t *Tokens) stringEnd(i int) (int, string) {
	b := t.b
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
			t.Escaped = true
			if len(b)-i > 1 && unletters[b[i+1]] != 0 { // nearly all of them
				i += 2
				continue
			}
			r, n := escape(b, i)
			if n == 0 {
				return i + 1, msgEscape
			}
			if utf16.IsSurrogate(r) {
				t.Halves++
			}
			i += n
		case c < ' ':
			return i, msgControl
		default:
			i++
		}
	}
	return i, Truncated
}

// fail ends the tokens with what is wrong at i. A token that ends too early is
// not malformed: it is the text that ends.
func (t *Tokens) fail(i int, bad string) bool {
	rest := t.b[i:]
	torn := len(rest) == 0
	switch bad {
	case msgValue:
		for _, word := range [...]string{"true", "false", "null"} {
			torn = torn || len(rest) < len(word) && word[:len(rest)] == string(rest)
		}
	case msgEscape:
		if len(rest) < 5 {
			_, ok := hex4([]byte(string(rest)+"0000"), 1)
			torn = torn || rest[0] == 'u' && ok
		}
	}
	if torn {
		i, bad = len(t.b), Truncated
	}
	t.At, t.Bad, t.want = i, bad, nothing
	return false
}

// space skips blanks and line ends.
func space(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

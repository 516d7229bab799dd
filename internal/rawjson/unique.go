package rawjson

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Unique checks a document that will be decoded into Go values: valid JSON, no
// deeper than MaxDepth, no more than most names, values and brackets, which is
// what decoding costs memory by, and no object with two members of one name, of
// which a decoder would silently keep the last.
func Unique(b []byte, most int) error {
	const invalid = "not valid JSON"
	if !utf8.Valid(b) {
		return &SyntaxError{0, invalid}
	}
	var t Tokens
	var names []map[string]bool // of the open objects and arrays
	n := 0
	for t.Reset(b); t.Next(); {
		if t.Kind == Comma {
			continue
		}
		n++
		text := t.Kind == Name || t.Kind == String
		switch {
		case n > most:
			return &SyntaxError{t.From, fmt.Sprintf("more than %d names and values", most)}
		case text && t.Halves > 0:
			return &SyntaxError{t.From, invalid}
		case t.Kind == Open:
			names = append(names[:t.Depth-1], map[string]bool{})
		case t.Kind == Name:
			name, known := Text(b[t.From:t.To]), names[t.Depth-1]
			if known[name] {
				return &SyntaxError{t.From, "duplicate member " + strconv.QuoteToGraphic(name)}
			}
			known[name] = true
		}
	}
	switch t.Bad {
	case "":
		return nil // what follows the value is the decoder's to refuse
	case TooDeep:
		return &SyntaxError{t.At, t.Bad}
	}
	return &SyntaxError{t.At, invalid}
}

package session

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// Strings yields the strings in a JSON value that are text: not the names of members,
// and not what decoders make of numbers and of bytes, which are digits and base64.
func Strings(raw Raw) iter.Seq[string] {
	return func(yield func(string) bool) {
		name := ""
		for rest := []byte(raw); len(rest) > 0; {
			from := bytes.IndexByte(rest, '"')
			if from < 0 {
				return
			}
			to := from + 1
			for to < len(rest) && rest[to] != '"' {
				if rest[to] == '\\' {
					to++
				}
				to++
			}
			to = min(to+1, len(rest))
			token := rest[from:to]
			rest = bytes.TrimLeft(rest[to:], " \t\r\n")
			if len(rest) > 0 && rest[0] == ':' {
				name = string(bytes.Trim(token, `"`))
				continue
			}
			var s string
			if json.Unmarshal(token, &s) == nil && !encoded(name, s) && !yield(s) {
				return
			}
		}
	}
}

// minBase64 is the min length of base64 that is told from a word by its letters alone.
const minBase64 = 32

// encoded reports whether a string is digits or base64. Members of some names have short
// base64, too.
func encoded(name, s string) bool {
	if strings.Trim(s, "0123456789") == "" {
		return true
	}
	return (len(s) >= minBase64 || slices.Contains([]string{"base64", "data", "blob", "codeResults"}, name)) && len(s)%4 == 0 && strings.IndexFunc(s, func(r rune) bool {
		return r != '+' && r != '/' && r != '=' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}) < 0
}

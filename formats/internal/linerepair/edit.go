package linerepair

import (
	"bytes"
	"slices"

	"rehome/internal/rawjson"
)

// member returns the last member of an object with a name.
func member(b []byte, name string) (m rawjson.Member, ok bool) {
	match := func(n []byte, depth int) string {
		if depth == 1 && string(n) == name {
			return name
		}
		return ""
	}
	err := rawjson.Find(b, match, func(one rawjson.Member) bool {
		m, ok = one, true
		return true
	})
	return m, ok && err == nil
}

// Set returns a copy of an object with a value for a member, which is put first if it
// is new. All other bytes stay as they are.
func Set(b []byte, name string, value []byte) []byte {
	if m, ok := member(b, name); ok {
		return slices.Concat(b[:m.From], value, b[m.To:])
	}
	open := bytes.IndexByte(b, '{') + 1
	comma := []byte(",")
	if rest := bytes.TrimLeft(b[open:], " \t\r\n"); len(rest) > 0 && rest[0] == '}' {
		comma = nil
	}
	return slices.Concat(b[:open], []byte(`"`+name+`":`), value, comma, b[open:])
}

// Text is Set for a string.
func SetText(b []byte, name, text string) []byte {
	return Set(b, name, rawjson.Quote(nil, []byte(text)))
}

// Remove returns a copy of an object without a member.
func Remove(b []byte, name string) []byte {
	for {
		m, ok := member(b, name)
		if !ok {
			return b
		}
		b = slices.Concat(b[:m.CutFrom], b[m.CutTo:])
	}
}

// Array returns an array of values; a nil value is left out.
func Array(values [][]byte) []byte {
	values = slices.DeleteFunc(slices.Clone(values), func(v []byte) bool { return v == nil })
	return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))
}

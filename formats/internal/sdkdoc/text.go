package sdkdoc

import (
	"bytes"
	"unicode/utf8"

	"rehome/internal/rawjson"
)

// escape says how JSON.stringify spells a byte: 0 as it is, 'u' as \u00xx,
// else a backslash and this letter. It is a function of nothing.
var escape = func() (t [256]byte) {
	for c := range 0x20 {
		t[c] = 'u'
	}
	t['"'], t['\\'], t['\b'], t['\t'], t['\n'], t['\f'], t['\r'] = '"', '\\', 'b', 't', 'n', 'f', 'r'
	return t
}()

const lowerHex = "0123456789abcdef"

// appendString appends text as JSON.stringify spells it: nothing escaped that
// need not be, U+2028 and DEL as they are. What is not UTF-8 becomes U+FFFD,
// which is what the SDK would read; exact is false then.
func appendString(dst, text []byte) (out []byte, exact bool) {
	if exact = utf8.Valid(text); !exact {
		text = bytes.ToValidUTF8(text, []byte("\ufffd"))
	}
	dst = append(dst, '"')
	from := 0
	for i, c := range text {
		e := escape[c]
		if e == 0 {
			continue
		}
		dst = append(dst, text[from:i]...)
		from = i + 1
		if e == 'u' {
			dst = append(dst, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&15])
		} else {
			dst = append(dst, '\\', e)
		}
	}
	return append(append(dst, text[from:]...), '"'), exact
}

// valid reports whether b is one JSON value that may stand in a line as it is.
// It is as lax as the SDK's own reader about what is inside: U+2028 and text
// that is not quite UTF-8 occur.
func valid(b []byte) bool {
	if end, err := rawjson.End(b, 0); err == nil {
		return end == len(b)
	}
	if len(b) == 0 || blank(b[0]) || blank(b[len(b)-1]) || bytes.ContainsAny(b, "\r\n") {
		return false
	}
	return rawjson.Valid(b)
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// flat is JSON on one line: outside of strings, where line ends cannot stand,
// they are blanks like any other. nil if b is no JSON.
func flat(b []byte) []byte {
	b = bytes.Trim(b, " \t\r\n")
	if !rawjson.Valid(b) {
		return nil
	}
	out := bytes.Clone(b)
	for i, c := range out {
		if c == '\n' || c == '\r' {
			out[i] = ' '
		}
	}
	return out
}

// lower and upper are for statuses: ASCII, whatever else stands there.
func lower(dst, s []byte) []byte {
	for _, c := range s {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}

func upper(dst, s []byte) []byte {
	for _, c := range s {
		if c >= 'a' && c <= 'z' {
			c &^= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}

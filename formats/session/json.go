package session

import (
	"encoding/base64"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonWriter writes JSON objects, with members in the order of the calls. Methods
// whose names start with must write empty values, too.
type jsonWriter struct {
	b     []byte
	comma bool
}

func (w *jsonWriter) open(c byte) {
	w.b = append(w.b, c)
	w.comma = false
}

func (w *jsonWriter) close(c byte) {
	w.b = append(w.b, c)
	w.comma = true
}

// next starts an element of an array.
func (w *jsonWriter) next() {
	if w.comma {
		w.b = append(w.b, ',')
	}
	w.comma = true
}

// name starts a member. It does not escape the name.
func (w *jsonWriter) name(name string) {
	w.next()
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
}

func (w *jsonWriter) text(name, text string) {
	if text != "" {
		w.mustText(name, text)
	}
}

func (w *jsonWriter) mustText(name, text string) {
	w.name(name)
	w.b = AppendString(w.b, text)
}

func (w *jsonWriter) texts(name string, list []string) {
	writeArray(w, name, list, func(s *string) { w.b = AppendString(w.b, *s) })
}

// writeArray writes a member that is an array, unless it would be empty. item writes
// one element.
func writeArray[T any](w *jsonWriter, name string, list []T, item func(*T)) {
	if len(list) == 0 {
		return
	}
	w.name(name)
	w.open('[')
	for i := range list {
		w.next()
		item(&list[i])
	}
	w.close(']')
}

// writeObjects is writeArray for elements that are objects. members writes those of
// one element.
func writeObjects[T any](w *jsonWriter, name string, list []T, members func(*T)) {
	writeArray(w, name, list, func(t *T) {
		w.open('{')
		members(t)
		w.close('}')
	})
}

func (w *jsonWriter) num(name string, n int64) {
	if n != 0 {
		w.mustNum(name, n)
	}
}

func (w *jsonWriter) mustNum(name string, n int64) {
	w.name(name)
	w.b = appendInt(w.b, n)
}

func (w *jsonWriter) flag(name string, set bool) {
	if set {
		w.name(name)
		w.b = append(w.b, "true"...)
	}
}

func (w *jsonWriter) stamp(name string, s Stamp) {
	if s.Known() {
		w.name(name)
		w.b = appendStamp(w.b, s)
	}
}

func (w *jsonWriter) raw(name string, r Raw) {
	if len(r) > 0 {
		w.name(name)
		w.b = append(w.b, r...)
	}
}

func (w *jsonWriter) bytes(name string, data []byte) {
	w.name(name)
	w.b = append(w.b, '"')
	w.b = base64.StdEncoding.AppendEncode(w.b, data)
	w.b = append(w.b, '"')
}

// extras writes an array, not an object, because two extras can have the same name.
func (w *jsonWriter) extras(list []Extra) {
	writeObjects(w, "extras", list, func(e *Extra) {
		w.mustText("name", e.Name)
		w.raw("raw", e.Raw)
	})
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// parseInt parses what appendInt writes, and rejects every other form.
func parseInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

const hexDigits = "0123456789abcdef"

// AppendString appends text as a JSON string, the same text always in the same
// form. It escapes quotes, backslashes, control characters, the line separators of
// Unicode and lone surrogates; any other byte that is not UTF-8 becomes U+FFFD.
func AppendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			dst = append(dst, text[from:i]...)
			dst = appendEscape(dst, c)
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, text[from:i]...)
			dst, n = appendStray(dst, text[i:])
		case r <= 0x9f || r == 0x2028 || r == 0x2029:
			dst = append(dst, text[from:i]...)
			dst = appendUnicode(dst, r)
		default:
			i += n
			continue
		}
		i += n
		from = i
	}
	dst = append(dst, text[from:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return appendUnicode(dst, rune(c))
}

func appendUnicode(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// appendStray appends what is not UTF-8: a surrogate of three bytes, or a single
// byte. It writes a surrogate pair as the character, because a reader would combine
// the escapes of the two into one anyway.
func appendStray(dst []byte, s string) ([]byte, int) {
	r, ok := surrogate(s)
	if !ok {
		return utf8.AppendRune(dst, utf8.RuneError), 1
	}
	if low, ok := surrogate(s[3:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return utf8.AppendRune(dst, pair), 6
		}
	}
	return appendUnicode(dst, r), 3
}

func surrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2]&0xc0 != 0x80 {
		return 0, false
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}

package session

import (
	"encoding/base64"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// pen writes one object after the other, members in the order of the calls and
// absent when empty.
type pen struct {
	b     []byte
	comma bool
}

func (p *pen) open(c byte) {
	p.b = append(p.b, c)
	p.comma = false
}

func (p *pen) close(c byte) {
	p.b = append(p.b, c)
	p.comma = true
}

// next begins an element of an array.
func (p *pen) next() {
	if p.comma {
		p.b = append(p.b, ',')
	}
	p.comma = true
}

// name begins a member. Names are ours and need no escape.
func (p *pen) name(name string) {
	p.next()
	p.b = append(p.b, '"')
	p.b = append(p.b, name...)
	p.b = append(p.b, '"', ':')
}

func (p *pen) text(name, text string) {
	if text != "" {
		p.mustText(name, text)
	}
}

func (p *pen) mustText(name, text string) {
	p.name(name)
	p.b = AppendString(p.b, text)
}

func (p *pen) texts(name string, list []string) {
	if len(list) == 0 {
		return
	}
	p.name(name)
	p.open('[')
	for _, s := range list {
		p.next()
		p.b = AppendString(p.b, s)
	}
	p.close(']')
}

func (p *pen) num(name string, n int64) {
	if n != 0 {
		p.mustNum(name, n)
	}
}

func (p *pen) mustNum(name string, n int64) {
	p.name(name)
	p.b = appendInt(p.b, n)
}

func (p *pen) flag(name string, set bool) {
	if set {
		p.name(name)
		p.b = append(p.b, "true"...)
	}
}

func (p *pen) stamp(name string, s Stamp) {
	if s.Known() {
		p.name(name)
		p.b = appendStamp(p.b, s)
	}
}

func (p *pen) raw(name string, r Raw) {
	if len(r) > 0 {
		p.name(name)
		p.b = append(p.b, r...)
	}
}

func (p *pen) bytes(name string, data []byte) {
	p.name(name)
	p.b = append(p.b, '"')
	p.b = base64.StdEncoding.AppendEncode(p.b, data)
	p.b = append(p.b, '"')
}

// extras are a list, not an object: two of them can have one name.
func (p *pen) extras(list []Extra) {
	if len(list) == 0 {
		return
	}
	p.name("extras")
	p.open('[')
	for _, e := range list {
		p.next()
		p.open('{')
		p.mustText("name", e.Name)
		p.raw("raw", e.Raw)
		p.close('}')
	}
	p.close(']')
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// parseInt reads what appendInt writes, in no other spelling.
func parseInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

const hexDigits = "0123456789abcdef"

// AppendString appends text as a JSON string: one spelling for each text. It
// escapes the quote, the backslash, all control characters, the line ends of
// Unicode and lone surrogates; a byte that is no UTF-8 becomes U+FFFD.
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

// appendStray appends what is no UTF-8: a surrogate in three bytes, or one byte
// of anything. Two halves of a pair are the character they mean, or a reader of
// the JSON would make one of them.
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

package session

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

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
	if len(text) > 4<<10 { // once, with room for the escapes of line ends
		dst = slices.Grow(dst, len(text)+len(text)/16+2)
	}
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); {
		if len(text)-i >= 8 {
			n := plain(binary.LittleEndian.Uint64([]byte(text[i : i+8])))
			if i += n; n == 8 {
				continue
			}
		}
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
		if c-0xc3 < 0xe0-0xc3 && len(text)-i > 1 && text[i+1]&0xc0 == 0x80 { // most letters
			i += 2
			continue
		}
		if c-0xe3 < 0xed-0xe3 && len(text)-i > 2 && text[i+1]&0xc0 == 0x80 && text[i+2]&0xc0 == 0x80 { // most ideographs
			i += 3
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

// plain counts the bytes of eight before the first that is a quote, a backslash, a
// control character or not ASCII.
func plain(x uint64) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	control := (x - ones*' ') &^ x
	quote, slash, del := x^ones*'"', x^ones*'\\', x^ones*0x7f
	found := control | (quote-ones)&^quote | (slash-ones)&^slash | (del-ones)&^del | x
	return bits.TrailingZeros64(found&highs) >> 3
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

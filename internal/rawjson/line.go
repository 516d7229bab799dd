package rawjson

import (
	"fmt"
	"unicode/utf8"
)

// Line makes one JSON document fit to stand in a line of text. It is b itself
// where that already is; else a copy without line ends between its tokens, the
// separators of Unicode escaped, and each byte that is no UTF-8 replaced by
// U+FFFD, which repaired tells. The error is a *SyntaxError.
func Line(b []byte) (line []byte, repaired bool, err error) {
	if end, bad := scan(b, 0); bad == "" && end == len(b) {
		return b, false, nil
	}
	var t Tokens
	if err := t.check(b); err != nil {
		return nil, false, err
	}
	out := make([]byte, 0, len(b)+16)
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			end := passString(b, i+1)
			var fixed bool
			out, fixed = appendLoose(out, b[i:end])
			repaired = repaired || fixed
			i = end
		case c == '\n' || c == '\r' || c == ' ' || c == '\t':
			i++
		default:
			out = append(out, c)
			i++
		}
	}
	if end, bad := scan(out, 0); bad != "" || end != len(out) {
		return nil, false, &SyntaxError{end, msgValue}
	}
	return out, repaired, nil
}

// appendLoose copies a string with its quotes, and makes it fit for a line.
func appendLoose(dst, s []byte) (out []byte, fixed bool) {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			dst = append(dst, s[i])
			i++
			continue
		}
		n := runeLen(s[i:])
		switch {
		case n == 0:
			dst, fixed = utf8.AppendRune(dst, utf8.RuneError), true
			i++
			continue
		case separator(s[i : i+n]):
			r, _ := utf8.DecodeRune(s[i:])
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return dst, fixed
}

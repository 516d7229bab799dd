package redact

import (
	"encoding/base64"
	"encoding/hex"
	"iter"
)

// run is a range of text that may be base64 or hexadecimal digits.
type run struct {
	from, to int    // with padding
	digits   []byte // without escapes and padding
	padded   bool   // it would be padded
}

// minRun is the min length of a run that is decoded.
const minRun = 16

// runs yields the runs of a text. A slash may be escaped, as in JSON.
func runs(b []byte) iter.Seq[run] {
	return func(yield func(run) bool) {
		for i := 0; i+minRun <= len(b); {
			// Look at the end of the shortest run that could begin here.
			k := i + minRun - 1
			for k >= i && (isDigit(b[k]) || b[k] == '\\' && k+1 < len(b) && b[k+1] == '/') {
				k--
			}
			if k >= i {
				i = k + 1
				if b[k] == '\\' {
					i = k + escapeSize(b[k:])
				}
				continue
			}
			one := run{from: i}
			if i, one.digits = readRun(b, i); len(one.digits) < minRun {
				continue
			}
			one.to = i
			for i < len(b) && b[i] == '=' && i < one.to+2 {
				i++
			}
			one.padded = i > one.to || len(one.digits)%4 == 0
			if one.to = i; !yield(one) {
				return
			}
		}
	}
}

// escapeSize returns the size of the escape at the start of b.
func escapeSize(b []byte) int {
	_, _, size := next(b, 0)
	return size
}

func readRun(b []byte, i int) (end int, digits []byte) {
	from := i
	for ; i < len(b); i++ {
		switch {
		case isDigit(b[i]):
			if digits != nil {
				digits = append(digits, b[i])
			}
		case b[i] == '\\' && i+1 < len(b) && b[i+1] == '/':
			if digits == nil {
				digits = append(make([]byte, 0, 2*(i-from)+64), b[from:i]...)
			}
		default:
			if digits == nil {
				digits = b[from:i]
			}
			return i, digits
		}
	}
	if digits == nil {
		digits = b[from:i]
	}
	return i, digits
}

// isDigit reports whether a character is a digit of base64, of either alphabet.
func isDigit(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '+' || c == '/' || c == '-' || c == '_'
}

// run returns the digits of a run without values.
func (e *editor) run(run run, depth int) (out []byte, changed bool, err error) {
	for _, c := range run.decodings() {
		before := len(e.hits)
		clean, changed, err := e.value(c.bytes, Unknown, depth+1)
		if err != nil {
			return nil, false, err
		}
		if changed {
			return append(c.encode(clean), c.rest...), true, nil
		}
		e.hits = e.hits[:before]
	}
	return nil, false, nil
}

// decoding is what a run can mean.
type decoding struct {
	bytes  []byte
	rest   []byte // digits that belong to nothing
	encode func([]byte) []byte
}

// decodings returns what a run can mean: hexadecimal digits are base64, too.
func (r *run) decodings() (out []decoding) {
	digits := r.digits
	if hexed := make([]byte, len(digits)/2); isHex(digits) {
		even := digits[:len(digits)&^1]
		if _, err := hex.Decode(hexed, even); err == nil {
			out = append(out, decoding{hexed, digits[len(even):], func(b []byte) []byte {
				text := hex.AppendEncode(nil, b)
				if hasUpper(digits) {
					for i, c := range text {
						if c >= 'a' {
							text[i] = c - 0x20
						}
					}
				}
				return text
			}})
		}
	}
	enc, padded, plus, minus := base64.RawStdEncoding, base64.StdEncoding, false, false
	for _, c := range digits {
		plus, minus = plus || c == '+' || c == '/', minus || c == '-' || c == '_'
	}
	if plus && minus {
		return out
	}
	if minus {
		enc, padded = base64.RawURLEncoding, base64.URLEncoding
	}
	whole := digits
	if len(whole)%4 == 1 {
		whole = whole[:len(whole)-1]
	}
	to := enc
	if r.padded {
		to = padded
	}
	b := make([]byte, enc.DecodedLen(len(whole)))
	if n, err := enc.Decode(b, whole); err == nil {
		out = append(out, decoding{b[:n], digits[len(whole):], func(b []byte) []byte { return to.AppendEncode(nil, b) }})
	}
	return out
}

func isHex(b []byte) bool {
	for _, c := range b {
		if unhex(c) > 15 {
			return false
		}
	}
	return true
}

func hasUpper(b []byte) bool {
	for _, c := range b {
		if c >= 'A' && c <= 'F' {
			return true
		}
	}
	return false
}

package redact

import (
	"bytes"
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
	const low, high = 0x3FF<<('0') | 1<<'+' | 1<<'/' | 1<<'-', 0x3FFFFFF<<('a'-64) | 0x3FFFFFF<<('A'-64) | 1<<('_'-64)
	return c < 64 && uint64(low)>>c&1 != 0 || c-64 < 64 && uint64(high)>>(c-64)&1 != 0
}

// run returns the digits of a run without values. Hexadecimal digits can be base64, too.
func (e *editor) run(run run, depth int) (out []byte, changed bool, err error) {
	for len(e.decoded) <= depth {
		e.decoded = append(e.decoded, nil)
	}
	for _, form := range []encoding{hexadecimal, base64s} {
		b, used, ok := form.decode(e.decoded[depth], &run)
		if !ok {
			continue
		}
		e.decoded[depth] = b[:0]
		before := len(e.hits)
		clean, changed, err := e.value(b, Unknown, depth+1)
		if err != nil {
			return nil, false, err
		}
		if changed {
			return append(form.encode(clean, &run), run.digits[used:]...), true, nil
		}
		e.hits = e.hits[:before]
	}
	return nil, false, nil
}

// encoding is what a run can be.
type encoding uint8

const (
	hexadecimal encoding = iota
	base64s
)

// decode decodes the first digits of a run into a buffer, and returns how many of them it
// used: the last one can belong to nothing.
func (c encoding) decode(buf []byte, r *run) (b []byte, used int, ok bool) {
	used = len(r.digits)
	if c == hexadecimal {
		if used &^= 1; !isHex(r.digits) {
			return nil, 0, false
		}
		b, err := hex.AppendDecode(buf[:0], r.digits[:used])
		return b, used, err == nil
	}
	enc := r.alphabet()
	if enc == nil {
		return nil, 0, false
	}
	if used%4 == 1 {
		used--
	}
	b, err := enc.AppendDecode(buf[:0], r.digits[:used])
	return b, used, err == nil
}

// alphabet returns the encoding of a run without padding; nil if its digits are of both.
func (r *run) alphabet() *base64.Encoding {
	switch plus, minus := bytes.ContainsAny(r.digits, "+/"), bytes.ContainsAny(r.digits, "-_"); {
	case plus && minus:
		return nil
	case minus:
		return base64.RawURLEncoding
	}
	return base64.RawStdEncoding
}

// encode encodes bytes as a run is.
func (c encoding) encode(b []byte, r *run) []byte {
	if c == base64s {
		enc := r.alphabet()
		if r.padded {
			enc = enc.WithPadding(base64.StdPadding)
		}
		return enc.AppendEncode(nil, b)
	}
	text := hex.AppendEncode(nil, b)
	if bytes.ContainsAny(r.digits, "ABCDEF") {
		text = bytes.ToUpper(text)
	}
	return text
}

func isHex(b []byte) bool {
	for _, c := range b {
		if unhex(c) > 15 {
			return false
		}
	}
	return true
}

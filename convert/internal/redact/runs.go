package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"iter"
	"slices"
)

// run is a range of text that may be base64 or hexadecimal digits.
type run struct {
	from, to int    // with padding
	digits   []byte // without escapes, ends of lines and padding
	padded   bool   // it would be padded
	line     int    // the length of its lines; 0 if there is one
	end      []byte // of a line, as it is spelled
}

// minRun is the min length of a run that is decoded.
const minRun = 16

// runs yields the runs of a text. A slash may be escaped, as in JSON.
func runs(b []byte) iter.Seq[run] {
	return func(yield func(run) bool) {
		for i := 0; i+minRun <= len(b); {
			// Look at the end of the shortest run that could begin here.
			k, shortest := minRun-1, (*[minRun]byte)(b[i:])
			for k >= 0 && (isDigit(shortest[k]) || shortest[k] == '\\' && i+k+1 < len(b) && b[i+k+1] == '/') {
				k--
			}
			if k += i; k >= i {
				i = k + 1
				if b[k] == '\\' {
					i = k + escapeSize(b[k:])
				}
				continue
			}
			one := run{from: i}
			one.read(b)
			if i = one.to; len(one.digits) < minRun {
				continue
			}
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

// minLine is the min length of a line of digits that continue on the next one.
const minLine = 60

// read reads the digits from r.from on, over the ends of lines that are equally long.
func (r *run) read(b []byte) {
	i, line := r.from, r.from // line is where the digits of the line begin
	own := false              // digits are a copy
	take := func() {
		if !own {
			r.digits, own = append(make([]byte, 0, 2*(i-line)+64), b[line:i]...), true
		}
	}
	count := 0 // of the digits on the line
	for ; i < len(b); i++ {
		switch {
		case isDigit(b[i]):
			if count++; own {
				r.digits = append(r.digits, b[i])
			}
			continue
		case b[i] == '\\' && i+1 < len(b) && b[i+1] == '/':
			take()
			continue
		}
		end := lineEnd(b, i)
		if end == i || count < minLine || count%4 != 0 || r.line != 0 && (r.line != count || !bytes.Equal(r.end, b[i:end])) || !isLine(b, end, count) {
			break
		}
		take()
		r.line, r.end, count = count, b[i:end], 0
		i = end - 1
	}
	if r.to = i; !own {
		r.digits = b[r.from:i]
	}
}

// isLine reports whether there is nothing but digits on a line that begins at i, and at most n.
func isLine(b []byte, i, n int) bool {
	from := i
	for i < len(b) && i-from <= n && isDigit(b[i]) {
		i++
	}
	return i > from && i-from <= n && (i == len(b) || bytes.IndexByte([]byte("\r\n\\\"'=`<"), b[i]) >= 0)
}

// lineEnd returns where the end of a line that begins at i ends, in any spelling; i if there
// is none.
func lineEnd(b []byte, i int) int {
	for i < len(b) {
		out, n, size := next(b, i)
		if n != 1 || out[0] != '\n' && out[0] != '\r' {
			break
		}
		if i += size; out[0] == '\n' {
			break
		}
	}
	return i
}

// digits64 tells the digits of base64, of either alphabet.
var digits64 = func() (t [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		t[c] = true
	}
	return t
}()

func isDigit(c byte) bool { return digits64[c] }

// run returns the digits of a run without values, of which several of its parts can hold one.
func (e *editor) run(run run, depth int) (out []byte, changed bool, err error) {
	if e.clean.has(run.digits, depth) {
		return run.digits, false, nil
	}
	for n := 0; ; n++ {
		digits, c, err := e.part(run, depth)
		if err != nil {
			return nil, false, err
		}
		if !c {
			if n == 0 {
				e.clean.add(run.digits, depth)
			}
			break
		}
		if n == maxParts {
			return nil, false, &Opaque{e.hits[len(e.hits)-1].kind, "text with too many encoded parts"}
		}
		run.digits, changed = digits, true
	}
	return run.wrap(run.digits), changed, nil
}

// maxParts is how many parts of a run are edited. More of them are refused.
const maxParts = 64

// part returns the digits of a run without the values in the first part that holds one.
func (e *editor) part(run run, depth int) (out []byte, changed bool, err error) {
	for len(e.decoded) <= depth {
		e.decoded = append(e.decoded, nil)
	}
	for p := range run.parts() {
		one := run
		one.digits = run.digits[p.from:p.to]
		b, used, ok := p.decode(e.decoded[depth], &one)
		if !ok {
			continue
		}
		e.decoded[depth] = b[:0]
		before, form := len(e.hits), Unknown
		if p.shifted {
			form = Text
		}
		clean, changed, err := e.value(b, form, depth+1)
		if err != nil {
			return nil, false, err
		}
		if changed {
			one.padded = one.padded && p.to == len(run.digits)
			return slices.Concat(run.digits[:p.from], p.encode(clean, &one), one.digits[used:], run.digits[p.to:]), true, nil
		}
		e.hits = e.hits[:before]
	}
	return nil, false, nil
}

// part is a range of a run that can be one encoding.
type part struct {
	encoding
	from, to int
	shifted  bool // the first bytes can be anything
}

// maxShifted is the max length of a run that is also decoded as base64 that begins after its
// first digit: a path or a name can precede it.
const maxShifted = 4 << 10

// parts yields what a run can be: hexadecimal digits in it, and all of it as base64.
func (r *run) parts() iter.Seq[part] {
	return func(yield func(part) bool) {
		for i, n := 0, len(r.digits); i < n; i++ {
			from := i
			for i < n && unhex(r.digits[i]) < 16 {
				i++
			}
			if i-from >= minRun && (!yield(part{hexadecimal, from, i, false}) || from > 0 && !yield(part{hexadecimal, from + 1, i, true})) {
				return
			}
		}
		for shift := range 4 {
			if shift > 0 && len(r.digits) > maxShifted || !yield(part{base64s, shift, len(r.digits), shift > 0}) {
				return
			}
		}
	}
}

// wrap returns digits on lines as long as those of the run.
func (r *run) wrap(digits []byte) (out []byte) {
	if r.line == 0 {
		return digits
	}
	for len(digits) > r.line {
		out = append(append(out, digits[:r.line]...), r.end...)
		digits = digits[r.line:]
	}
	return append(out, digits...)
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
		used &^= 1
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

package claude

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// walker computes digests. The document is valid, and so its depth is bounded.
type walker struct {
	b     []byte
	i     int
	depth int
	plain bool // without digests
	entry
}

func (w *walker) sum(b []byte) digest {
	if w.plain {
		return digest{}
	}
	return sha256.Sum256(b)
}

// next returns the next byte that is not white space.
func (w *walker) next() byte {
	for strings.IndexByte(" \t\r\n", w.b[w.i]) >= 0 {
		w.i++
	}
	return w.b[w.i]
}

func (w *walker) value() digest {
	switch c := w.next(); c {
	case '{', '[':
		return w.list(c)
	case '"':
		return w.sum(w.text())
	}
	from := w.i
	for w.i < len(w.b) && strings.IndexByte(",]} \t\r\n", w.b[w.i]) < 0 {
		w.i++
	}
	token := string(w.b[from:w.i])
	if token[0] == '-' || token[0] <= '9' {
		token = w.number(token)
	}
	return w.sum([]byte(token))
}

// list returns the digest of an object or an array, from those of what it contains.
func (w *walker) list(open byte) digest {
	type named struct {
		name string
		sum  digest
	}
	var members []named
	sums := sha256.New() // of what the list contains: a line can be one list of millions
	sums.Write([]byte{open})
	w.depth++
	for w.i++; w.next() != open+2; { // } and ] come two after { and [
		m, at := named{}, member{From: w.i}
		if open == '{' {
			m.name = string(w.text())
			w.next()
			w.i++
		}
		w.next()
		at.Value = w.i
		m.sum = w.value()
		at.To = w.i
		if w.depth == 1 && m.name == `"type` {
			w.kind = at
		} else if w.depth == 1 && m.name == `"timestamp` {
			w.time = at
		}
		switch {
		case w.plain:
		case open == '[':
			sums.Write(m.sum[:])
		default:
			members = append(members, m)
		}
		if w.next() == ',' {
			w.i++
		}
	}
	w.i++
	w.depth--
	slices.SortStableFunc(members, func(a, b named) int { return strings.Compare(a.name, b.name) })
	for i, m := range members {
		if i+1 < len(members) && members[i+1].name == m.name {
			w.Doubled = true
			continue
		}
		name := sha256.Sum256([]byte(m.name))
		sums.Write(name[:])
		sums.Write(m.sum[:])
	}
	if w.plain {
		return digest{}
	}
	return digest(sums.Sum(nil))
}

// text returns a string after its quote, as UTF-8 in which half a surrogate pair is encoded like
// any other character.
func (w *walker) text() []byte {
	w.next()
	from := w.i
	for w.i++; w.b[w.i] != '"'; w.i++ {
		if w.b[w.i] == '\\' {
			w.i++
		}
	}
	raw := w.b[from:w.i]
	w.i++
	w.Bytes = w.Bytes || !utf8.Valid(raw)
	out := append(make([]byte, 0, len(raw)), '"')
	for i := 1; i < len(raw); i++ {
		c := raw[i]
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++
		if raw[i] != 'u' {
			out = append(out, "\b\f\n\r\t\"\\/"[strings.IndexByte(`bfnrt"\/`, raw[i])])
			continue
		}
		r := unit(raw[i+1:])
		i += 4
		if utf16.IsSurrogate(r) {
			if full := utf16.DecodeRune(r, unit(bytes.TrimPrefix(raw[i+1:], []byte(`\u`)))); full != utf8.RuneError && bytes.HasPrefix(raw[i+1:], []byte(`\u`)) {
				r, i = full, i+6
			} else {
				w.Lone = true
				out = append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0xBF, 0x80|byte(r)&0xBF)
				continue
			}
		}
		w.Null = w.Null || r == 0
		out = utf8.AppendRune(out, r)
	}
	return out
}

// unit returns the UTF-16 unit that four hexadecimal digits spell.
func unit(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// number returns the one spelling of a number's value: its digits without zeros at either end,
// and the power of ten that they are multiplied by.
func (w *walker) number(s string) string {
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	exponent := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.Atoi(strings.TrimPrefix(s[i+1:], "+"))
		if err != nil {
			n, w.Range = 1<<30, true
		}
		s, exponent = s[:i], n
	}
	whole, fraction, _ := strings.Cut(s, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	if digits == "" {
		w.MinusZero = w.MinusZero || sign != ""
		return "0"
	}
	w.Range = w.Range || len(digits)+exponent > 131072 || exponent < -16383
	short := strings.TrimRight(digits, "0")
	return sign + short + "e" + strconv.Itoa(exponent+len(digits)-len(short))
}

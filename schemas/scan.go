package schemas

import (
	"encoding/binary"
	"math/bits"
)

// The functions of this file pass over JSON as strictly as it is defined. What
// they refuse may still be JSON that somebody else takes.

// foreign passes a value of which nothing is asked but that it is JSON, and no
// larger than Validate bears.
func foreign(b []byte, i, depth int) (int, bool) {
	var open [maxDepth/64 + 1]uint64 // one bit a level: whether it is an object
	at := 0
	for {
		if i = skip(b, i); i >= len(b) {
			return i, false
		}
		switch c := b[i]; {
		case c == '{' || c == '[':
			if at == depth {
				return i, false
			}
			bit := uint64(1) << (at & 63)
			open[at>>6] &^= bit
			if c == '{' {
				open[at>>6] |= bit
			}
			at++
			i = skip(b, i+1)
			if i < len(b) && b[i] == c+2 { // the brackets lie two apart
				break
			}
			if c == '{' {
				var ok bool
				if i, ok = foreignName(b, i); !ok {
					return i, false
				}
			}
			continue
		case c == '"':
			if i, _ = text(b, i+1); i > len(b) {
				return i, false
			}
		case c == '-' || c-'0' <= 9:
			end, _ := number(b, i)
			if end < 0 || boundedNumber(b[i:end]) != nil {
				return i, false
			}
			i = end
		default:
			if i = word(b, i); i < 0 {
				return 0, false
			}
		}
		for { // behind a value
			if at == 0 {
				return i, true
			}
			if i = skip(b, i); i >= len(b) {
				return i, false
			}
			object := open[(at-1)>>6]>>((at-1)&63)&1 != 0
			c := b[i]
			i++
			if c == ',' {
				if object {
					var ok bool
					if i, ok = foreignName(b, skip(b, i)); !ok {
						return i, false
					}
				}
				break
			}
			if c == '}' && object || c == ']' && !object {
				at--
				continue
			}
			return i, false
		}
	}
}

func foreignName(b []byte, i int) (int, bool) {
	if i >= len(b) || b[i] != '"' {
		return i, false
	}
	end, _ := text(b, i+1)
	if end > len(b) {
		return i, false
	}
	if i = skip(b, end); i >= len(b) || b[i] != ':' {
		return i, false
	}
	return i + 1, true
}

func skip(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// word is the index behind true, false or null; -1 for anything else.
func word(b []byte, i int) int {
	for _, w := range [...]string{"true", "false", "null"} {
		if len(b)-i >= len(w) && string(b[i:i+len(w)]) == w {
			return i + len(w)
		}
	}
	return -1
}

// number is the index behind a number, and whether it is spelled as an integer;
// -1 if it is misspelled.
func number(b []byte, i int) (end int, whole bool) {
	if b[i] == '-' {
		i++
	}
	from := i
	if i = digits(b, i); i == from || b[from] == '0' && i > from+1 {
		return -1, false
	}
	whole = true
	if i < len(b) && b[i] == '.' {
		whole, from = false, i+1
		if i = digits(b, from); i == from {
			return -1, false
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		whole = false
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from = i
		if i = digits(b, from); i == from {
			return -1, false
		}
	}
	return i, whole
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// text is the index behind the quote of the text that begins at b[i], beyond
// len(b) if it does not end or is misspelled, and whether it has no escape.
func text(b []byte, i int) (end int, plain bool) {
	plain = true
	for {
		for len(b)-i >= 8 {
			if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		if i >= len(b) {
			return len(b) + 1, false
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, plain
		case c < ' ':
			return len(b) + 1, false
		case c != '\\':
			i++
		default:
			plain = false
			n := escape(b, i+1)
			if n == 0 {
				return len(b) + 1, false
			}
			i += n
		}
	}
}

// special marks the bytes of eight that end a plain run: quotes, backslashes
// and control characters. The lowest mark is always true.
func special(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	below := (x - ones*0x20) &^ x
	quote := x ^ ones*'"'
	slash := x ^ ones*'\\'
	return (below | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// escape is the length of the escape whose letter is b[i], backslash included;
// 0 if it is none.
func escape(b []byte, i int) int {
	if i >= len(b) {
		return 0
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b)-i < 5 {
			return 0
		}
		for _, c := range b[i+1 : i+5] {
			if c-'0' > 9 && (c|0x20)-'a' > 5 {
				return 0
			}
		}
		return 6
	}
	return 0
}

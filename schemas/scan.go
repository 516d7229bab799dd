package schemas

import (
	"encoding/binary"
	"math/bits"
)

// The functions of this file scan JSON, as strictly as it is defined. Each returns the
// index after what it scanned.

// foreign scans a value that may be anything, if it is valid JSON within the bounds of
// Validate.
func foreign(b []byte, i, depth int) (int, bool) {
	if i >= len(b) {
		return i, false
	}
	switch c := b[i]; {
	case c == '{' || c == '[':
		return foreignContainer(b, i, depth)
	case c == '"':
		end, _ := text(b, i+1)
		return end, end <= len(b)
	case c == '-' || c-'0' <= 9:
		end, _ := number(b, i)
		return end, end >= 0 && boundedNumber(b[i:end]) == nil
	}
	end := word(b, i)
	return end, end >= 0
}

func foreignContainer(b []byte, i, depth int) (_ int, ok bool) {
	if depth == 0 {
		return i, false
	}
	open := b[i]
	if i = skip(b, i+1); i < len(b) && b[i] == open+2 { // closing brackets are two after opening ones
		return i + 1, true
	}
	for {
		if open == '{' {
			if i, ok = foreignName(b, i); !ok {
				return i, false
			}
		}
		if i, ok = foreign(b, i, depth-1); !ok {
			return i, false
		}
		i = skip(b, i)
		switch {
		case i < len(b) && b[i] == ',':
			i = skip(b, i+1)
		case i < len(b) && b[i] == open+2:
			return i + 1, true
		default:
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
	return skip(b, i+1), true
}

func skip(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// word scans true, false or null; -1 for anything else.
func word(b []byte, i int) int {
	for _, w := range [...]string{"true", "false", "null"} {
		if len(b)-i >= len(w) && string(b[i:i+len(w)]) == w {
			return i + len(w)
		}
	}
	return -1
}

// number scans a number, and reports whether it is written as an integer; -1 if it is
// invalid.
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

// text scans a string from after its opening quote, and reports whether it has no escape.
// The index is beyond len(b) if the string is incomplete or invalid.
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

// special marks those of eight bytes that are quotes, backslashes or control characters.
// Only the lowest mark is reliable.
func special(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	below := (x - ones*0x20) &^ x
	quote := x ^ ones*'"'
	slash := x ^ ones*'\\'
	return (below | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// escape returns the length of the escape whose letter is b[i], with its backslash; 0 if
// it is invalid.
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

package rawjson

import "math/bits"

// lowest is the index of the first byte that a mask marks.
func lowest(m uint64) int { return bits.TrailingZeros64(m) >> 3 }

// scalarEnd is the index behind the string, number or word that begins at b[i].
func scalarEnd(b []byte, i int) (int, string) {
	switch c := b[i]; {
	case c == '"':
		return stringEnd(b, i+1)
	case c-'0' <= 9 || c == '-':
		return numberEnd(b, i)
	}
	return wordEnd(b, i)
}

// numberEnd is the index behind the number that begins at b[i].
func numberEnd(b []byte, i int) (int, string) {
	if b[i] == '-' {
		i++
	}
	from := i
	i = digits(b, i)
	if i == from || b[from] == '0' && i > from+1 {
		return from, msgNumber
	}
	if i < len(b) && b[i] == '.' {
		from = i + 1
		if i = digits(b, from); i == from {
			return i, msgNumber
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from = i
		if i = digits(b, from); i == from {
			return i, msgNumber
		}
	}
	return i, ""
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// wordEnd is the index behind true, false or null.
func wordEnd(b []byte, i int) (int, string) {
	word := ""
	switch b[i] {
	case 't':
		word = "true"
	case 'f':
		word = "false"
	case 'n':
		word = "null"
	default:
		return i, msgValue
	}
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, msgValue
	}
	return i + len(word), ""
}

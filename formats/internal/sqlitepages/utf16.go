package sqlitepages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Text of UTF-16 databases is held as UTF-8, a lone surrogate as the three
// bytes UTF-8 would give it if it were a character (WTF-8). That makes every
// sequence of 16-bit units expressible, so text survives the way there and back.

var ErrOddText = errors.New("UTF-16 text with an odd number of bytes")

// ByteOrder returns the byte order of an encoding, nil for UTF-8.
func ByteOrder(encoding string) binary.ByteOrder {
	switch encoding {
	case "UTF-16le":
		return binary.LittleEndian
	case "UTF-16be":
		return binary.BigEndian
	}
	return nil
}

// AppendWTF8 appends UTF-16 bytes as WTF-8.
func AppendWTF8(to, from []byte, o binary.ByteOrder) ([]byte, error) {
	if len(from)%2 != 0 {
		return to, ErrOddText
	}
	for i := 0; i < len(from); i += 2 {
		r := rune(o.Uint16(from[i:]))
		if r >= 0xD800 && r < 0xDC00 && i+4 <= len(from) {
			if full := utf16.DecodeRune(r, rune(o.Uint16(from[i+2:]))); full != utf8.RuneError {
				r, i = full, i+2
			}
		}
		if r >= 0xD800 && r < 0xE000 {
			to = append(to, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
			continue
		}
		to = utf8.AppendRune(to, r)
	}
	return to, nil
}

// AppendUTF16 is the way back. Bytes that appendWTF8 cannot have written are
// refused: they would not come back the same.
func AppendUTF16(to, from []byte, o binary.ByteOrder) ([]byte, error) {
	high := false // the unit before was a lone high surrogate
	for i := 0; i < len(from); {
		r, n := utf8.DecodeRune(from[i:])
		if r == utf8.RuneError && n <= 1 {
			if i+3 > len(from) || from[i] != 0xED || from[i+1]&0xE0 != 0xA0 || from[i+2]&0xC0 != 0x80 {
				return to, fmt.Errorf("invalid UTF-8 at byte %d cannot be stored in a UTF-16 database", i)
			}
			unit := 0xD000 | uint16(from[i+1]&0x3F)<<6 | uint16(from[i+2]&0x3F)
			if high && unit >= 0xDC00 {
				return to, fmt.Errorf("split surrogate pair at byte %d cannot be stored in a UTF-16 database", i)
			}
			to, high, i = pair(to, o, unit), unit < 0xDC00, i+3
			continue
		}
		if r > 0xFFFF {
			a, b := utf16.EncodeRune(r)
			to = pair(pair(to, o, uint16(a)), o, uint16(b))
		} else {
			to = pair(to, o, uint16(r))
		}
		high, i = false, i+n
	}
	return to, nil
}

func pair(to []byte, o binary.ByteOrder, unit uint16) []byte {
	var b [2]byte
	o.PutUint16(b[:], unit)
	return append(to, b[0], b[1])
}

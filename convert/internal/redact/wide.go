package redact

import (
	"encoding/binary"
	"unicode/utf16"
)

// wideOrder returns the byte order of UTF-16 that is mostly ASCII, and nil for
// anything else.
func wideOrder(b []byte) binary.ByteOrder {
	if len(b)%2 != 0 || len(b) < 2*gram {
		return nil
	}
	even, odd := 0, 0
	for i := 0; i < len(b); i += 2 {
		if b[i] == 0 {
			even++
		}
		if b[i+1] == 0 {
			odd++
		}
	}
	switch many := len(b) * 3 / 8; {
	case odd > many && even == 0:
		return binary.LittleEndian
	case even > many && odd == 0:
		return binary.BigEndian
	}
	return nil
}

// decodeWide returns UTF-16 as UTF-8, and nil if it is not valid.
func decodeWide(b []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, 0, len(b)/2)
	for i := 0; i < len(b); i += 2 {
		units = append(units, order.Uint16(b[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}

// wide returns UTF-16 without values; ok is false if it is none.
func (e *editor) wide(b []byte, depth int) (out []byte, changed bool, err error, ok bool) {
	order := wideOrder(b)
	if order == nil {
		return b, false, nil, false
	}
	text, changed, err := e.text(decodeWide(b, order), depth+1)
	if err != nil || !changed {
		return b, false, err, true
	}
	two := make([]byte, 2)
	for _, u := range utf16.Encode([]rune(string(text))) {
		order.PutUint16(two, u)
		out = append(out, two...)
	}
	return out, true, nil, true
}

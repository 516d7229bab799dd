package wire

import (
	"math"
	"unicode/utf8"

	"rehome/internal/rawjson"
)

// The fields of google.protobuf.Value, and the one field of Struct and of ListValue.
const (
	valueNull   = 1
	valueNumber = 2
	valueString = 3
	valueBool   = 4
	valueStruct = 5
	valueList   = 6
	membersNum  = 1
)

// anything appends a google.protobuf.Value as plain JSON. ok is false if that would lose
// part of it.
func (w *Walker) anything(dst, b []byte) (out []byte, ok bool) {
	if w.depth >= MaxDepth {
		return dst, false
	}
	w.depth++
	defer func() { w.depth-- }()
	r := Read(b)
	found := Reader{}
	for n := 0; r.Next(); n++ {
		if n > 0 {
			return dst, false
		}
		found = r
	}
	if len(r.Rest()) > 0 {
		return dst, false
	}
	switch {
	case found.Num == 0, found.Is(valueNull, Varint) && found.Uint == 0:
		return append(dst, "null"...), true
	case found.Is(valueNumber, Fixed64):
		return appendFloat(dst, math.Float64frombits(found.Uint), 64), true
	case found.Is(valueString, Bytes) && utf8.Valid(found.Body):
		return rawjson.Quote(dst, found.Body), true
	case found.Is(valueBool, Varint) && found.Uint <= 1:
		return (*Field)(nil).appendScalar(dst, Bool, found.Uint), true
	case found.Is(valueStruct, Bytes):
		return w.object(dst, found.Body)
	case found.Is(valueList, Bytes):
		return w.array(dst, found.Body)
	}
	return dst, false
}

// object appends a google.protobuf.Struct.
func (w *Walker) object(dst, b []byte) (out []byte, ok bool) {
	r := Read(b)
	p := objectWriter{b: append(dst, '{')}
	for r.Next() {
		if !r.Is(membersNum, Bytes) {
			return dst, false
		}
		var key, value []byte
		e := Read(r.Body)
		for e.Next() {
			switch {
			case e.Is(keyNum, Bytes) && utf8.Valid(e.Body):
				key = e.Body
			case e.Is(valueNum, Bytes):
				value = e.Body
			default:
				return dst, false
			}
		}
		if len(e.Rest()) > 0 {
			return dst, false
		}
		p.comma()
		p.b = append(rawjson.Quote(p.b, key), ':')
		if p.b, ok = w.anything(p.b, value); !ok {
			return dst, false
		}
	}
	return append(p.b, '}'), len(r.Rest()) == 0
}

// array appends a google.protobuf.ListValue.
func (w *Walker) array(dst, b []byte) (out []byte, ok bool) {
	r := Read(b)
	p := objectWriter{b: append(dst, '[')}
	for r.Next() {
		if !r.Is(membersNum, Bytes) {
			return dst, false
		}
		p.comma()
		if p.b, ok = w.anything(p.b, r.Body); !ok {
			return dst, false
		}
	}
	return append(p.b, ']'), len(r.Rest()) == 0
}

package wire

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"rehome/formats/internal/rawjson"
)

// AppendJSON appends the message that a JSON object spells, the inverse of Walker.Append.
// Fields are written in the order of their numbers and raw ones before others of the same
// number; fields that the table does not have come last. It returns an error for anything
// that is not a value of its field.
func (m *Message) AppendJSON(dst, object []byte) ([]byte, error) {
	if !rawjson.Inline(object) {
		return dst, fmt.Errorf("invalid JSON")
	}
	return m.appendJSON(dst, bytes.TrimSpace(object), 0)
}

// piece is the bytes of one member of an object.
type piece struct {
	num int    // of the field; math.MaxInt for one that the table does not have
	raw []byte // a field in its raw form
	b   []byte // a field
}

func (m *Message) appendJSON(dst, object []byte, depth int) ([]byte, error) {
	if depth >= MaxDepth || object[0] != '{' {
		return dst, fmt.Errorf("%s: expected an object, at most %d deep", m.Name, MaxDepth)
	}
	var pieces []piece
	var rest []byte
	for name, value := range rawjson.Members(object) {
		n := string(name)
		var err error
		switch {
		case n == "#":
			return appendBase64Text(dst, rawjson.Last(value, "base64"))
		case n == "#rest":
			rest, err = appendBase64Text(nil, rawjson.Last(value, "base64"))
		case strings.HasPrefix(n, "#"):
			pieces, err = m.rawPieces(pieces, value)
		default:
			p := piece{}
			f := m.Named(n)
			if f == nil {
				return dst, fmt.Errorf("%s: unknown field %q", m.Name, n)
			}
			p.num = f.Num
			p.b, err = f.appendJSON(nil, value, depth)
			pieces = append(pieces, p)
		}
		if err != nil {
			return dst, fmt.Errorf("%s.%s: %w", m.Name, n, err)
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.num, b.num), cmp.Compare(len(b.raw), len(a.raw)))
	})
	for i, p := range pieces {
		if i > 0 && p.b != nil && repairs(p, pieces[i-1]) {
			continue // the raw field says the same, and exactly
		}
		dst = append(append(dst, p.raw...), p.b...)
	}
	return append(dst, rest...), nil
}

// repairs reports whether a text is that of a raw field, repaired to be valid UTF-8.
func repairs(text, raw piece) bool {
	r, exact := Read(text.b), Read(raw.raw)
	return text.num == raw.num && exact.Next() && r.Next() && r.Type == Bytes &&
		!bytes.Equal(r.Body, exact.Body) && bytes.Equal(r.Body, bytes.ToValidUTF8(exact.Body, []byte("\uFFFD")))
}

// rawPieces appends a raw field, or a list of them.
func (m *Message) rawPieces(pieces []piece, value []byte) ([]piece, error) {
	if value[0] == '[' {
		for e := range rawjson.Elements(value) {
			var err error
			if pieces, err = m.rawPieces(pieces, e); err != nil {
				return pieces, err
			}
		}
		return pieces, nil
	}
	num, err := strconv.ParseUint(string(rawjson.Last(value, "field")), 10, 29)
	typ, err2 := strconv.ParseUint(string(rawjson.Last(value, "wire")), 10, 3)
	if err != nil || err2 != nil || num == 0 {
		return pieces, fmt.Errorf("invalid raw field")
	}
	p := piece{num: int(num), raw: protowire.AppendTag(nil, protowire.Number(num), protowire.Type(typ))}
	if Type(typ) == Varint {
		v, err := strconv.ParseUint(rawjson.Text(rawjson.Last(value, "value")), 10, 64)
		if err != nil {
			return pieces, err
		}
		p.raw = protowire.AppendVarint(p.raw, v)
	} else {
		body, err := appendBase64Text(nil, rawjson.Last(value, "base64"))
		if err != nil {
			return pieces, err
		}
		switch Type(typ) {
		case Bytes:
			p.raw = protowire.AppendBytes(p.raw, body)
		case Group:
			p.raw = protowire.AppendTag(append(p.raw, body...), protowire.Number(num), protowire.EndGroupType)
		default:
			p.raw = append(p.raw, body...)
		}
	}
	if r := Read(p.raw); !r.Next() || len(r.Rest()) > 0 {
		return pieces, fmt.Errorf("invalid raw field")
	}
	if m.Field(p.num) == nil {
		p.num = math.MaxInt
	}
	return append(pieces, p), nil
}

// appendJSON appends a field with its values.
func (f *Field) appendJSON(dst, value []byte, depth int) (out []byte, err error) {
	switch {
	case f.Key != 0 && value[0] != '{', f.Key == 0 && f.Repeated && value[0] != '[':
		return dst, fmt.Errorf("expected an object or a list")
	case f.Key != 0:
		for key, v := range rawjson.Members(value) {
			entry, err := f.entryJSON(key, v, depth)
			if err != nil {
				return dst, err
			}
			dst = appendBytes(dst, f.Num, entry)
		}
		return dst, nil
	case !f.Repeated:
		return f.appendValue(dst, f.Num, value, depth)
	}
	var packed []byte
	for v := range rawjson.Elements(value) {
		if f.Kind.wire() == Bytes {
			dst, err = f.appendValue(dst, f.Num, v, depth)
		} else {
			packed, err = f.appendBare(packed, v)
		}
		if err != nil {
			return dst, err
		}
	}
	if len(packed) > 0 {
		dst = appendBytes(dst, f.Num, packed)
	}
	return dst, nil
}

func (f *Field) entryJSON(key, value []byte, depth int) ([]byte, error) {
	entry := appendBytes(nil, keyNum, key)
	if f.Key != String {
		n, err := strconv.ParseInt(string(key), 10, 64)
		if err != nil {
			return nil, err
		}
		entry = appendVarint(nil, keyNum, uint64(n))
	}
	return f.appendValue(entry, valueNum, value, depth)
}

// appendValue appends one value with its tag.
func (f *Field) appendValue(dst []byte, num int, value []byte, depth int) ([]byte, error) {
	var body []byte
	var err error
	switch f.Kind {
	case Nested:
		body, err = f.Message.appendJSON(nil, value, depth+1)
	case Value:
		body, err = appendAnything(nil, value, depth+1)
	case Struct:
		body, err = appendStruct(nil, value, depth+1)
	case String:
		if value[0] != '"' {
			return dst, fmt.Errorf("expected a string")
		}
		body = text(value)
	case Blob, Ref:
		body, err = appendBase64Text(nil, value)
	default:
		return f.appendBare(protowire.AppendTag(dst, protowire.Number(num), protowire.Type(f.Kind.wire())), value)
	}
	return appendBytes(dst, num, body), err
}

// appendBare appends a number, a bool or an enum without its tag.
func (f *Field) appendBare(dst, value []byte) ([]byte, error) {
	text := string(value)
	if value[0] == '"' {
		text = rawjson.Text(value)
	}
	var v uint64
	var n int64
	var err error
	switch f.Kind {
	case Float, Double:
		x, err := strconv.ParseFloat(text, 64)
		if f.Kind == Float {
			return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(x))), err
		}
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x)), err
	case Uint32, Uint64:
		v, err = strconv.ParseUint(text, 10, 64)
	case Bool:
		if text != "true" && text != "false" {
			err = fmt.Errorf("expected true or false")
		}
		v = protowire.EncodeBool(text == "true")
	default:
		if n, err = strconv.ParseInt(text, 10, 64); f.Kind == Enum && value[0] == '"' {
			n, err = f.enum.number(text)
		}
		if v = uint64(n); f.Kind == Sint32 {
			v = protowire.EncodeZigZag(n)
		}
	}
	return protowire.AppendVarint(dst, v), err
}

func (e *enum) number(name string) (int64, error) {
	for n, s := range e.names {
		if s == name {
			return int64(n), nil
		}
	}
	return 0, fmt.Errorf("unknown value %q", name)
}

// appendAnything appends any JSON as a google.protobuf.Value.
func appendAnything(dst, value []byte, depth int) ([]byte, error) {
	if depth >= MaxDepth {
		return dst, fmt.Errorf("JSON is nested deeper than %d", MaxDepth)
	}
	switch value[0] {
	case 'n':
		return appendVarint(dst, valueNull, 0), nil
	case 't', 'f':
		return appendVarint(dst, valueBool, protowire.EncodeBool(value[0] == 't')), nil
	case '"':
		return appendBytes(dst, valueString, text(value)), nil
	case '{':
		body, err := appendStruct(nil, value, depth+1)
		return appendBytes(dst, valueStruct, body), err
	case '[':
		var list []byte
		for e := range rawjson.Elements(value) {
			body, err := appendAnything(nil, e, depth+1)
			if err != nil {
				return dst, err
			}
			list = appendBytes(list, membersNum, body)
		}
		return appendBytes(dst, valueList, list), nil
	}
	x, err := strconv.ParseFloat(string(value), 64)
	dst = protowire.AppendTag(dst, valueNumber, protowire.Fixed64Type)
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x)), err
}

// appendStruct appends an object as a google.protobuf.Struct.
func appendStruct(dst, object []byte, depth int) ([]byte, error) {
	if object[0] != '{' {
		return dst, fmt.Errorf("expected an object")
	}
	for key, value := range rawjson.Members(object) {
		v, err := appendAnything(nil, value, depth)
		if err != nil {
			return dst, err
		}
		dst = appendBytes(dst, membersNum, appendBytes(appendBytes(nil, keyNum, key), valueNum, v))
	}
	return dst, nil
}

// text returns the text of a JSON string as protobuf requires it: half a surrogate pair is
// not UTF-8, and becomes U+FFFD.
func text(value []byte) []byte {
	return rawjson.AppendUTF8(make([]byte, 0, len(value)), value[1:len(value)-1])
}

func appendBase64Text(dst, value []byte) ([]byte, error) {
	return base64.StdEncoding.Strict().AppendDecode(dst, []byte(rawjson.Text(value)))
}

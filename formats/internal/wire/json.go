package wire

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"rehome/internal/rawjson"
)

// AppendJSON appends the message that a JSON object spells, the inverse of Walker.Append.
// Fields are written in the order of their numbers and raw ones before others of the same
// number; fields that the table does not have come last. It returns an error for anything
// that is not a value of its field. Fields that are given are taken as they are.
func (m *Message) AppendJSON(dst, object []byte, given ...Given) ([]byte, error) {
	if !rawjson.Inline(object) {
		return dst, fmt.Errorf("invalid JSON")
	}
	size := len(object)
	for _, g := range given {
		size += len(g.Bytes) + 16
	}
	return m.appendJSON(slices.Grow(dst, size), bytes.TrimSpace(object), 0, given)
}

// Given is a field whose content is encoded already.
type Given struct {
	Num   int
	Bytes []byte // nil: there is no such field
}

// piece is where the bytes of one member of an object are.
type piece struct {
	num      int  // of the field, or its rank
	raw      bool // a field in its raw form
	from, to int
}

// before orders pieces.
func (p piece) before(q piece) int {
	if p.num == q.num && p.raw != q.raw {
		if p.raw {
			return -1
		}
		return 1
	}
	return cmp.Compare(p.num, q.num)
}

func (m *Message) appendJSON(dst, object []byte, depth int, given []Given) ([]byte, error) {
	if depth >= MaxDepth || object[0] != '{' {
		return dst, fmt.Errorf("%s: expected an object, at most %d deep", m.Name, MaxDepth)
	}
	var few [16]piece
	pieces, start := few[:0], len(dst)
	for _, g := range given {
		if g.Bytes != nil {
			p := piece{num: m.rank(g.Num), from: len(dst)}
			dst = appendBytes(dst, g.Num, g.Bytes)
			p.to = len(dst)
			pieces = append(pieces, p)
		}
	}
	var rest []byte
	for name, value := range rawjson.Members(object) {
		var err error
		switch {
		case string(name) == "#":
			return appendBase64Text(dst[:start], rawjson.Last(value, "base64"))
		case string(name) == "#rest":
			rest, err = appendBase64Text(nil, rawjson.Last(value, "base64"))
		case len(name) > 0 && name[0] == '#':
			dst, pieces, err = m.rawPieces(dst, pieces, value)
		default:
			f := m.Named(string(name))
			if f == nil {
				return dst, fmt.Errorf("%s: unknown field %q", m.Name, name)
			}
			from := len(dst)
			dst, err = f.appendJSON(dst, value, depth)
			pieces = append(pieces, piece{num: f.Num, from: from, to: len(dst)})
		}
		if err != nil {
			return dst, fmt.Errorf("%s.%s: %w", m.Name, name, err)
		}
	}
	return append(arrange(dst, start, pieces), rest...), nil
}

// rank is the place of a field: those that the table does not have come last.
func (m *Message) rank(num int) int {
	if m.Field(num) == nil {
		return math.MaxInt
	}
	return num
}

// arrange puts the fields that follow start into their order.
func arrange(dst []byte, start int, pieces []piece) []byte {
	raw := func(p piece) bool { return p.raw }
	if slices.IsSortedFunc(pieces, piece.before) && !slices.ContainsFunc(pieces, raw) {
		return dst
	}
	slices.SortStableFunc(pieces, piece.before)
	all := bytes.Clone(dst[start:])
	at := func(p piece) []byte { return all[p.from-start : p.to-start] }
	dst = dst[:start]
	for i, p := range pieces {
		if i > 0 && p.num == pieces[i-1].num && !p.raw && pieces[i-1].raw && repairs(at(p), at(pieces[i-1])) {
			continue // the raw field says the same, and exactly
		}
		dst = append(dst, at(p)...)
	}
	return dst
}

// repairs reports whether a text is that of a raw field, repaired to be valid UTF-8.
func repairs(text, raw []byte) bool {
	r, exact := Read(text), Read(raw)
	return exact.Next() && r.Next() && r.Type == Bytes &&
		!bytes.Equal(r.Body, exact.Body) && bytes.Equal(r.Body, bytes.ToValidUTF8(exact.Body, []byte("\uFFFD")))
}

// rawPieces appends a raw field, or a list of them.
func (m *Message) rawPieces(dst []byte, pieces []piece, value []byte) ([]byte, []piece, error) {
	if value[0] == '[' {
		for e := range rawjson.Elements(value) {
			var err error
			if dst, pieces, err = m.rawPieces(dst, pieces, e); err != nil {
				return dst, pieces, err
			}
		}
		return dst, pieces, nil
	}
	num, err := strconv.ParseUint(string(rawjson.Last(value, "field")), 10, 29)
	typ, err2 := strconv.ParseUint(string(rawjson.Last(value, "wire")), 10, 3)
	if err != nil || err2 != nil || num == 0 {
		return dst, pieces, fmt.Errorf("invalid raw field")
	}
	p := piece{num: m.rank(int(num)), raw: true, from: len(dst)}
	dst = protowire.AppendTag(dst, protowire.Number(num), protowire.Type(typ))
	if Type(typ) == Varint {
		v, err := strconv.ParseUint(rawjson.TextAt(value, "value"), 10, 64)
		if err != nil {
			return dst, pieces, err
		}
		dst = protowire.AppendVarint(dst, v)
	} else {
		body, err := appendBase64Text(nil, rawjson.Last(value, "base64"))
		if err != nil {
			return dst, pieces, err
		}
		switch Type(typ) {
		case Bytes:
			dst = protowire.AppendBytes(dst, body)
		case Group:
			dst = protowire.AppendTag(append(dst, body...), protowire.Number(num), protowire.EndGroupType)
		default:
			dst = append(dst, body...)
		}
	}
	p.to = len(dst)
	if r := Read(dst[p.from:]); !r.Next() || len(r.Rest()) > 0 {
		return dst, pieces, fmt.Errorf("invalid raw field")
	}
	return dst, append(pieces, p), nil
}

// appendJSON appends a field with its values.
func (f *Field) appendJSON(dst, value []byte, depth int) (out []byte, err error) {
	switch {
	case f.Key != 0 && value[0] != '{', f.Key == 0 && f.Repeated && value[0] != '[':
		return dst, fmt.Errorf("expected an object or a list")
	case f.Key != 0:
		for key, v := range rawjson.Members(value) {
			if dst, err = f.entryJSON(dst, key, v, depth); err != nil {
				return dst, err
			}
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

// entryJSON appends an entry of a map.
func (f *Field) entryJSON(dst, key, value []byte, depth int) (out []byte, err error) {
	dst, s := open(dst, f.Num, len(key)+len(value))
	if f.Key == String {
		dst = appendKey(dst, key)
	} else {
		n, err := strconv.ParseInt(string(key), 10, 64)
		if err != nil {
			return dst, err
		}
		dst = appendVarint(dst, keyNum, uint64(n))
	}
	dst, err = f.appendValue(dst, valueNum, value, depth)
	return s.close(dst), err
}

// appendValue appends one value with its tag.
func (f *Field) appendValue(dst []byte, num int, value []byte, depth int) (out []byte, err error) {
	if f.Kind.wire() != Bytes {
		return f.appendBare(protowire.AppendTag(dst, protowire.Number(num), protowire.Type(f.Kind.wire())), value)
	}
	dst, s := open(dst, num, len(value))
	switch f.Kind {
	case Nested:
		dst, err = f.Message.appendJSON(dst, value, depth+1, nil)
	case Value:
		dst, err = appendAnything(dst, value, depth+1)
	case Struct:
		dst, err = appendStruct(dst, value, depth+1)
	case String:
		if value[0] != '"' {
			return dst, fmt.Errorf("expected a string")
		}
		dst = appendText(dst, value)
	default:
		dst, err = appendBase64Text(dst, value)
	}
	return s.close(dst), err
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

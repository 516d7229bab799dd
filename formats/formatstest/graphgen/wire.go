package graphgen

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// message is a protobuf message as a list of fields, each with the name it has
// in JSON. One tree gives the bytes and the JSON of them.
type message []field

// field holds one of: string, []byte, bool, int32, uint32, int64, uint64,
// float64, enum, message, list (a repeated field), entries (a map), value (a
// google.protobuf.Value),
// tagged (a google.protobuf.Struct).
type field struct {
	num  int
	name string
	v    any
}

type (
	enum struct {
		n    int
		name string
	}
	list    []any
	entries []entry
	entry   struct {
		key string
		v   any
	}
	value struct{ v any } // nil, bool, float64, string, []value, members
	// members are an object whose members have an order.
	members []member
	member  struct {
		key string
		v   value
	}
)

func tag(dst []byte, num, wire int) []byte { return binary.AppendUvarint(dst, uint64(num<<3|wire)) }

func bytesField(dst []byte, num int, b []byte) []byte {
	dst = binary.AppendUvarint(tag(dst, num, 2), uint64(len(b)))
	return append(dst, b...)
}

func (m message) wire() []byte {
	dst := []byte{}
	for _, f := range m {
		dst = appendWire(dst, f.num, f.v)
	}
	return dst
}

func appendWire(dst []byte, num int, v any) []byte {
	varint := func(n uint64) []byte { return binary.AppendUvarint(tag(dst, num, 0), n) }
	switch v := v.(type) {
	case string:
		return bytesField(dst, num, []byte(v))
	case []byte:
		return bytesField(dst, num, v)
	case bool:
		if v {
			return varint(1)
		}
		return varint(0)
	case int32:
		return varint(uint64(int64(v)))
	case uint32:
		return varint(uint64(v))
	case int64:
		return varint(uint64(v))
	case uint64:
		return varint(v)
	case float64:
		return binary.LittleEndian.AppendUint64(tag(dst, num, 1), math.Float64bits(v))
	case enum:
		return varint(uint64(int64(v.n)))
	case message:
		return bytesField(dst, num, v.wire())
	case list:
		for _, one := range v {
			dst = appendWire(dst, num, one)
		}
		return dst
	case entries:
		for _, e := range v {
			dst = bytesField(dst, num, message{{1, "", e.key}, {2, "", e.v}}.wire())
		}
		return dst
	case value:
		return bytesField(dst, num, v.wire())
	case tagged:
		return bytesField(dst, num, v.members.wire())
	}
	panic("graphgen: a value that protobuf cannot hold")
}

// wire is a google.protobuf.Value: null 1, number 2, text 3, bool 4, object 5,
// array 6.
func (v value) wire() []byte {
	switch t := v.v.(type) {
	case nil:
		return appendWire(nil, 1, false)
	case float64:
		return appendWire(nil, 2, t)
	case string:
		return appendWire(nil, 3, t)
	case bool:
		return appendWire(nil, 4, t)
	case members:
		return bytesField(nil, 5, t.wire())
	case []value:
		var items list
		for _, one := range t {
			items = append(items, one)
		}
		return bytesField(nil, 6, message{{1, "", items}}.wire())
	}
	panic("graphgen: no such value")
}

func (m members) wire() []byte {
	var all entries
	for _, one := range m {
		all = append(all, entry{one.key, one.v})
	}
	return message{{1, "", all}}.wire()
}

// json is the JSON that protobuf has for the message.
func (m message) json() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, f := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quote(f.name) + ":" + spell(f.v))
	}
	b.WriteByte('}')
	return b.String()
}

func spell(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case []byte:
		return quote(base64.StdEncoding.EncodeToString(v))
	case bool:
		return strconv.FormatBool(v)
	case int32:
		return strconv.FormatInt(int64(v), 10)
	case uint32:
		return strconv.FormatUint(uint64(v), 10)
	case int64:
		return quote(strconv.FormatInt(v, 10))
	case uint64:
		return quote(strconv.FormatUint(v, 10))
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case enum:
		return quote(v.name)
	case message:
		return v.json()
	case list:
		return array(v, spell)
	case entries:
		return object(v, func(e entry) (string, any) { return e.key, e.v })
	case value:
		return v.json()
	case tagged:
		return value{v.members}.json()
	}
	panic("graphgen: a value that JSON cannot hold")
}

func (v value) json() string {
	switch t := v.v.(type) {
	case nil:
		return "null"
	case []value:
		return array(t, value.json)
	case members:
		return object(t, func(m member) (string, any) { return m.key, m.v })
	}
	return spell(v.v)
}

func array[T any](items []T, spell func(T) string) string {
	out := make([]string, len(items))
	for i, one := range items {
		out[i] = spell(one)
	}
	return "[" + strings.Join(out, ",") + "]"
}

func object[T any](items []T, of func(T) (string, any)) string {
	out := make([]string, len(items))
	for i, one := range items {
		key, v := of(one)
		out[i] = quote(key) + ":" + spell(v)
	}
	return "{" + strings.Join(out, ",") + "}"
}

// quote spells text as JSON.stringify does: control characters and lone
// surrogates (three bytes each) are escaped, nothing else above ASCII.
func quote(s string) string {
	const short = "btn\vfr"
	b := []byte{'"'}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= 8 && c <= 13 && c != 11:
			b = append(b, '\\', short[c-8])
		case c < ' ':
			b = append(b, `\u00`...)
			b = append(b, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		case c == 0xed && i+2 < len(s) && s[i+1] >= 0xa0:
			unit := 0xd000 | int64(s[i+1]&0x3f)<<6 | int64(s[i+2]&0x3f)
			b = strconv.AppendInt(append(b, `\u`...), unit, 16)
			i += 2
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

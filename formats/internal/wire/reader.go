package wire

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// MaxDepth is how deep messages may be nested. Those of the client stay below 20.
const MaxDepth = 100

// Type is the wire type of a field.
type Type uint8

// The wire types.
const (
	Varint   Type = 0
	Fixed64  Type = 1
	Bytes    Type = 2
	Group    Type = 3
	groupEnd Type = 4
	Fixed32  Type = 5
)

// Reader iterates over the fields of a message. All that it returns are views of the
// message.
type Reader struct {
	Num  int
	Type Type
	Uint uint64 // of Varint, Fixed32 and Fixed64
	Body []byte // of Bytes; of a Group, its fields
	Raw  []byte // the field with its tag

	b  []byte
	at int
}

// Read returns a Reader of a message.
func Read(b []byte) Reader { return Reader{b: b} }

// Next moves to the next field. It returns false at the end, and where the bytes are not
// protobuf.
func (r *Reader) Next() bool {
	from := r.at
	num, typ, at := tag(r.b, from)
	if at < 0 || typ == groupEnd {
		return false
	}
	r.Body = nil
	switch typ {
	case Varint:
		r.Uint, at = varint(r.b, at)
	case Fixed32:
		if len(r.b)-at < 4 {
			return false
		}
		r.Uint = uint64(binary.LittleEndian.Uint32(r.b[at:]))
		at += 4
	case Fixed64:
		if len(r.b)-at < 8 {
			return false
		}
		r.Uint = binary.LittleEndian.Uint64(r.b[at:])
		at += 8
	case Bytes:
		r.Body, at = body(r.b, at)
	case Group:
		r.Body, at = group(r.b, at, num)
	}
	if at < 0 {
		return false
	}
	r.Num, r.Type, r.Raw, r.at = num, typ, r.b[from:at:at], at
	return true
}

// Rest returns the bytes at which Next stopped: empty at the end of the message.
func (r *Reader) Rest() []byte { return r.b[r.at:] }

// Tail returns the end of b that is not protobuf: empty if b is a whole message.
func Tail(b []byte) []byte {
	r := Read(b)
	for r.Next() {
	}
	return r.Rest()
}

// Is reports whether the current field has that number and wire type.
func (r *Reader) Is(num int, typ Type) bool { return r.Num == num && r.Type == typ }

// The functions below parse what begins at b[i] and return the index after it, -1 if it
// is not valid.

func varint(b []byte, i int) (uint64, int) {
	v, n := protowire.ConsumeVarint(b[i:])
	if n < 0 {
		return 0, -1
	}
	return v, i + n
}

func tag(b []byte, i int) (num int, typ Type, end int) {
	n, t, size := protowire.ConsumeTag(b[min(i, len(b)):])
	if size < 0 || t > 5 {
		return 0, 0, -1
	}
	return int(n), Type(t), i + size
}

func body(b []byte, i int) ([]byte, int) {
	v, n := protowire.ConsumeBytes(b[i:])
	if n < 0 {
		return nil, -1
	}
	return v[:len(v):len(v)], i + n
}

// group returns the fields of a group, up to the end tag with the same number.
func group(b []byte, i, num int) ([]byte, int) {
	var open [MaxDepth]int
	depth, from := 0, i
	open[0] = num
	for {
		n, typ, at := tag(b, i)
		if at < 0 {
			return nil, -1
		}
		switch typ {
		case Varint:
			_, at = varint(b, at)
		case Fixed32:
			at += 4
		case Fixed64:
			at += 8
		case Bytes:
			_, at = body(b, at)
		case Group:
			if depth++; depth == MaxDepth {
				return nil, -1
			}
			open[depth] = n
		case groupEnd:
			if open[depth] != n {
				return nil, -1
			}
			if depth--; depth < 0 {
				return b[from:i:i], at
			}
		}
		if at < 0 || at > len(b) {
			return nil, -1
		}
		i = at
	}
}

package leaves

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxDepth = 100 // of messages in messages, and of JSON
	idLength = 32
)

// protobuf reads messages by field numbers alone: it has no table of their fields, so that it
// cannot forget one.
type protobuf struct {
	has  func(id string) bool  // reports whether 32 bytes are the id of a stored blob
	refs func(path, id string) // receives each of those ids; it is no leaf
	add  func(leaf Leaf)       // receives each leaf
}

// wireField is one field of a message.
type wireField struct {
	number int
	wire   int
	value  uint64 // of a number
	body   []byte // of a field with a length
}

// fields returns the fields of a message; false if its bytes are none to the last one.
func fields(b []byte) (list []wireField, ok bool) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
			return list, false
		}
		f := wireField{number: int(tag >> 3), wire: int(tag & 7)}
		b = b[n:]
		size := 0
		switch f.wire {
		case 0:
			if f.value, size = binary.Uvarint(b); size <= 0 {
				return list, false
			}
		case 1, 5:
			if size = map[int]int{1: 8, 5: 4}[f.wire]; len(b) < size {
				return list, false
			}
			for i, c := range b[:size] {
				f.value |= uint64(c) << (8 * i)
			}
		case 2:
			length, n := binary.Uvarint(b)
			if n <= 0 || length > uint64(len(b)-n) {
				return list, false
			}
			size = n + int(length)
			f.body = b[n:size]
		default:
			return list, false
		}
		b = b[size:]
		list = append(list, f)
	}
	return list, true
}

// message adds the leaves of a message; false if the bytes are none.
func (p *protobuf) message(path string, b []byte, depth int) bool {
	list, ok := fields(b)
	if !ok || depth > maxDepth {
		return false
	}
	for _, f := range list {
		at := join(path, strconv.Itoa(f.number))
		if f.wire != 2 {
			p.number(at, f)
			continue
		}
		p.bytes(at, f.body, depth+1)
	}
	return true
}

// number adds a number, unless it is the one that an absent field has.
func (p *protobuf) number(at string, f wireField) {
	value := strconv.FormatInt(int64(f.value), 10)
	if d := math.Float64frombits(f.value); f.wire == 1 && math.Abs(d) > 1e-9 && math.Abs(d) < 1e15 {
		value = strconv.FormatFloat(d, 'f', -1, 64)
	}
	if f.value != 0 {
		p.add(Leaf{Path: at, Value: value})
	}
}

// bytes adds what a field with a length holds: a reference, text, a message or bytes.
func (p *protobuf) bytes(at string, b []byte, depth int) {
	switch {
	case len(b) == 0:
	case len(b) == idLength && p.has(hex.EncodeToString(b)):
		p.refs(at, hex.EncodeToString(b))
	case isText(b) && !wraps(b):
		p.add(Leaf{Path: at, Value: string(b)})
	case p.message(at, b, depth):
	default:
		p.add(Leaf{Path: at, Value: string(b), Bytes: !utf8.Valid(b)})
	}
}

// isText reports whether bytes can be shown.
func isText(b []byte) bool {
	return utf8.Valid(b) && !slices.ContainsFunc([]rune(string(b)), func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r)
	})
}

// wraps reports whether bytes that can be shown are a message anyway: the tag of a first
// field with a length is a line break, and its length may be the code of any letter. A text
// begins in that way only by chance.
func wraps(b []byte) bool {
	list, ok := fields(b)
	return ok && list[0].wire == 2 && (list[0].number == 1 || len(list) == 1)
}

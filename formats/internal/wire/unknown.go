package wire

import (
	"iter"
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"
)

// Unknown is what a decoded message holds besides the fields of the struct that embeds it.
type Unknown struct {
	Raw    []byte // unknown fields in their order, with tags; then the bytes that are not protobuf
	Cut    int    // how many bytes at the end of Raw are not protobuf
	Fields int    // how many fields of the message the struct holds

	// NonCanonical reports that encoding the struct gives other bytes than were decoded:
	// the fields were not in the order of their numbers, a number was longer than it need
	// be, or a field was there twice. Nothing is lost, but the blob gets another name.
	NonCanonical bool

	zero  uint64  // slots whose value is stated and zero
	marks []place // of the fields in Raw
}

// place is where unknown fields stand in the message.
type place struct {
	before int // how many fields of the struct come first
	size   int // of these unknown fields
}

// Release moves a field from the struct to its unknown fields: the decoder could hold the
// value, but its user cannot make sense of it.
func (c *Codec[T]) Release(m *T, name string) {
	s := c.slot(c.Message.Named(name).Num)
	v := reflect.ValueOf(m).Elem()
	p, u := v.Field(s.index), v.Field(c.unknown).Addr().Interface().(*Unknown)
	old := u.encode(nil, s, p.Addr().Interface())
	if old == nil {
		return
	}
	p.SetZero()
	u.zero &^= s.bit
	cut := len(u.Raw) - u.Cut
	u.Raw = append(append(append(make([]byte, 0, len(u.Raw)+len(old)), u.Raw[:cut]...), old...), u.Raw[cut:]...)
	u.Fields -= countFields(old)
	u.marks = append(u.marks, place{u.Fields, len(old)})
	u.NonCanonical = true
}

func countFields(b []byte) (n int) {
	for r := Read(b); r.Next(); {
		n++
	}
	return n
}

// List is the values of a repeated field one after another, each with a tag. In a decoded
// message it is a view of the input where the values lie together, so that a list costs
// nothing until it is iterated over.
type List []byte

// All iterates over the values.
func (l List) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for r := Read(l); r.Next(); {
			if !yield(r.Body) {
				return
			}
		}
	}
}

// Add appends a value.
func (l *List) Add(value []byte) { *l = appendBytes(*l, 1, value) }

// AddEntry appends an entry of a map.
func (l *List) AddEntry(key, value []byte) {
	l.Add(appendBytes(appendBytes(nil, keyNum, key), valueNum, value))
}

// The fields of a map's entry, the same in every map.
const (
	keyNum   = 1
	valueNum = 2
)

// MapEntry returns the key and the value of an entry of a map whose keys are strings and
// whose values are bytes of any kind.
func MapEntry(b []byte) (key, value []byte, ok bool) {
	r := Read(b)
	for r.Next() {
		switch {
		case r.Is(keyNum, Bytes):
			key = r.Body
		case r.Is(valueNum, Bytes):
			value = r.Body
		default:
			return key, value, false
		}
	}
	return key, value, len(r.Rest()) == 0
}

func appendBytes(dst []byte, num int, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, protowire.Number(num), protowire.BytesType), b)
}

func appendVarint(dst []byte, num int, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, protowire.Number(num), protowire.VarintType), v)
}

func sizeBytes(num int, b []byte) int {
	return protowire.SizeTag(protowire.Number(num)) + protowire.SizeBytes(len(b))
}

// size returns how many bytes the field takes if its numbers are spelled as short as can be.
func (r *Reader) size() int {
	if r.Type == Bytes {
		return sizeBytes(r.Num, r.Body)
	}
	return protowire.SizeTag(protowire.Number(r.Num)) + protowire.SizeVarint(r.Uint)
}

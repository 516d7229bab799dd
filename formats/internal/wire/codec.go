package wire

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// Codec decodes a message of the table into a T and encodes a T as that message.
//
// T is a struct. The tag of each field names a field of the message, and its Go type says
// how the value is held:
//
//	[]byte  a string, bytes or a nested message, as a view of the input; nil if absent
//	uint64  any varint; an enum is its number
//	bool    a bool
//	ID      a ref; zero if absent
//	[]ID    a repeated ref
//	List    any other repeated field of bytes, and a map: see MapEntry
//
// T also embeds Unknown. Nested messages stay bytes until their own codec decodes them,
// so a codec never recurses, and nothing is allocated for what is not read.
type Codec[T any] struct{ layout }

// layout is what a Codec knows of its struct.
type layout struct {
	Message *Message
	slots   []slot  // in the order of field numbers, which is the order on the wire
	byNum   []int16 // by field number: index into slots, plus 1
	unknown int     // index of Unknown in the struct
}

// slot is a field of a struct with the field of the message that it holds.
type slot struct {
	field *Field
	typ   Type   // on the wire
	any   bool   // every value of that type fits
	index int    // of the struct's field
	at    int    // in layout.slots
	bit   uint64 // in Unknown.zero
}

// fields is a struct taken apart: a pointer to each field that has a slot, and to Unknown.
type fields struct {
	values  []any
	unknown *Unknown
}

// Bind returns the codec of T and a message of the table. names replaces the tags of a T
// that several messages share. It panics if T does not match the table, which is a
// mistake in the program.
func Bind[T any](message string, names ...string) *Codec[T] {
	c, err := bind[T](Messages().Message(message), names)
	if err != nil {
		panic(fmt.Sprintf("wire: %T as %s: %v", *new(T), message, err))
	}
	return c
}

func bind[T any](m *Message, names []string) (*Codec[T], error) {
	if m == nil {
		return nil, fmt.Errorf("unknown message")
	}
	c := &Codec[T]{layout{Message: m, unknown: -1}}
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Type == reflect.TypeFor[Unknown]() {
			c.unknown = i
			continue
		}
		name := sf.Tag.Get("wire")
		if len(names) > 0 {
			name, names = names[0], names[1:]
		}
		f := m.Named(name)
		if f == nil || !f.holds(sf.Type) || c.slot(f.Num) != nil || len(c.slots) == 64 {
			return nil, fmt.Errorf("field %s cannot be %q", sf.Name, name)
		}
		c.slots = append(c.slots, slot{field: f, typ: f.Kind.wire(), any: f.Kind != Bool, index: i})
		for len(c.byNum) <= f.Num {
			c.byNum = append(c.byNum, 0)
		}
		c.byNum[f.Num] = int16(len(c.slots))
	}
	if c.unknown < 0 {
		return nil, fmt.Errorf("the struct does not embed Unknown")
	}
	slices.SortFunc(c.slots, func(a, b slot) int { return cmp.Compare(a.field.Num, b.field.Num) })
	for k := range c.slots {
		s := &c.slots[k]
		s.at, s.bit, c.byNum[s.field.Num] = k, 1<<k, int16(k+1)
	}
	return c, nil
}

// fields takes m apart.
func (c *Codec[T]) fields(m *T) fields {
	v := reflect.ValueOf(m).Elem()
	out := fields{make([]any, len(c.slots)), v.Field(c.unknown).Addr().Interface().(*Unknown)}
	for i := range c.slots {
		out.values[i] = v.Field(c.slots[i].index).Addr().Interface()
	}
	return out
}

// slot returns the slot of a field number; nil if the struct has none.
func (c *layout) slot(num int) *slot {
	if num < len(c.byNum) && c.byNum[num] > 0 {
		return &c.slots[c.byNum[num]-1]
	}
	return nil
}

// holds reports whether a Go type can hold the field.
func (f *Field) holds(t reflect.Type) bool {
	many := f.Repeated || f.Key != 0
	switch t {
	case reflect.TypeFor[[]byte]():
		return !many && f.Kind.wire() == Bytes
	case reflect.TypeFor[uint64]():
		return !many && f.Kind.wire() == Varint && f.Kind != Bool
	case reflect.TypeFor[bool]():
		return !many && f.Kind == Bool
	case reflect.TypeFor[ID]():
		return !many && f.Kind == Ref
	case reflect.TypeFor[[]ID]():
		return f.Repeated && f.Kind == Ref
	case reflect.TypeFor[List]():
		return f.Repeated && f.Kind.wire() == Bytes && f.Kind != Ref || f.Key == String && f.Kind.wire() == Bytes
	}
	return false
}

// Decode returns the message in b. What it returns refers to b. What the struct cannot
// hold is in its Unknown: fields it has no place for, values of another type, refs that
// are not ids, all but the last of several values, and the end of a message cut short.
func (c *Codec[T]) Decode(b []byte) *T {
	m := new(T)
	(&decoder{fields: c.fields(m)}).decode(&c.layout, b)
	return m
}

// Reused is a struct that one message after another is decoded into.
type Reused[T any] struct {
	codec   *Codec[T]
	value   T
	decoder decoder
}

// Reuse returns a struct for many messages. It is taken apart once, which costs more than
// decoding a small message.
func (c *Codec[T]) Reuse() *Reused[T] {
	r := &Reused[T]{codec: c}
	r.decoder.fields = c.fields(&r.value)
	return r
}

// Decode is Codec.Decode, into the struct that the last call returned.
func (r *Reused[T]) Decode(b []byte) *T {
	u := r.decoder.unknown
	marks := u.marks[:0]
	r.value = *new(T)
	u.marks = marks
	r.decoder.decode(&r.codec.layout, b)
	return &r.value
}

// decoder fills one struct.
type decoder struct {
	Reader
	fields
	strays    run    // the unknown fields
	list      *slot  // the list that was last added to
	items     run    // its values
	displaced []byte // values that a later one replaced
	merged    uint64 // slots that hold several messages
}

func (d *decoder) decode(c *layout, b []byte) {
	u := d.unknown
	d.b, d.at, d.list, d.displaced, d.merged = b, 0, nil, nil, 0
	for last := 0; d.Next(); {
		s := c.slot(d.Num)
		if s == nil || !(s.any && d.Type == s.typ || s.field.Fits(&d.Reader)) || !d.take(s, d.values[s.at]) {
			d.stray()
			continue
		}
		u.Fields++
		if d.Num < last || len(d.Raw)-len(d.Body) > 2 && len(d.Raw) != d.size() { // two bytes are a short tag and a short number
			u.NonCanonical = true
		}
		last = d.Num
	}
	if d.displaced != nil {
		u.marks = slices.Insert(u.marks, 0, place{0, len(d.displaced)})
		u.Raw = append(d.displaced, u.Raw...)
	}
	if rest := d.Rest(); len(rest) > 0 {
		u.Cut, u.Raw = len(rest), append(u.Raw, rest...)
	}
}

// stray makes the current field an unknown one.
func (d *decoder) stray() {
	u, size := d.unknown, len(d.Raw)
	u.Raw = d.strays.extend(u.Raw, d.b, d.at-size, d.at)
	if k := len(u.marks) - 1; k >= 0 && u.marks[k].before == u.Fields {
		u.marks[k].size += size
	} else {
		u.marks = append(u.marks, place{u.Fields, size})
	}
}

// take puts the current field into the struct's field that p points to. It returns false
// if the value is not one that p can hold.
func (d *decoder) take(s *slot, p any) bool {
	switch p := p.(type) {
	case *[]byte:
		if *p == nil {
			*p = d.Body
			return true
		}
		if s.field.Kind == Nested {
			return d.merge(s, p)
		}
		d.displace(s, p)
		*p = d.Body
	case *uint64:
		d.displace(s, p)
		*p = d.Uint
		d.stateZero(s, d.Uint)
	case *bool:
		d.displace(s, p)
		*p = d.Uint != 0
		d.stateZero(s, d.Uint)
	case *ID:
		id, ok := AsID(d.Body)
		if !ok || id == (ID{}) {
			return false
		}
		d.displace(s, p)
		*p = id
	case *[]ID:
		return d.takeIDs(p)
	case *List:
		return d.takeItem(s, p)
	}
	return true
}

// merge takes a nested message that is there again: it is what all of them hold together.
// One that is cut short is none of them, as it would spoil what follows.
func (d *decoder) merge(s *slot, p *[]byte) bool {
	d.unknown.NonCanonical = true
	switch {
	case len(Tail(d.Body)) > 0:
		return false
	case d.merged&s.bit == 0 && len(Tail(*p)) > 0:
		d.displace(s, p)
		*p = d.Body
	default:
		d.merged |= s.bit
		*p = append(*p, d.Body...)
	}
	return true
}

// displace makes an unknown field of the value that p already holds. Of several values
// the last one counts, so that Append has to write the others first.
func (d *decoder) displace(s *slot, p any) {
	n := len(d.displaced)
	if d.displaced = d.unknown.encode(d.displaced, s, p); len(d.displaced) > n {
		d.unknown.NonCanonical = true
		d.unknown.Fields--
	}
}

func (d *decoder) stateZero(s *slot, v uint64) {
	if d.unknown.zero &^= s.bit; v == 0 {
		d.unknown.zero |= s.bit
	}
}

// takeIDs takes an id and those behind it that are spelled alike, of which the root of a
// long conversation has hundreds of thousands.
func (d *decoder) takeIDs(p *[]ID) bool {
	id, ok := AsID(d.Body)
	if !ok {
		return false
	}
	size, head := len(d.Raw), string(d.Raw[:len(d.Raw)-len(d.Body)])
	n := 0
	for at := d.at; len(d.b)-at >= size && string(d.b[at:at+len(head)]) == head; at += size {
		n++
	}
	*p = append(slices.Grow(*p, 1+n), id)
	for range n {
		*p = append(*p, ID(d.b[d.at+len(head):]))
		d.at += size
	}
	d.unknown.Fields += n
	return true
}

func (d *decoder) takeItem(s *slot, p *List) bool {
	if s.field.Key != 0 {
		_, value, ok := MapEntry(d.Body)
		if _, isID := AsID(value); !ok || s.field.Kind == Ref && !isID {
			return false
		}
	}
	if d.list != s {
		d.list, d.items = s, run{end: -1}
	}
	*p = d.items.extend(*p, d.b, d.at-len(d.Raw), d.at)
	return true
}

// run is a piece of the input that a list of bytes is a view of.
type run struct{ from, end int }

// extend appends b[from:to] to list: without copying if that makes the list one piece of b.
func (r *run) extend(list, b []byte, from, to int) []byte {
	switch {
	case len(list) == 0:
		r.from, r.end = from, to
		return b[from:to:to]
	case r.end == from:
		r.end = to
		return b[r.from:to:to]
	}
	r.end = -1
	return append(list, b[from:to]...)
}

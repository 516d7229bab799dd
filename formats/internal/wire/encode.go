package wire

import "math"

// Append appends the message that m holds. Fields are written in the order of their
// numbers, as the client writes them; unknown fields where they stood among them. For a
// message that Decode made, and that is not NonCanonical, the bytes are those decoded.
func (c *Codec[T]) Append(dst []byte, m *T) []byte {
	from := c.fields(m)
	e := encoder{b: dst, unknown: from.unknown}
	for i := range c.slots {
		e.slot(&c.slots[i], from.values[i])
	}
	e.strays(math.MaxInt)
	return append(e.b, e.unknown.Raw[e.raw:]...) // what is not protobuf
}

// encoder writes one message.
type encoder struct {
	b       []byte
	unknown *Unknown
	fields  int // written
	mark    int // the next of unknown.marks
	raw     int // the next byte of unknown.Raw
}

// strays writes the unknown fields that come before the given field of the struct.
func (e *encoder) strays(before int) {
	for u := e.unknown; e.mark < len(u.marks) && u.marks[e.mark].before <= before; e.mark++ {
		end := e.raw + u.marks[e.mark].size
		e.b = append(e.b, u.Raw[e.raw:end]...)
		e.raw = end
	}
}

func (e *encoder) bytes(num int, b []byte) {
	e.strays(e.fields)
	e.b = appendBytes(e.b, num, b)
	e.fields++
}

func (e *encoder) varint(s *slot, v uint64) {
	if v == 0 && e.unknown.zero&s.bit == 0 {
		return
	}
	e.strays(e.fields)
	e.b = appendVarint(e.b, s.field.Num, v)
	e.fields++
}

// slot writes the struct's field that p points to.
func (e *encoder) slot(s *slot, p any) {
	num := s.field.Num
	switch p := p.(type) {
	case *[]byte:
		if *p != nil {
			e.bytes(num, *p)
		}
	case *uint64:
		e.varint(s, *p)
	case *bool:
		v := uint64(0)
		if *p {
			v = 1
		}
		e.varint(s, v)
	case *ID:
		if *p != (ID{}) {
			e.bytes(num, p[:])
		}
	case *[]ID:
		for i := range *p {
			e.bytes(num, (*p)[i][:])
		}
	case *List:
		for b := range p.All() {
			e.bytes(num, b)
		}
	}
}

// encode appends the struct's field that p points to, without the unknown fields around it.
func (u *Unknown) encode(dst []byte, s *slot, p any) []byte {
	e := encoder{b: dst, unknown: u, mark: len(u.marks)}
	e.slot(s, p)
	return e.b
}

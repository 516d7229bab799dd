package redact

import "encoding/binary"

// field is a field of a protobuf message.
type field struct {
	from, body, to int  // of the tag, the content, and the end
	bytes          bool // whether it has a length
}

// messageFields returns the next field of a message.
func nextField(b []byte, i int) (f field, ok bool) {
	f.from = i
	tag, n := binary.Uvarint(b[i:])
	if n <= 0 || tag>>3 == 0 || tag>>3 >= 1<<29 {
		return f, false
	}
	i += n
	f.body = i
	size := uint64(0)
	switch tag & 7 {
	case 0:
		if _, n = binary.Uvarint(b[i:]); n <= 0 {
			return f, false
		}
		size = uint64(n)
	case 1:
		size = 8
	case 5:
		size = 4
	case 2:
		if size, n = binary.Uvarint(b[i:]); n <= 0 {
			return f, false
		}
		f.body, f.bytes = i+n, true
	default:
		return f, false
	}
	if size > uint64(len(b)-f.body) {
		return f, false
	}
	f.to = f.body + int(size)
	return f, true
}

// isMessage reports whether bytes are fields of a message from the first to the last.
func isMessage(b []byte) bool {
	for i := 0; i < len(b); {
		f, ok := nextField(b, i)
		if !ok {
			return false
		}
		i = f.to
	}
	return len(b) > 0
}

// formOf returns the form of a field of a message: a message if it can be one and begins
// with a field of text.
func formOf(b []byte) Form {
	if len(b) > 1 && b[0]&7 == 2 && isMessage(b) && !isProse(b) {
		return Protobuf
	}
	return Unknown
}

// isProse reports whether fields are rather a text whose second letter happens to be the
// number of those that follow. A message of letters alone begins with field 1, which is a
// line feed, or it has several fields, in the order of their numbers, or one that is a
// message of field 1.
func isProse(b []byte) bool {
	if !isText(b) || b[0] == '\n' {
		return false
	}
	last, n := byte(0), 0
	for i := 0; i < len(b); n++ {
		f, ok := nextField(b, i)
		if !ok || b[i] < last {
			return true
		}
		if body := b[f.body:f.to]; f.bytes && len(body) > 1 && body[0] == '\n' && isMessage(body) {
			return false
		}
		last, i = b[i], f.to
	}
	return n < 2
}

// message returns a message without values; ok is false if it is none.
func (e *editor) message(b []byte, depth int) (out []byte, changed bool, err error, ok bool) {
	if !isMessage(b) {
		return b, false, nil, false
	}
	done := 0
	for i := 0; i < len(b); {
		f, _ := nextField(b, i)
		if i = f.to; !f.bytes {
			continue
		}
		body := b[f.body:f.to]
		with, c, err := e.value(body, formOf(body), depth+1)
		if err != nil {
			return nil, false, err, true
		}
		if !c {
			continue
		}
		_, n := binary.Uvarint(b[f.from:]) // the tag
		out = append(out, b[done:f.from+n]...)
		out = binary.AppendUvarint(out, uint64(len(with)))
		out = append(out, with...)
		done, changed = f.to, true
	}
	if !changed {
		return b, false, nil, true
	}
	return append(out, b[done:]...), true, nil, true
}

package wire

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"rehome/formats/loss"
	"rehome/internal/rawjson"
)

// fail records that the current field has to be kept raw.
func (w *Walker) fail(r *Reader) { w.failed = append(w.failed, r.at-len(r.Raw)) }

// field appends the value of a field that occurs count times in b[from:]. ok is false if
// there is nothing to append.
func (w *Walker) field(dst []byte, f *Field, b []byte, from, count int) (out []byte, ok bool) {
	r := Reader{b: b, at: from}
	switch {
	case f.Key != 0:
		return w.entries(dst, f, r), true
	case f.Repeated:
		return w.list(dst, f, r), true
	case f.Kind == Nested && count > 1:
		return w.merge(dst, f, r)
	}
	for r.Next() {
		if r.Num == f.Num && f.Fits(&r) {
			dst, ok, lost := w.value(dst, f, &r)
			if !ok || lost {
				w.fail(&r)
			}
			return dst, ok
		}
	}
	return dst, false
}

// merge appends a message that occurs several times. As protobuf defines it, its fields
// are those of all occurrences.
func (w *Walker) merge(dst []byte, f *Field, r Reader) (out []byte, ok bool) {
	from, again := len(w.merged), r
	for r.Next() {
		if r.Is(f.Num, Bytes) {
			w.merged = append(w.merged, r.Body...)
		}
	}
	dst, ok = w.message(dst, f.Message, w.merged[from:], false)
	w.merged = w.merged[:from]
	for !ok && again.Next() {
		if again.Is(f.Num, Bytes) {
			w.fail(&again)
		}
	}
	return dst, ok
}

// value appends one value. ok is false if the value cannot be spelled as JSON, lost is
// true if only part of it can.
func (w *Walker) value(dst []byte, f *Field, r *Reader) (out []byte, ok, lost bool) {
	switch f.Kind {
	case Nested:
		dst, ok = w.message(dst, f.Message, r.Body, false)
		return dst, ok, false
	case Value:
		dst, ok = w.anything(dst, r.Body)
		return dst, ok, false
	case Struct:
		dst, ok = w.object(dst, r.Body)
		return dst, ok, false
	case String:
		dst, lost = w.appendText(dst, r.Body)
		return dst, true, lost
	case Ref, Blob:
		if f.Kind == Ref && w.Ref != nil {
			w.Ref(f, r.Body)
		}
		return AppendBase64(dst, r.Body), true, false
	}
	return f.appendScalar(dst, f.Kind, r.Uint), true, false
}

func (w *Walker) appendText(dst, text []byte) (out []byte, lost bool) {
	if utf8.Valid(text) {
		return rawjson.Quote(dst, text), false
	}
	w.note(loss.TextRepairedKept)
	return rawjson.Quote(dst, bytes.ToValidUTF8(text, []byte("\uFFFD"))), true
}

// list appends the values of a repeated field.
func (w *Walker) list(dst []byte, f *Field, r Reader) []byte {
	dst = append(dst, '[')
	empty := len(dst)
	for r.Next() {
		if r.Num != f.Num || !f.Fits(&r) {
			continue
		}
		mark := len(dst)
		if r.Type == Bytes && f.Kind.wire() != Bytes {
			dst = f.appendPacked(dst, empty, r.Body)
			continue
		}
		if mark > empty {
			dst = append(dst, ',')
		}
		var ok, lost bool
		if dst, ok, lost = w.value(dst, f, &r); !ok {
			dst = dst[:mark]
		}
		if !ok || lost {
			w.fail(&r)
		}
	}
	return append(dst, ']')
}

func (f *Field) appendPacked(dst []byte, empty int, b []byte) []byte {
	for i := 0; i < len(b); {
		var v uint64
		if v, i = f.packed(b, i); i < 0 {
			return dst
		}
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		dst = f.appendScalar(dst, f.Kind, v)
	}
	return dst
}

// entries appends a map.
func (w *Walker) entries(dst []byte, f *Field, r Reader) []byte {
	dst = append(dst, '{')
	empty := len(dst)
	for r.Next() {
		if !r.Is(f.Num, Bytes) {
			continue
		}
		mark := len(dst)
		if mark > empty {
			dst = append(dst, ',')
		}
		var ok, lost bool
		if dst, ok, lost = w.entry(dst, f, r.Body); !ok {
			dst = dst[:mark]
		}
		if !ok || lost {
			w.fail(&r)
		}
	}
	return append(dst, '}')
}

func (w *Walker) entry(dst []byte, f *Field, b []byte) (out []byte, ok, lost bool) {
	key, value := Reader{Type: f.Key.wire()}, Reader{Type: f.Kind.wire()}
	r := Read(b)
	for r.Next() {
		switch {
		case r.Is(keyNum, key.Type):
			key = r
		case r.Is(valueNum, value.Type):
			value = r
		default:
			lost = true
		}
	}
	if len(r.Rest()) > 0 {
		w.note(loss.ProtobufCut)
		return dst, false, true
	}
	if f.Key == String {
		var part bool
		dst, part = w.appendText(dst, key.Body)
		lost = lost || part
	} else {
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, int64(key.Uint), 10)
		dst = append(dst, '"')
	}
	dst = append(dst, ':')
	dst, ok, part := w.value(dst, f, &value)
	return dst, ok, lost || part
}

// AppendBase64 appends bytes as a JSON string.
func AppendBase64(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// Fits reports whether the current field has the wire type of its kind.
func (f *Field) Fits(r *Reader) bool {
	if f.Key != 0 {
		return r.Type == Bytes
	}
	t := f.Kind.wire()
	if r.Type == t {
		return f.Kind != Bool || r.Uint <= 1
	}
	return f.Repeated && r.Type == Bytes && t != Bytes && f.packs(r.Body)
}

// packs reports whether b is a sequence of packed values of the field's kind.
func (f *Field) packs(b []byte) bool {
	for i := 0; i < len(b); {
		_, next := f.packed(b, i)
		if next < 0 {
			return false
		}
		i = next
	}
	return true
}

// packed returns the packed value at b[i] and the index after it, -1 if there is none.
func (f *Field) packed(b []byte, i int) (uint64, int) {
	width := 0
	switch f.Kind.wire() {
	case Varint:
		return varint(b, i)
	case Fixed32:
		width = 4
	case Fixed64:
		width = 8
	}
	if width == 0 || len(b)-i < width {
		return 0, -1
	}
	var v uint64
	for k := width - 1; k >= 0; k-- {
		v = v<<8 | uint64(b[i+k])
	}
	return v, i + width
}

package wire

import (
	"encoding/binary"
	"slices"
	"strconv"

	"rehome/formats/loss"
)

// objectWriter appends the members of one object.
type objectWriter struct {
	b    []byte
	some bool
}

func (p *objectWriter) comma() {
	if p.some {
		p.b = append(p.b, ',')
	}
	p.some = true
}

func (p *objectWriter) name(name string) {
	p.comma()
	p.b = append(p.b, '"')
	p.b = append(p.b, name...)
	p.b = append(p.b, '"', ':')
}

// strays appends the fields that have no place of their own, by number; the whole message
// if they are many.
func (w *Walker) strays(p *objectWriter, fr *frame) {
	slices.Sort(w.failed[fr.failed:])
	var found [maxStrays]Reader
	count := 0
	for r := Read(fr.b); r.Next(); {
		if w.stray(fr, &r) {
			if count < maxStrays {
				found[count] = r
			}
			count++
		}
	}
	w.Strays += int64(count)
	if count > maxStrays {
		p.name("#")
		p.b = AppendBase64(append(p.b, `{"base64":`...), fr.b)
		p.b = append(p.b, '}')
		return
	}
	list := found[:count]
	slices.SortStableFunc(list, func(a, b Reader) int { return a.Num - b.Num })
	for i := range list {
		again := i > 0 && list[i-1].Num == list[i].Num
		more := i+1 < count && list[i+1].Num == list[i].Num
		if again {
			p.b = append(p.b, ',')
		} else {
			p.name("#" + strconv.Itoa(list[i].Num))
		}
		if more && !again {
			p.b = append(p.b, '[')
		}
		p.b = AppendField(p.b, &list[i])
		if again && !more {
			p.b = append(p.b, ']')
		}
	}
}

// stray reports whether the current field is kept raw, and notes the reason if that has
// not been done.
func (w *Walker) stray(fr *frame, r *Reader) bool {
	f := fr.m.Field(r.Num)
	if f == nil {
		return true
	}
	if !f.Fits(r) {
		w.note(loss.ProtobufOddField)
		return true
	}
	at := r.at - len(r.Raw)
	if f.one > 0 && w.ones[fr.one+f.one] != f.index || f.single() && w.spans[fr.span+f.index].last != at {
		w.note(loss.ProtobufOverridden)
		return true
	}
	_, failed := slices.BinarySearch(w.failed[fr.failed:], at)
	return failed
}

// AppendField appends a field in its raw form: {"field":99,"wire":2,"base64":"…"}, a
// Varint as {"field":99,"wire":0,"value":"5"}.
func AppendField(dst []byte, r *Reader) []byte {
	dst = append(dst, `{"field":`...)
	dst = strconv.AppendInt(dst, int64(r.Num), 10)
	dst = append(dst, `,"wire":`...)
	dst = strconv.AppendInt(dst, int64(r.Type), 10)
	switch r.Type {
	case Varint:
		dst = append(dst, `,"value":"`...)
		dst = strconv.AppendUint(dst, r.Uint, 10)
		return append(dst, '"', '}')
	case Fixed32:
		dst = AppendBase64(append(dst, `,"base64":`...), binary.LittleEndian.AppendUint32(nil, uint32(r.Uint)))
	case Fixed64:
		dst = AppendBase64(append(dst, `,"base64":`...), binary.LittleEndian.AppendUint64(nil, r.Uint))
	default:
		dst = AppendBase64(append(dst, `,"base64":`...), r.Body)
	}
	return append(dst, '}')
}

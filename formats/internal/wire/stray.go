package wire

import (
	"encoding/binary"
	"slices"
	"strconv"

	"rehome/formats/loss"
)

// pen writes the members of one object.
type pen struct {
	b    []byte
	some bool
}

func (p *pen) comma() {
	if p.some {
		p.b = append(p.b, ',')
	}
	p.some = true
}

func (p *pen) name(name string) {
	p.comma()
	p.b = append(p.b, '"')
	p.b = append(p.b, name...)
	p.b = append(p.b, '"', ':')
}

// strays appends what has no place of its own, by number; as it stood where
// that is a lot.
func (w *Walker) strays(p *pen, fr *frame) {
	slices.Sort(w.failed[fr.failed:])
	var found [mostStrays]Reader
	count := 0
	for r := Read(fr.b); r.Next(); {
		if w.stray(fr, &r) {
			if count < mostStrays {
				found[count] = r
			}
			count++
		}
	}
	w.Strays += int64(count)
	if count > mostStrays {
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

// stray reports whether an occurrence is kept raw, and notes why where nobody
// has yet.
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

// AppendField appends a field as it stood: {"field":99,"wire":2,"base64":"…"},
// a Varint as {"field":99,"wire":0,"value":"5"}.
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

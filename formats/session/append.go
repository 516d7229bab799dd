package session

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"
)

// AppendHead appends the line of a session head, without a line break.
func AppendHead(dst []byte, s *Session) []byte { return appendLine(dst, s) }

// AppendMessage appends the line of a message, without a line break.
func AppendMessage(dst []byte, m *Message) []byte { return appendLine(dst, m) }

// AppendFile appends the line of a file snapshot, without a line break.
func AppendFile(dst []byte, f *File) []byte { return appendLine(dst, f) }

func appendLine(dst []byte, r Record) []byte {
	w := &writer{b: dst}
	w.record(r)
	return w.b
}

// writer is a Visitor that writes the members.
type writer struct {
	b     []byte
	comma bool
}

func (w *writer) record(r Record) {
	w.b = append(w.b, '{')
	w.comma = false
	r.members(w)
	w.b = append(w.b, '}')
	w.comma = true
}

func (w *writer) Required(name string, value any) {
	w.next()
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
	w.value(value)
}

func (w *writer) Optional(name string, value any) {
	if !empty(value) {
		w.Required(name, value)
	}
}

// next starts a member or an element.
func (w *writer) next() {
	if w.comma {
		w.b = append(w.b, ',')
	}
	w.comma = true
}

// empty reports whether an optional member of this value is absent.
func empty(value any) bool {
	switch v := value.(type) {
	case *string:
		return *v == ""
	case *Stamp:
		return !v.Known()
	case *[]Extra:
		return len(*v) == 0
	case *bool:
		return !*v
	case *Raw:
		return len(*v) == 0
	case *[]string:
		return len(*v) == 0
	case *[]Part:
		return len(*v) == 0
	case *int:
		return *v == 0
	case *int64:
		return *v == 0
	case *Count:
		return *v < 0
	case *[]byte:
		return *v == nil
	case *UTF8:
		return !utf8.Valid(*v)
	case *Binary:
		return utf8.Valid(*v)
	case Object:
		return v.Get() == nil
	case Objects:
		return v.Len() == 0
	}
	return false
}

func (w *writer) value(value any) {
	switch v := value.(type) {
	case *string:
		w.b = AppendString(w.b, *v)
	case Constant:
		w.b = append(w.b, v...)
	case *Stamp:
		w.b = AppendStamp(w.b, *v)
	case *Raw:
		w.b = append(w.b, *v...)
	case *bool:
		w.b = strconv.AppendBool(w.b, *v)
	case *int:
		w.b = appendInt(w.b, int64(*v))
	case *int64:
		w.b = appendInt(w.b, *v)
	case *Count:
		w.b = appendInt(w.b, int64(*v))
	case *UTF8:
		w.b = AppendString(w.b, string(*v))
	case *Binary:
		w.base64(*v)
	case *[]byte:
		w.base64(*v)
	case Object:
		w.record(v.Get())
	default:
		w.array(value)
	}
}

func (w *writer) base64(data []byte) {
	w.b = append(w.b, '"')
	w.b = base64.StdEncoding.AppendEncode(w.b, data)
	w.b = append(w.b, '"')
}

func (w *writer) array(value any) {
	w.b = append(w.b, '[')
	w.comma = false
	switch list := value.(type) {
	case *[]string:
		for _, text := range *list {
			w.next()
			w.b = AppendString(w.b, text)
		}
	case *[]Part:
		for _, p := range *list {
			w.next()
			w.record(p)
		}
	case *[]Extra:
		for i := range *list {
			w.next()
			w.record(&(*list)[i])
		}
	case Objects:
		for i := range list.Len() {
			w.next()
			w.record(list.At(i))
		}
	}
	w.b = append(w.b, ']')
	w.comma = true
}

// Package object writes JSON objects.
package object

import (
	"strconv"

	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// Writer writes an object, member by member. B is the text so far.
type Writer struct {
	B    []byte
	some bool
}

// New begins an object after dst.
func New(dst []byte) Writer { return Writer{B: append(dst, '{')} }

// Name begins a member. The caller writes the value. name needs no escape.
func (w *Writer) Name(name string) {
	if w.some {
		w.B = append(w.B, ',')
	}
	w.some = true
	w.B = append(append(append(w.B, '"'), name...), '"', ':')
}

// Text writes a string.
func (w *Writer) Text(name, text string) {
	w.Name(name)
	w.B = session.AppendString(w.B, text)
}

// NonEmpty writes a string, unless it is empty.
func (w *Writer) NonEmpty(name, text string) {
	if text != "" {
		w.Text(name, text)
	}
}

// Raw writes a value that is JSON.
func (w *Writer) Raw(name string, raw []byte) {
	w.Name(name)
	w.B = append(w.B, raw...)
}

// Flag writes a boolean.
func (w *Writer) Flag(name string, set bool) {
	w.Name(name)
	w.B = strconv.AppendBool(w.B, set)
}

// Num writes a number.
func (w *Writer) Num(name string, n int) {
	w.Name(name)
	w.B = strconv.AppendInt(w.B, int64(n), 10)
}

// Texts writes an array of strings.
func (w *Writer) Texts(name string, list []string) {
	w.array(name, len(list), func(i int) { w.B = session.AppendString(w.B, list[i]) })
}

// List writes an array with an object for each item, with the members that fill writes.
func List[T any](w *Writer, name string, list []T, fill func(o *Writer, item T)) {
	w.array(name, len(list), func(i int) {
		o := New(w.B)
		fill(&o, list[i])
		w.B = o.Done()
	})
}

func (w *Writer) array(name string, n int, element func(i int)) {
	w.Name(name)
	w.B = append(w.B, '[')
	for i := range n {
		if i > 0 {
			w.B = append(w.B, ',')
		}
		element(i)
	}
	w.B = append(w.B, ']')
}

// Done ends the object and returns the text.
func (w *Writer) Done() []byte { return append(w.B, '}') }

// Array returns an array of objects, one for each object in list, with the members that
// fill writes; n counts the elements from 1. It returns nil if list is not an array.
func Array(list []byte, fill func(n int, item []byte, o *Writer)) []byte {
	if len(list) == 0 || list[0] != '[' {
		return nil
	}
	out, n := []byte{'['}, 0
	for item := range rawjson.Elements(list) {
		n++
		if item[0] != '{' {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		o := New(out)
		fill(n, item, &o)
		out = o.Done()
	}
	return append(out, ']')
}

package schemas

import "bytes"

// reducer reduces documents to their shapes, each in one pass. It rejects anything
// unusual: a name with an escape, a huge number, invalid JSON.
//
// In a shape a text is "" or "x", and an integer is 0 or -1. A text with patterns is the
// first text that matched them. Exact members keep their scalars, opaque members are 0,
// and equal elements in sequence are one.
type reducer struct {
	names map[string]treatment
	like  map[string]string // by treatment.rules: the first text that matched
	out   []byte
	open  []level
}

// level is an open object or array.
type level struct {
	object bool
	treat  treatment // of the elements of an array
	last   int       // array: start of the previous element in out, -1 if there is none
	here   int       // array: start of the current element
}

// maxKept is the maximum length of what a shape keeps verbatim.
const maxKept = 64

// reduce returns the shape of a document, which is valid until the next call.
func (r *reducer) reduce(doc []byte) ([]byte, bool) {
	r.out, r.open = r.out[:0], r.open[:0]
	i, ok := r.value(doc, skip(doc, 0), treatment{})
	for ok && len(r.open) > 0 {
		i, ok = r.step(doc, skip(doc, i))
	}
	return r.out, ok && skip(doc, i) == len(doc)
}

// step reads what follows a value, or the start of an object or array.
func (r *reducer) step(b []byte, i int) (int, bool) {
	top := &r.open[len(r.open)-1]
	if i >= len(b) {
		return i, false
	}
	began := r.out[len(r.out)-1] == '{' || r.out[len(r.out)-1] == '['
	if !began && !top.object {
		r.collapse(top)
	}
	switch c := b[i]; {
	case c == '}' && top.object, c == ']' && !top.object:
		r.out = append(r.out, c)
		r.open = r.open[:len(r.open)-1]
		return i + 1, true
	case c == ',' && !began:
		r.out = append(r.out, ',')
		i = skip(b, i+1)
	case !began:
		return i, false
	}
	if !top.object {
		top.here = len(r.out)
		return r.value(b, i, top.treat)
	}
	return r.member(b, i)
}

// collapse removes the last element, with its comma, if it equals the previous one.
func (r *reducer) collapse(top *level) {
	if n := len(r.out) - top.here; top.last >= 0 && top.here-1-top.last == n && bytes.Equal(r.out[top.last:top.here-1], r.out[top.here:]) {
		r.out = r.out[:top.here-1]
		return
	}
	top.last = top.here
}

func (r *reducer) member(b []byte, i int) (int, bool) {
	if i >= len(b) || b[i] != '"' {
		return i, false
	}
	end, plain := text(b, i+1)
	if !plain || end > len(b) {
		return i, false
	}
	name := b[i+1 : end-1]
	if len(name) > maxKept {
		return i, false
	}
	r.out = append(append(r.out, b[i:end]...), ':')
	i = skip(b, end)
	if i >= len(b) || b[i] != ':' {
		return i, false
	}
	return r.value(b, skip(b, i+1), r.names[string(name)])
}

// value reads a scalar, an opaque value, or the bracket that opens a container.
func (r *reducer) value(b []byte, i int, t treatment) (int, bool) {
	if i >= len(b) {
		return i, false
	}
	c := b[i]
	if t.opaque && (c != '"' || !t.texts) {
		r.out = append(r.out, '0')
		return foreign(b, i, maxDepth-len(r.open))
	}
	switch {
	case c == '"':
		return r.text(b, i, t)
	case c == '{' || c == '[':
		if len(r.open) == maxDepth {
			return i, false
		}
		r.out = append(r.out, c)
		in := level{object: c == '{', last: -1}
		if c == '[' {
			in.treat = t
		}
		r.open = append(r.open, in)
		return i + 1, true
	case c == '-' || c-'0' <= 9:
		return r.number(b, i, t)
	}
	end := word(b, i)
	r.out = append(r.out, b[i:max(i, end)]...)
	return end, end > 0
}

func (r *reducer) text(b []byte, i int, t treatment) (int, bool) {
	end, plain := text(b, i+1)
	if end > len(b) {
		return i, false
	}
	whole := b[i:end]
	switch {
	case t.exact:
		if !plain || len(whole) > maxKept {
			return i, false
		}
		r.out = append(r.out, whole...)
	case len(t.patterns) > 0:
		if !plain || len(whole) > maxKept {
			return i, false
		}
		return end, r.patterned(whole, t)
	case len(whole) == 2:
		r.out = append(r.out, `""`...)
	default:
		r.out = append(r.out, `"x"`...)
	}
	return end, true
}

// patterned writes the first text that matched all patterns in place of one that does.
func (r *reducer) patterned(whole []byte, t treatment) bool {
	for _, p := range t.patterns {
		if !p.Match(whole[1 : len(whole)-1]) {
			return false
		}
	}
	like, ok := r.like[t.rules]
	if !ok {
		if r.like == nil {
			r.like = map[string]string{}
		}
		like = string(whole)
		r.like[t.rules] = like
	}
	r.out = append(r.out, like...)
	return true
}

func (r *reducer) number(b []byte, i int, t treatment) (int, bool) {
	end, whole := number(b, i)
	if end < 0 || end-i > maxKept || !whole && boundedNumber(b[i:end]) != nil {
		return i, false
	}
	switch {
	case t.exact || !whole || b[i] == '-' && b[i+1] == '0':
		r.out = append(r.out, b[i:end]...)
	case b[i] == '-':
		r.out = append(r.out, "-1"...)
	case b[i] == '0':
		r.out = append(r.out, '0')
	default:
		r.out = append(r.out, '1')
	}
	return end, true
}

package members

import (
	"bytes"
	"strconv"
	"time"

	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// Fields is an object whose members are taken by name, in any order. Those that nobody
// took, or that were taken for another type than they have, are its Rest. What is taken is
// a view of the object.
type Fields struct {
	whole []byte
	path  string // before the names of the rest
	list  []field
}

type field struct {
	name, value []byte
	taken       bool
}

// Split returns the members of an object; none if b is not one. b must be valid JSON.
func Split(b []byte, path string) *Fields {
	f := &Fields{whole: b, path: path}
	if b = bytes.TrimLeft(b, " \t\r\n"); len(b) > 0 && b[0] == '{' {
		f.list = make([]field, 0, 8)
		for name, value := range rawjson.Members(b) {
			f.list = append(f.list, field{name: name, value: value})
		}
	}
	return f
}

// All returns the object.
func (f *Fields) All() []byte { return f.whole }

// find returns the last member with a name, as JavaScript does; nil if there is none.
func (f *Fields) find(name string) *field {
	for i := len(f.list) - 1; i >= 0; i-- {
		if string(f.list[i].name) == name {
			return &f.list[i]
		}
	}
	return nil
}

// Peek returns the value of a member, which stays in the rest; nil if it is absent or null.
func (f *Fields) Peek(name string) []byte {
	if m := f.find(name); m != nil && string(m.value) != "null" {
		return m.value
	}
	return nil
}

// Raw takes a member of any type; nil if it is absent or null.
func (f *Fields) Raw(name string) []byte { return f.take(name, func([]byte) bool { return true }) }

// take takes a member if its value is as wanted.
func (f *Fields) take(name string, wanted func([]byte) bool) []byte {
	m := f.find(name)
	switch {
	case m == nil:
		return nil
	case string(m.value) == "null":
		m.taken = true
		return nil
	case !wanted(m.value):
		return nil
	}
	m.taken = true
	return m.value
}

// Text takes a member that is a string.
func (f *Fields) Text(name string) string {
	return rawjson.Text(f.take(name, func(v []byte) bool { return v[0] == '"' }))
}

// List takes a member that is an array.
func (f *Fields) List(name string) []byte {
	return f.take(name, func(v []byte) bool { return v[0] == '[' })
}

// Members takes a member that is an object.
func (f *Fields) Members(name string) []byte {
	return f.take(name, func(v []byte) bool { return v[0] == '{' })
}

// Flag takes a member that is true or false.
func (f *Fields) Flag(name string) bool {
	return string(f.take(name, func(v []byte) bool { return v[0] == 't' || v[0] == 'f' })) == "true"
}

// Time takes a member that is a time: milliseconds, or text as in RFC 3339.
func (f *Fields) Time(name string) (at session.Stamp) {
	f.take(name, func(v []byte) bool {
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			at = session.Stored(n)
		} else if t, err := time.Parse(time.RFC3339Nano, rawjson.Text(v)); err == nil {
			at = session.Stored(t.UnixMilli())
		}
		return at.Known()
	})
	return at
}

// Set gives a member another value.
func (f *Fields) Set(name string, value []byte) {
	if m := f.find(name); m != nil {
		m.value = value
	} else {
		f.list = append(f.list, field{name: []byte(name), value: value})
	}
}

// Drop leaves members out of the rest: what they say is known otherwise.
func (f *Fields) Drop(names ...string) {
	for _, name := range names {
		if m := f.find(name); m != nil {
			m.taken = true
		}
	}
}

// Rest returns the members that were not taken, without secrets.
func (f *Fields) Rest() (out []session.Extra) {
	for i := range f.list {
		m := &f.list[i]
		if m.taken {
			continue
		}
		if raw := Bare(string(m.name), m.value); raw != nil {
			out = append(out, session.Extra{Name: f.path + string(m.name), Raw: raw})
		}
	}
	return out
}

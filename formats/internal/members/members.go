// Package members takes JSON objects apart for codecs that keep accounts: the
// members that somebody asks for by name, and all others as Extras, so that
// none is forgotten. Of two members of one name the last counts, as it does for
// JavaScript; the earlier one is an Extra.
//
// A member whose value is of another type than was asked for is an Extra too:
// it is kept as it stands, and reads as absent. Secrets are never kept.
package members

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/secret"
	"rehome/formats/session"
)

// Most is how many names can be asked for at once.
const Most = 24

// Object is one object taken apart. It may be used for one after the other.
type Object struct {
	names  []string
	path   string // in front of the names of extras
	found  [Most][]byte
	Extras []session.Extra // of this object; they own their bytes
	Count  int64           // members seen
}

// Split takes an object apart. b must be valid JSON, as rawjson.Line gives it;
// false if it is no object. What is found is a view of b.
func (o *Object) Split(b []byte, path string, names []string) bool {
	o.names, o.path, o.Extras, o.Count = names, path, nil, 0
	clear(o.found[:])
	b = bytes.TrimLeft(b, " \t\r\n")
	if len(b) == 0 || b[0] != '{' {
		return false
	}
	next := 0
	for name, value := range rawjson.Members(b) {
		o.Count++
		i := o.index(name, next)
		if i < 0 {
			o.keep(string(name), value)
			continue
		}
		if o.found[i] != nil {
			o.keep(names[i], o.found[i])
		}
		o.found[i], next = value, i+1
	}
	return true
}

// index finds a name, which is most often the next one.
func (o *Object) index(name []byte, next int) int {
	if next < len(o.names) && string(name) == o.names[next] {
		return next
	}
	for i, n := range o.names {
		if string(name) == n {
			return i
		}
	}
	return -1
}

// Account counts the members, once all that is wanted of the object was taken.
func (o *Object) Account() session.Account {
	extras := int64(len(o.Extras))
	return session.Account{Members: o.Count, MembersConverted: o.Count - extras, MembersRaw: extras}
}

// Raw is a member's value, nil if it is absent or null.
func (o *Object) Raw(i int) []byte {
	if string(o.found[i]) == "null" {
		return nil
	}
	return o.found[i]
}

// Has reports whether a member is there and not null.
func (o *Object) Has(i int) bool { return o.Raw(i) != nil }

// Text is a member that is a string.
func (o *Object) Text(i int) string {
	raw := o.Raw(i)
	if len(raw) == 0 || raw[0] == '"' {
		return rawjson.Text(raw)
	}
	o.Keep(i)
	return ""
}

// Int is a member that is a whole number, none if there is no such.
func (o *Object) Int(i int, none int64) int64 {
	raw := o.Raw(i)
	if raw == nil {
		return none
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(string(raw), 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	o.Keep(i)
	return none
}

// Flag is a member that is true or false.
func (o *Object) Flag(i int) bool {
	switch string(o.Raw(i)) {
	case "", "false":
	case "true":
		return true
	default:
		o.Keep(i)
	}
	return false
}

// Stamp is a member that is a time: milliseconds, or ISO 8601 text.
func (o *Object) Stamp(i int) session.Stamp {
	raw := o.Raw(i)
	switch {
	case raw == nil:
		return session.Stamp{}
	case raw[0] == '"':
		if t, err := time.Parse(time.RFC3339Nano, rawjson.Text(raw)); err == nil {
			return session.Stored(t.UnixMilli())
		}
	default:
		if ms, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return session.Stored(ms)
		}
		if f, err := strconv.ParseFloat(string(raw), 64); err == nil && math.Abs(f) < 1<<53 {
			o.keep(o.names[i], raw) // a part of a millisecond is kept
			return session.Stored(int64(math.Floor(f)))
		}
	}
	o.Keep(i)
	return session.Stamp{}
}

// Keep makes an Extra of a member that was asked for after all.
func (o *Object) Keep(i int) {
	if raw := o.Raw(i); raw != nil {
		o.keep(o.names[i], raw)
		o.found[i] = nil
	}
}

func (o *Object) keep(name string, raw []byte) {
	if raw = Bare(name, raw); raw != nil {
		o.Extras = append(o.Extras, session.Extra{Name: o.path + name, Raw: raw})
	}
}

// Bare is a copy of a member's value without secrets; nil if it is one.
func Bare(name string, raw []byte) session.Raw {
	quoted := session.AppendString(nil, name)
	if !secret.Suspect(quoted) && !secret.Suspect(raw) {
		return bytes.Clone(raw)
	}
	b := append(append(append([]byte{'{'}, quoted...), ':'), raw...)
	b, _, torn := secret.Strip(append(b, '}'))
	if torn {
		return nil
	}
	for _, value := range rawjson.Members(b) {
		return bytes.Clone(value)
	}
	return nil
}

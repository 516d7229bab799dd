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
	"slices"
	"strconv"
	"time"

	"rehome/formats/internal/secret"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// maxNames is how many names can be asked for at once.
const maxNames = 72

// Object is one object taken apart. It may be used for one after the other.
type Object struct {
	names  []string
	own    bool   // see Table.Own
	path   string // before the names of extras
	found  [maxNames][]byte
	Extras []session.Extra // of this object; they own their bytes
	Count  int64           // members seen
}

// Split takes an object apart by a few names. b must be valid JSON, as
// rawjson.Line gives it; false if it is not an object. What is found is a view
// of b.
func (o *Object) Split(b []byte, path string, names []string) bool {
	return o.split(b, path, names, nil)
}

// SplitBy is Split for the names of a table.
func (o *Object) SplitBy(b []byte, path string, t *Table) bool {
	return o.split(b, path, t.names, t)
}

func (o *Object) split(b []byte, path string, names []string, t *Table) bool {
	clear(o.found[:max(len(o.names), len(names))])
	o.names, o.own, o.path, o.Extras, o.Count = names, t != nil && t.Own, path, nil, 0
	b = bytes.TrimLeft(b, " \t\r\n")
	if len(b) == 0 || b[0] != '{' {
		return false
	}
	next, i := 0, 0
	for name, value := range rawjson.Members(b) {
		o.Count++
		if t != nil {
			i = t.index(name)
		} else {
			i = o.index(name, next)
		}
		switch {
		case i == idle && Empty(value):
			continue
		case i < 0:
			o.KeepAs(string(name), value)
			continue
		case o.found[i] != nil:
			o.KeepAs(names[i], o.found[i])
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

// Settle adds the members to an account, once, and gives the extras away.
func (o *Object) Settle(t *session.Account) []session.Extra {
	o.Count = max(o.Count, int64(len(o.Extras))) // several extras can be pieces of one member
	t.Add(o.Account())
	o.Count = 0
	return o.Extras
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

// Stated reports whether a member is there, even if it is null.
func (o *Object) Stated(i int) bool { return o.found[i] != nil }

// Full is a member's value, nil if it is absent or empty.
func (o *Object) Full(i int) []byte {
	if v := o.found[i]; v != nil && !Empty(v) {
		return v
	}
	return nil
}

// Name is the name of a member.
func (o *Object) Name(i int) string { return o.names[i] }

// Set replaces a member's value.
func (o *Object) Set(i int, value []byte) { o.found[i] = value }

// Drop leaves a member out, once what it says was taken.
func (o *Object) Drop(i int) { o.found[i] = nil }

// Text is a member that is a string.
func (o *Object) Text(i int) string {
	raw := o.Raw(i)
	if len(raw) == 0 || raw[0] == '"' {
		return rawjson.Text(raw)
	}
	o.Keep(i)
	return ""
}

// Whole is a member that is a whole number; false if it is absent or another.
func (o *Object) Whole(i int) (int64, bool) {
	raw := o.Raw(i)
	if raw == nil {
		return 0, false
	}
	n, ok := Whole(raw)
	if !ok {
		o.Keep(i)
	}
	return n, ok
}

// Int is Whole with a number for a member that is absent or another.
func (o *Object) Int(i int, none int64) int64 {
	if n, ok := o.Whole(i); ok {
		return n
	}
	return none
}

// Whole reads a whole number, also one that is spelled as a fraction.
func Whole(raw []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	if f, err := strconv.ParseFloat(string(raw), 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f), true
	}
	return 0, false
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
			o.KeepAs(o.names[i], raw) // a part of a millisecond is kept
			return session.Stored(int64(math.Floor(f)))
		}
	}
	o.Keep(i)
	return session.Stamp{}
}

// Keep makes an Extra of a member that was asked for after all.
func (o *Object) Keep(i int) {
	if raw := o.Raw(i); raw != nil {
		o.KeepAs(o.names[i], raw)
		o.found[i] = nil
	}
}

// KeepFull makes Extras of members, unless they are empty.
func (o *Object) KeepFull(list ...int) {
	for _, i := range list {
		if o.Full(i) != nil {
			o.Keep(i)
		}
	}
}

// KeepAs makes an Extra of a value, by a name.
func (o *Object) KeepAs(name string, raw []byte) {
	if o.own && secret.Credential(name, raw) {
		return
	}
	if raw = Bare(name, raw); raw != nil {
		o.Extras = append(o.Extras, session.Extra{Name: o.path + name, Raw: raw})
	}
}

// Kept reports whether a member that nobody asked for was there and is kept.
func (o *Object) Kept(name string) bool {
	return slices.ContainsFunc(o.Extras, func(e session.Extra) bool { return e.Name == o.path+name })
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

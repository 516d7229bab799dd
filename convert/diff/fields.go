package diff

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/session"
)

// comparable returns the head of a session without what never is the same: with cross,
// only what a migration keeps.
func comparable(s *session.Session, cross bool) *session.Session {
	k := *s
	k.ID, k.Missing = "", nil
	if cross {
		k = session.Session{Head: session.Head{Title: s.Title, Workspace: s.Workspace}, Plan: s.Plan}
		for _, t := range s.Todos {
			k.Todos = append(k.Todos, session.Todo{Content: t.Content, Status: t.Status})
		}
	}
	return &k
}

func headDigest(s *session.Session, cross bool) digest {
	k := comparable(s, cross)
	if k.Workspace = ""; cross { // see namedOtherwise
		k.Title = ""
	}
	return digestOf(string(session.AppendHead(nil, k)))
}

// headFields compares the heads of two sessions, see namedOtherwise.
func headFields(a, b []byte, cross bool) Fields {
	out := members(a, b)
	out.List = slices.DeleteFunc(out.List, func(f Field) bool {
		return (f.Name == "workspace" || cross && f.Name == "title") && (f.Before == "" || f.After == "")
	})
	return out
}

// Limits of members: how deep they are compared, and how many.
const (
	maxDepth  = 6
	maxFields = 50
)

// members returns the members of two JSON values that differ, by their path.
func members(a, b []byte) (out Fields) {
	addFields(&out, "", a, b, maxDepth)
	return out
}

func addFields(out *Fields, name string, a, b json.RawMessage, depth int) {
	if bytes.Equal(a, b) {
		return
	}
	x, y := named(a), named(b)
	if x == nil || y == nil {
		x, y = open(a), open(b)
	}
	if depth == 0 || x == nil || y == nil {
		out.add(Field{name, plain(a), plain(b)})
		return
	}
	before := len(out.List) + out.More
	all := maps.Clone(x)
	maps.Copy(all, y)
	for _, k := range slices.SortedFunc(maps.Keys(all), byNumber) {
		path := k
		if name != "" {
			path = name + "." + k
		}
		addFields(out, path, x[k], y[k], depth-1)
	}
	if len(out.List)+out.More == before && name != "" { // only in their order, or as text
		out.add(Field{name, plain(a), plain(b)})
	}
}

// add adds a member, or counts it.
func (f *Fields) add(one Field) {
	if len(f.List) == maxFields {
		f.More++
		return
	}
	f.List = append(f.List, one)
}

// byNumber orders names: numbers first, by value.
func byNumber(a, b string) int {
	x, xerr := strconv.Atoi(a)
	y, yerr := strconv.Atoi(b)
	switch {
	case xerr == nil && yerr == nil:
		return cmp.Compare(x, y)
	case xerr == nil:
		return -1
	case yerr == nil:
		return 1
	}
	return strings.Compare(a, b)
}

// named returns the elements of an array by their names, nil if not each has one of its own.
func named(raw json.RawMessage) map[string]json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	out := map[string]json.RawMessage{}
	for _, one := range list {
		var it struct{ Name string }
		if json.Unmarshal(one, &it) == nil && it.Name != "" {
			out[it.Name] = one
		}
	}
	if len(out) < max(len(list), 1) {
		return nil
	}
	return out
}

// open returns the members of an object or an array, nil of anything else. Those of an
// array are named by their number, from 1.
func open(raw json.RawMessage) map[string]json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil && object != nil {
		return object
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || list == nil {
		return nil
	}
	object = map[string]json.RawMessage{}
	for i, one := range list {
		object[strconv.Itoa(i+1)] = one
	}
	return object
}

// plain returns a string as it is, and any other value as JSON.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// callFields compares two calls and their results. What differs the same way in several
// places is named once.
func callFields(before, after *Part, cross bool) (out Fields) {
	if before == nil || after == nil || before.Call == nil && before.Result == nil || after.Call == nil && after.Result == nil {
		return out
	}
	seen := map[[2]string]bool{}
	skip := func(name string) bool { return before.isLong(name) || after.isLong(name) } // see longs
	out = members(callJSON(before, skip), callJSON(after, skip))
	out.List = slices.DeleteFunc(out.List, func(f Field) bool {
		key := [2]string{f.Before, f.After}
		again := seen[key]
		seen[key] = true
		return again || cross && f.Name != "result.error"
	})
	if cross {
		out.More = 0
	}
	return out
}

// callJSON returns a call as one JSON object, without the members to skip.
func callJSON(p *Part, skip func(name string) bool) []byte {
	doc := []byte(`{"tool":`)
	doc = session.AppendString(doc, p.Name)
	add := func(name string, raw []byte) {
		if json.Valid(raw) && !skip(name) {
			doc = append(append(doc, `,"`+strings.TrimPrefix(name, "result.")+`":`...), raw...)
		}
	}
	if c := p.Call; c != nil {
		add("args", c.Args)
		add("input", c.Input)
	}
	if r := p.Result; r != nil {
		doc = append(doc, `,"result":{"error":`+strconv.FormatBool(r.Error)+`,"status":`...)
		doc = session.AppendString(doc, r.Status)
		add("result.output", session.AppendString(nil, Output(r)))
		add("result.value", r.Value)
		doc = append(doc, '}')
	}
	return append(doc, '}')
}

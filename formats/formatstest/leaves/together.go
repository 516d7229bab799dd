package leaves

import (
	"iter"
	"slices"
	"strings"
	"testing"
)

// together tests that what a call has is in one record of the target, or one element of it, and what
// its result has in another one that names the call. Of a result, only what the model saw counts.
// A call or a result whose id is declared to be told somewhere must be so there, or a loss names it.
func (k *look) together(t testing.TB, to []wanted) {
	t.Helper()
	all := newLinks(to, "")
	told := map[string]*links{}
	for part := range parts(k.leaves) {
		if part[0].excused {
			continue
		}
		elsewhere := false
		for _, d := range part[0].rules {
			if d.Verb != "told" {
				continue
			}
			k.cover(d)
			if told[d.Of] == nil {
				told[d.Of] = newLinks(to, d.Of)
			}
			if elsewhere = true; !k.reported(part[0]) {
				told[d.Of].holds(t, part)
			}
		}
		if !elsewhere {
			all.holds(t, part)
		}
	}
}

// links are the calls and the results of a target, or of some of its tellings.
type links struct {
	where  string
	lines  map[*Record][]*wanted
	ids    map[string][]*wanted // of calls, and of the calls that results are of
	calls  map[string][]*wanted // those of calls by themselves
	kept   map[string][]*Record // the records that have an id of the source, beside that of a call
	args   map[string]bool      // what is beside the id of a call
	said   map[string]bool      // what tools say
	called map[string][]string  // ids in the target by those of the source
}

// newLinks finds calls and results in the tellings whose names begin with one of those in where,
// which "|" separates.
func newLinks(to []wanted, where string) *links {
	k := &links{where: where, lines: map[*Record][]*wanted{}, ids: map[string][]*wanted{}, calls: map[string][]*wanted{}, kept: map[string][]*Record{}, args: map[string]bool{}, said: map[string]bool{}, called: map[string][]string{}}
	tellings := strings.Split(where, "|")
	for i := range to {
		l := &to[i]
		if !slices.ContainsFunc(tellings, func(begin string) bool { return strings.HasPrefix(l.record.Telling, begin) }) {
			continue
		}
		if k.lines[l.record] = append(k.lines[l.record], l); strings.HasSuffix(l.Path, "rehome.call") {
			k.kept[l.Value] = append(k.kept[l.Value], l.record)
		}
		if slices.Contains(l.who, tool) {
			k.said[l.Value] = true
		}
		for _, d := range l.rules {
			if k.ids[d.Verb] = append(k.ids[d.Verb], l); d.Verb == "calls" {
				k.calls[l.Value] = append(k.calls[l.Value], l)
			}
		}
	}
	for _, l := range k.ids["calls"] {
		for _, o := range k.lines[l.record] {
			k.args[o.Value] = true
		}
	}
	return k
}

// holds tests it of a call or a result.
func (k *links) holds(t testing.TB, part []*wanted) {
	t.Helper()
	where := ""
	if k.where != "" {
		where = " in " + k.where
	}
	switch id := part[0].Value; part[0].Path {
	case "Parts.ToolCall.ID":
		if k.call(id, part); k.called[id] == nil {
			t.Errorf("apart: %s: no record%s has call %q with all of its arguments", part[0].record.At, where, id)
		}
	case "Parts.ToolResult.Call":
		if k.called[id] != nil && !slices.ContainsFunc(k.ids["answers"], func(o *wanted) bool {
			return slices.Contains(k.called[id], o.Value) && (o.beside(k.lines[o.record], part) || k.where != "" && k.recorded(o, part))
		}) {
			t.Errorf("apart: %s: no record%s has a result of call %q with all that it says", part[0].record.At, where, id)
		}
	}
}

// call finds the ids that a call has in the target.
func (k *links) call(id string, part []*wanted) {
	part = slices.DeleteFunc(slices.Clone(part), func(l *wanted) bool { // what has another form there
		return strings.Contains(l.Path, ".Args") && (len(l.Value) < 2*short || strings.Contains(l.Path, "#") || !k.args[l.Value])
	})
	known := k.calls[id] != nil || k.kept[id] != nil
	for _, o := range k.ids["calls"] {
		if (!known || o.Value == id || slices.Contains(k.kept[id], o.record)) && o.beside(k.lines[o.record], part) {
			k.called[id] = append(k.called[id], o.Value)
		}
	}
}

// recorded reports whether what a tool says beside an id is what the client records of a result:
// all of its record that any tool says; without one, only what the result and its call say.
func (k *links) recorded(id *wanted, part []*wanted) bool {
	var tools, values, known []*wanted
	for _, o := range k.lines[id.record] {
		if slices.Contains(o.who, model) {
			known = append(known, o)
		} else if slices.Contains(o.who, tool) && !o.plain() {
			tools = append(tools, o)
		}
	}
	for _, l := range part {
		if l.who != nil {
			known = append(known, l)
		}
		if strings.Contains(l.Path, ".Value") && !l.plain() && len(l.Value) >= short && k.said[l.Value] {
			values = append(values, l)
		}
	}
	missing := func(list []*wanted, part bool) func(l *wanted) bool {
		return func(l *wanted) bool {
			return !slices.ContainsFunc(list, func(o *wanted) bool { return o.Value == l.Value || part && strings.Contains(o.Value, l.Value) })
		}
	}
	if len(values) > 0 {
		return !slices.ContainsFunc(values, missing(tools, false))
	}
	return len(tools) > 0 && !slices.ContainsFunc(tools, missing(known, true))
}

// beside reports whether an id has beside it what somebody says in a part and was found: among the
// leaves of its record, but not in another element of the array that it is in.
func (l *wanted) beside(record []*wanted, part []*wanted) bool {
	end := strings.LastIndexByte(l.at, ']') + 1
	own, all := l.at[:end], l.at[:strings.LastIndexByte(l.at[:end], '[')+1]
	return !slices.ContainsFunc(part, func(said *wanted) bool {
		return said.who != nil && said.found && !strings.Contains(said.Path, ".Value") && !slices.ContainsFunc(record, func(o *wanted) bool {
			if all != "" && strings.HasPrefix(o.at, all) && !strings.HasPrefix(o.at, own) {
				return false
			}
			return o.Value == said.Value || said.Bytes && slices.Contains(slices.Concat(derivedKeys("base64", said.Leaf), derivedKeys("dataurl", said.Leaf)), o.key()) || len(said.Value) >= short && strings.Contains(o.Value, said.Value)
		})
	})
}

// parts yields the leaves of each call and each result.
func parts(list []wanted) iter.Seq[[]*wanted] {
	return func(yield func([]*wanted) bool) {
		for i := 0; i < len(list); {
			var part []*wanted
			for n := list[i].part; i < len(list) && list[i].part == n; i++ {
				part = append(part, &list[i])
			}
			if part[0].part > 0 && !yield(part) {
				return
			}
		}
	}
}

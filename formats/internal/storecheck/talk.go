package storecheck

import (
	"fmt"
	"strings"

	"rehome/formats/internal/agentstate"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// talk follows the calls and results in prompt messages. Messages come list by
// list: those that the model sees, and those that were archived, in no order
// between the two.
type talk struct {
	calls   map[string]*spoken
	results map[string]*spoken
	list    string    // of the message at hand
	last    []*spoken // the calls of the newest answer in it
}

// spoken is a call or a result.
type spoken struct {
	at      store.Addr
	pointer string
	late    bool // of a call: the conversation went on
}

// hear takes the next message.
func (t *talk) hear(g *Graph, id agentstate.ID, doc []byte, path string) {
	if t.calls == nil {
		t.calls, t.results = map[string]*spoken{}, map[string]*spoken{}
	}
	if list := strings.TrimRight(path, "/0123456789"); list != t.list {
		t.list, t.last = list, t.last[:0]
	}
	var role string
	var content []byte
	for name, value := range rawjson.Members(doc) {
		switch string(name) {
		case "role":
			role = rawjson.Text(value)
		case "content":
			content = value
		}
	}
	switch role {
	case "system", "tool":
	case "user", "assistant":
		for _, c := range t.last {
			c.late = true
		}
		t.last = t.last[:0]
	default:
		g.q.Reportf("RH412", g.addr(id), "")
		return
	}
	var heard []*spoken
	n := -1
	for part := range rawjson.Elements(content) {
		n++
		if s := t.part(part, n); s != nil {
			heard = append(heard, s)
		}
	}
	if len(heard) == 0 {
		return
	}
	at := g.addr(id) // it reads the row again: doc is not valid any more
	for _, s := range heard {
		s.at = at
	}
}

// part takes a part that is a call or a result, nil if it was heard before.
func (t *talk) part(part []byte, n int) *spoken {
	var kind, name string
	for member, value := range rawjson.Members(part) {
		switch string(member) {
		case "type":
			if kind = rawjson.Text(value); kind != "tool-call" && kind != "tool-result" {
				return nil
			}
		case "toolCallId":
			name = rawjson.Text(value)
		}
	}
	of := t.calls
	if kind == "tool-result" {
		of = t.results
	}
	if kind == "" || of[name] != nil {
		return nil
	}
	s := &spoken{pointer: fmt.Sprintf("/content/%d", n)}
	of[name] = s
	if kind == "tool-call" {
		s.late = strings.Contains(t.list, "/summarizedMessages")
		t.last = append(t.last, s)
	}
	return s
}

// finish tells of calls that never got a result, and of results of no call.
func (t *talk) finish(q *rule.Pass) {
	tell := func(id, name string, s *spoken) {
		q.Report(rule.Finding{Rule: id, At: s.at, Pointer: s.pointer, Message: "%q", Args: []any{rule.Clip(name)}})
	}
	for name, c := range t.calls {
		switch {
		case t.results[name] != nil:
		case c.late:
			tell("RH414", name, c)
		default:
			tell("RH413", name, c)
		}
	}
	for name, r := range t.results {
		if t.calls[name] == nil {
			tell("RH415", name, r)
		}
	}
}

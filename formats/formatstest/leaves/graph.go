package leaves

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// blob is a stored part of the state of a Cursor agent.
type blob struct {
	at   string // its address, as Message.Origin names it
	data []byte
}

// graph is the blobs of one agent. A blob does not say what it is: that follows from how a
// state refers to it. So the kind of its record is the way there by field numbers: `state` is the
// root, `state.8` a turn, `state.8.1.1` its prompt; of JSON also who speaks in it. `older` is what
// only the root of another state leads to, and `left` what no root leads to.
type graph struct {
	group string
	blobs map[string]blob // by id in hex
	order []string        // their ids, as stored
	again bool            // tell a blob as often as the state now refers to it
}

func newGraph(group string) *graph { return &graph{group: group, blobs: map[string]blob{}} }

func (g *graph) add(id, at string, data []byte) {
	id = strings.ToLower(id)
	if _, twice := g.blobs[id]; !twice {
		g.order = append(g.order, id)
	}
	g.blobs[id] = blob{at, data}
}

// mentions reports whether a text is in any of the blobs.
func (g *graph) mentions(text string) bool {
	for _, b := range g.blobs {
		if bytes.Contains(b.data, []byte(text)) {
			return true
		}
	}
	return false
}

// nested is the way to the state of a subagent, which is a state again.
var nested = regexp.MustCompile(`^(state|older)\.(?:16\.2|31\.2)\.1\.`)

// records returns a record for each blob: first what the roots lead to, by the number of steps.
// The first root is that of the state now.
func (g *graph) records(roots ...string) (out []Record) {
	type step struct{ id, kind string }
	seen := map[string]bool{}
	var todo []step
	kind := "state"
	for len(todo) > 0 || len(roots) > 0 {
		if len(todo) == 0 {
			todo, roots = append(todo, step{strings.ToLower(roots[0]), kind}), roots[1:]
			kind = "older"
		}
		s := todo[0]
		todo = todo[1:]
		b, stored := g.blobs[s.id]
		if seen[s.id] && !(g.again && kind == "older" && strings.HasPrefix(s.kind, "state")) || !stored {
			continue
		}
		seen[s.id] = true
		out = append(out, g.record(s.kind, b, func(path, id string) {
			to := s.kind + path
			for nested.MatchString(to) {
				to = nested.ReplaceAllString(to, "$1.")
			}
			todo = append(todo, step{id, to})
		}))
	}
	for _, id := range g.order {
		if !seen[id] {
			out = append(out, g.record("left", g.blobs[id], func(string, string) {}))
		}
	}
	return out
}

// record returns the leaves of a blob: a JSON document, a message, or bytes.
func (g *graph) record(kind string, b blob, refs func(path, id string)) Record {
	r := Record{At: b.at, Kind: kind + " -", Group: g.group, Telling: "steps"}
	if doc, err := Parse(b.data); err == nil && doc.Kind == '{' {
		r.Kind, r.Leaves, r.Telling = kind+" "+kindOf(doc, []string{"role"}), doc.Leaves(nil, ""), "prompts"
		r.Wide = kind == "left" && r.Kind == "left -"
		return r
	}
	p := protobuf{
		has:  func(id string) bool { _, ok := g.blobs[id]; return ok },
		refs: func(path, id string) { refs("."+path, id) },
		add:  func(l Leaf) { r.Leaves = append(r.Leaves, l) },
	}
	if !p.message("", b.data, 0) { // such as an image, which no message names
		r.Wide = true
		r.Leaves = nil
		if len(b.data) > 0 {
			r.Leaves = []Leaf{{Path: "-", Value: string(b.data), Bytes: !utf8.Valid(b.data)}}
		}
	}
	r.Wide = r.Wide || kind == "left" || kind == "state" || kind == "older" || strings.HasSuffix(kind, ".31.2")
	return r
}

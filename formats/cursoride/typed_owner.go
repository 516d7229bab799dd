package cursoride

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"rehome/formats/session"
)

// owners says whose a moment is, among the sessions of a workspace whose
// messages are gone: that of the only session which lasted over it.
type owners struct {
	from []int64
	of   []*entry // from that moment on; nil where there is none, several, or one that has its messages
}

func (o owners) at(s session.Stamp) *entry {
	i, found := slices.BinarySearch(o.from, s.Millis())
	if !found {
		i--
	}
	if !s.Known() || i < 0 {
		return nil
	}
	return o.of[i]
}

// settleTyped finds out which sessions the prompts in each list are of,
// and makes a session of the rest. Whether that is among what Heads lists only
// the lists themselves tell, for it reads no others: it is where there is no
// session that could hold the prompts, or one that has lost them.
func (x *index) settleTyped(ctx context.Context) error {
	groups := map[string][]*entry{}
	for _, e := range x.byID {
		if !e.remote && !e.draft && !e.subagent && !e.bestOf && e.parent.Session == "" {
			groups[e.space] = append(groups[e.space], e)
		}
	}
	for _, h := range x.typed {
		group := groups[h.space.key()]
		lost := make(map[*entry]bool, len(group))
		for _, e := range group {
			talked, err := x.talked(ctx, e)
			if err != nil {
				return err
			}
			if !talked {
				lost[e] = true
			}
		}
		h.owners = ownersOf(group, lost)
		list, err := x.prompts(ctx, h)
		if err != nil {
			return err
		}
		rest := false
		for _, t := range list {
			if t.owner != nil {
				own := *t
				own.twin, own.raw = nil, bytes.Clone(t.raw) // the list itself is let go of
				t.owner.prompts = append(t.owner.prompts, &own)
			}
			rest = rest || t.owner == nil
		}
		if rest {
			h.listed = len(group) == 0 || len(lost) > 0
			x.keepTyped(h)
		}
	}
	return nil
}

// keepTyped makes a session of a list, by a name that no other has.
func (x *index) keepTyped(h *typedLists) {
	id := h.space.name() + "-prompts"
	for x.byID[id] != nil {
		id += "+"
	}
	e := x.entry(id)
	e.body, e.where, e.space, e.title, e.asked = inTyped, h.space, h.space.key(), "Prompt history", h
	e.settle(x.place)
	h.rest = e
}

// key is a workspace as its sessions name it.
func (s *space) key() string {
	if s == nil {
		return ""
	}
	return s.id
}

// talked reports whether a session has a record or bubbles.
func (x *index) talked(ctx context.Context, e *entry) (bool, error) {
	if e.body != nowhere || x.global == nil || x.global.disk == nil {
		return e.body != nowhere, nil
	}
	prefix := bubbleRow + e.id + ":"
	_, some, err := x.global.disk.First(ctx, prefix, behind(prefix))
	return some, err
}

// ownersOf looks at when sessions began and when they last changed. Where that
// is not known of one, nothing is known of any.
func ownersOf(group []*entry, lost map[*entry]bool) (o owners) {
	type edge struct {
		at int64
		by int // 1: it began, -1: it ended
		of int
	}
	var edges []edge
	for i, e := range group {
		from, to := e.created, e.updated
		if lost[e] {
			to = cmp.Or(to, from)
		}
		if !from.Known() || !to.Known() || to.Millis() < from.Millis() {
			return owners{}
		}
		edges = append(edges, edge{from.Millis(), 1, i}, edge{to.Millis() + 1, -1, i})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	open, sum := 0, 0 // how many sessions last, and the sum of their numbers
	for i, e := range edges {
		open, sum = open+e.by, sum+e.by*e.of
		if i+1 < len(edges) && edges[i+1].at == e.at {
			continue
		}
		var of *entry
		if open == 1 && lost[group[sum]] {
			of = group[sum]
		}
		o.from, o.of = append(o.from, e.at), append(o.of, of)
	}
	return o
}

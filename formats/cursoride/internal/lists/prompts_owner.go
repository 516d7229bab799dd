package lists

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
	of   []*Entry // from that moment on; nil where there is none, several, or one that has its messages
}

func (o owners) at(s session.Stamp) *Entry {
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
func (x *Index) settleTyped(ctx context.Context) error {
	groups := map[string][]*Entry{}
	for _, e := range x.ByID {
		if !e.Remote && !e.Draft && !e.Subagent && !e.BestOf && e.Parent.Session == "" {
			groups[e.Workspace] = append(groups[e.Workspace], e)
		}
	}
	for _, h := range x.Typed {
		group := groups[h.Workspace.key()]
		lost := make(map[*Entry]bool, len(group))
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
		list, err := x.Prompts(ctx, h)
		if err != nil {
			return err
		}
		rest := false
		for _, t := range list {
			if t.Owner != nil {
				own := *t
				own.Twin, own.Raw = nil, bytes.Clone(t.Raw) // the list itself is let go of
				t.Owner.Prompts = append(t.Owner.Prompts, &own)
			}
			rest = rest || t.Owner == nil
		}
		if rest {
			h.Listed = len(group) == 0 || len(lost) > 0
			x.keepTyped(h)
		}
	}
	return nil
}

// keepTyped makes a session of a list, by a name that no other has.
func (x *Index) keepTyped(h *PromptLists) {
	id := h.Workspace.name() + "-prompts"
	for x.ByID[id] != nil {
		id += "+"
	}
	e := x.Entry(id)
	e.Body, e.Where, e.Workspace, e.Title, e.Asked = InPrompts, h.Workspace, h.Workspace.key(), "Prompt history", h
	e.settle(x.Store)
	h.Rest = e
}

// key is a workspace as its sessions name it.
func (s *Workspace) key() string {
	if s == nil {
		return ""
	}
	return s.ID
}

// talked reports whether a session has a record or bubbles.
func (x *Index) talked(ctx context.Context, e *Entry) (bool, error) {
	if e.Body != nowhere || x.Global == nil || x.Global.Disk == nil {
		return e.Body != nowhere, nil
	}
	prefix := BubbleRow + e.ID + ":"
	_, some, err := x.Global.Disk.First(ctx, prefix, PrefixEnd(prefix))
	return some, err
}

// ownersOf looks at when sessions began and when they last changed. Where that
// is not known of one, nothing is known of any.
func ownersOf(group []*Entry, lost map[*Entry]bool) (o owners) {
	type edge struct {
		at int64
		by int // 1: it began, -1: it ended
		of int
	}
	var edges []edge
	for i, e := range group {
		from, to := e.Created, e.Updated
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
		var of *Entry
		if open == 1 && lost[group[sum]] {
			of = group[sum]
		}
		o.from, o.of = append(o.from, e.at), append(o.of, of)
	}
	return o
}

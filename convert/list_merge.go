package convert

import (
	"cmp"
	"slices"
	"strings"

	"rehome/formats/session"
)

// merged makes one session of what several stores of one family of clients
// hold under one id. Ids can be the caller's own words, so that two that are
// known to work in different folders are two. The stores come best first.
func merged(stores []headsOf) []Listed {
	n := 0
	for _, s := range stores {
		n += len(s.heads)
	}
	out := make([]Listed, 0, n)
	at := make(map[string][]int, n)
	for _, s := range stores {
		for _, h := range s.heads {
			i := sameSession(out, at[h.ID], &h, s.Path)
			if i < 0 {
				at[h.ID] = append(at[h.ID], len(out))
				out = append(out, Listed{Head: h, Sources: []Source{s.Source}})
				continue
			}
			out[i].Sources = append(out[i].Sources, s.Source)
			complete(&out[i].Head, &h)
		}
	}
	return out
}

// sameSession is which of the candidates a head speaks of, -1 if of none. Of
// several it is the one whose store is nearest.
func sameSession(all []Listed, candidates []int, h *session.Head, path string) int {
	best, near := -1, -1
	for _, i := range candidates {
		c := &all[i]
		if family(c.Agent) != family(h.Agent) || c.Workspace != "" && h.Workspace != "" && c.Workspace != h.Workspace {
			continue
		}
		if n := common(c.Sources[0].Path, path); n > near {
			best, near = i, n
		}
	}
	return best
}

// family is who makes a client: cursor-cli and cursor-sdk are of one, and name
// their sessions in common.
func family(agent string) string {
	maker, _, _ := strings.Cut(agent, "-")
	return maker
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// complete adds to a head what a lesser source knows beyond it. A moment that is
// only inferred gives way to one that is stated. How long a session is in one
// store says nothing of another.
func complete(h, more *session.Head) {
	h.Title = cmp.Or(h.Title, more.Title)
	h.Mark = cmp.Or(h.Mark, more.Mark)
	h.Workspace = cmp.Or(h.Workspace, more.Workspace)
	if !h.Created.Known() {
		h.Created = more.Created
	}
	if !h.Updated.Known() || h.Updated.Inferred() && more.Updated.Known() && !more.Updated.Inferred() {
		h.Updated = more.Updated
	}
	if h.Parent == nil {
		h.Parent = more.Parent
	}
}

// deepest is how far subagents can start subagents.
const deepest = 64

// arrange puts subagents under their parents and the newest first. A subagent
// whose parent is not there, or that would be its own ancestor, stands alone.
func arrange(l *Listing) {
	byID := map[string]*Listed{}
	for i := range l.Sessions {
		s := &l.Sessions[i]
		if key := family(s.Agent) + "\x00" + s.ID; byID[key] == nil {
			byID[key] = s
		}
	}
	parent := func(s *Listed) *Listed {
		if s.Parent == nil {
			return nil
		}
		return byID[family(s.Agent)+"\x00"+s.Parent.Session]
	}
	var roots []Listed
	child := map[*Listed]bool{}
	for i := range l.Sessions {
		s := &l.Sessions[i]
		p := parent(s)
		up := p
		for range deepest {
			if up == nil || up == s {
				break
			}
			up = parent(up)
		}
		if p != nil && up == nil {
			p.Children = append(p.Children, s)
			child[s] = true
		}
	}
	for i := range l.Sessions {
		slices.SortStableFunc(l.Sessions[i].Children, newest)
	}
	for i := range l.Sessions {
		if s := &l.Sessions[i]; !child[s] {
			roots = append(roots, *s)
		}
	}
	slices.SortStableFunc(roots, func(a, b Listed) int { return newest(&a, &b) })
	l.Sessions = roots
}

// newest orders sessions by their last change; those of one moment, or of none
// that is known, by what names them.
func newest(a, b *Listed) int {
	return cmp.Or(
		cmp.Compare(when(b), when(a)),
		cmp.Compare(a.Agent, b.Agent),
		cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.Sources[0].Path, b.Sources[0].Path),
	)
}

// when is the moment that a session is sorted by.
func when(s *Listed) int64 {
	if s.Updated.Known() {
		return s.Updated.Millis()
	}
	return s.Created.Millis()
}

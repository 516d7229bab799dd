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
	m := &merger{out: make([]Listed, 0, n), of: make(map[sameID]*twins, n)}
	for _, s := range stores {
		for _, h := range s.heads {
			m.add(h, s.Source)
		}
	}
	return m.out
}

// merger finds sessions again by what names them.
type merger struct {
	out   []Listed
	of    map[sameID]*twins
	steps int // candidates that were looked at
}

type sameID struct{ family, id string }

// twins are the sessions of one id, by the folder they work in. One whose folder
// is not known stands under "" until another store tells.
type twins struct {
	by    map[string]int
	order []int
}

// mostTwins is how many sessions of one id and different folders are looked at
// for one whose folder is not known: nobody but an attacker has so many.
const mostTwins = 256

func (m *merger) add(h session.Head, from Source) {
	key := sameID{family(h.Agent), h.ID}
	t := m.of[key]
	if t == nil {
		t = &twins{by: map[string]int{}}
		m.of[key] = t
	}
	i, ok := t.by[h.Workspace]
	if !ok && h.Workspace != "" {
		i, ok = t.by[""]
	} else if !ok {
		i, ok = m.nearest(t, from.Path)
	}
	m.steps++
	if !ok {
		i = len(m.out)
		m.out = append(m.out, Listed{Head: h})
		t.order = append(t.order, i)
	}
	delete(t.by, m.out[i].Workspace)
	m.out[i].Sources = append(m.out[i].Sources, from)
	complete(&m.out[i].Head, &h)
	t.by[m.out[i].Workspace] = i
}

// nearest is the session whose store is nearest to a path.
func (m *merger) nearest(t *twins, path string) (best int, ok bool) {
	near := -1
	for _, i := range t.order[:min(len(t.order), mostTwins)] {
		m.steps++
		if n := common(m.out[i].Sources[0].Path, path); n > near {
			best, near = i, n
		}
	}
	return best, near >= 0
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

package sessions

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/session"
)

// mergeHeads merges what several stores of one family of clients hold under one
// id. Users can choose ids, so two sessions that are known to belong to
// different folders stay two. The stores come best first.
func mergeHeads(stores []storeHeads) []Listed {
	n := 0
	for _, s := range stores {
		n += len(s.heads)
	}
	m := &merger{out: make([]Listed, 0, n), of: make(map[sameID]*duplicates, n)}
	for _, s := range stores {
		for _, h := range s.heads {
			m.add(h, s.Source)
		}
	}
	return m.out
}

// merger finds duplicate sessions.
type merger struct {
	out   []Listed
	of    map[sameID]*duplicates
	steps int // candidates compared
}

type sameID struct{ family, id string }

// duplicates are the sessions with one id, by folder. One whose folder is
// unknown is under "" until another store states it.
type duplicates struct {
	by    map[string]int
	order []int
}

// maxDuplicates is how many sessions with one id and different folders are
// compared with one whose folder is unknown. Only hostile input has so many.
const maxDuplicates = 256

func (m *merger) add(h session.Head, from Source) {
	key := sameID{clientFamily(h.Agent), h.ID}
	t := m.of[key]
	if t == nil {
		t = &duplicates{by: map[string]int{}}
		m.of[key] = t
	}
	i, ok := t.by[h.Workspace]
	if !ok && h.Workspace != "" {
		i, ok = t.by[""]
	} else if !ok {
		i, ok = m.nearest(t, from.Path, "")
	}
	if !ok && hasUUID(h.ID) { // a transcript beside its store, whose folder only its place tells
		i, ok = m.nearest(t, from.Path, from.Format)
	}
	m.steps++
	if !ok {
		i = len(m.out)
		m.out = append(m.out, Listed{Head: h})
		t.order = append(t.order, i)
	}
	delete(t.by, m.out[i].Workspace)
	m.out[i].Sources = append(m.out[i].Sources, from)
	fillHead(&m.out[i].Head, &h)
	t.by[m.out[i].Workspace] = i
}

// nearest returns the session whose store is nearest to a path, and not of a format.
func (m *merger) nearest(t *duplicates, path, not string) (best int, ok bool) {
	near := -1
	for _, i := range t.order[:min(len(t.order), maxDuplicates)] {
		m.steps++
		if n := commonPrefix(m.out[i].Sources[0].Path, path); n > near && m.out[i].Sources[0].Format != not {
			best, near = i, n
		}
	}
	return best, near >= 0
}

// supersede merges the states of one session that are of different folders, as mv makes
// them. That of a folder that was moved is superseded by that of its new path, and any
// whose folder is gone by one whose folder exists.
func supersede(list []Listed, moves []formats.Moved) []Listed {
	states, order := map[sameSession][]int{}, []sameSession{}
	for i := range list {
		key := sameSession{sameID: sameID{clientFamily(list[i].Agent), list[i].ID}}
		if !hasUUID(list[i].ID) {
			key.created = list[i].Created
		}
		if list[i].Workspace == "" || !hasUUID(key.id) && !key.created.Known() {
			continue
		}
		if states[key] == nil {
			order = append(order, key)
		}
		states[key] = append(states[key], i)
	}
	gone := map[int]bool{}
	for _, key := range order {
		if len(states[key]) < 2 {
			continue
		}
		by := successors(list, states[key], moves)
		for _, i := range states[key] {
			last := i
			for next, ok := by[last]; ok; next, ok = by[last] {
				last = next
			}
			if gone[i] = last != i; gone[i] {
				list[last].Sources = append(list[last].Sources, list[i].Sources...)
				fillHead(&list[last].Head, &list[i].Head)
			}
		}
	}
	i := -1
	return slices.DeleteFunc(list, func(Listed) bool { i++; return gone[i] })
}

// sameSession is what states of one session have in common. Users can choose the same name
// as an id twice, but not in the same millisecond.
type sameSession struct {
	sameID
	created session.Stamp
}

// successors returns by which other state each state of a session is superseded. No chain
// of them is a circle: who moved a project back made its first state the last one.
func successors(list []Listed, all []int, moves []formats.Moved) map[int]int {
	at, there := map[string]int{}, -1 // by folder; the first whose folder exists
	by := map[int]int{}
	exists := map[int]bool{}
	for _, i := range all {
		dir := list[i].Workspace
		_, err := os.Stat(dir)
		if exists[i] = err == nil; exists[i] && there < 0 {
			there = i
		}
		at[filepath.Clean(dir)] = i
	}
	for _, m := range moves {
		for _, i := range all {
			to, in := m.Path(list[i].Workspace)
			if next, ok := at[filepath.Clean(to)]; in && ok && next != i && exists[next] {
				by[i] = next
				delete(by, next)
			}
		}
	}
	for _, i := range all {
		if _, ok := by[i]; !ok && !exists[i] && there >= 0 {
			by[i] = there
		}
	}
	return by
}

// hasUUID reports whether an id is a UUID, apart from its kind.
func hasUUID(id string) bool { return formats.IsUUID(TrimKind(id)) }

// clientFamily returns the maker of a client: cursor-cli and cursor-sdk share
// their ids.
func clientFamily(agent string) string {
	maker, _, _ := strings.Cut(agent, "-")
	return maker
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// fillHead adds to a head what a less reliable source knows beyond it. A stated
// time replaces an inferred one. The size is not copied: it differs from store
// to store.
func fillHead(h, more *session.Head) {
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

// maxDepth is how deep subagents can be nested.
const maxDepth = 64

// arrange sorts subagents under their parents, and the newest first. A subagent
// whose parent is missing, or that would be its own ancestor, is listed by
// itself.
func arrange(l *Listing) {
	byID := map[string]*Listed{}
	for i := range l.Sessions {
		s := &l.Sessions[i]
		if key := clientFamily(s.Agent) + "\x00" + s.ID; byID[key] == nil {
			byID[key] = s
		}
	}
	parent := func(s *Listed) *Listed {
		if s.Parent == nil {
			return nil
		}
		return byID[clientFamily(s.Agent)+"\x00"+s.Parent.Session]
	}
	var roots []Listed
	child := map[*Listed]bool{}
	for i := range l.Sessions {
		s := &l.Sessions[i]
		p := parent(s)
		up := p
		for range maxDepth {
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
		slices.SortStableFunc(l.Sessions[i].Children, byNewest)
	}
	for i := range l.Sessions {
		if s := &l.Sessions[i]; !child[s] {
			roots = append(roots, *s)
		}
	}
	slices.SortStableFunc(roots, func(a, b Listed) int { return byNewest(&a, &b) })
	l.Sessions = roots
}

// byNewest sorts sessions by their last change, originals before their copies, and
// then by agent, id and path.
func byNewest(a, b *Listed) int {
	return cmp.Or(
		cmp.Compare(when(b), when(a)),
		cmp.Compare(min(len(a.Origin), 1), min(len(b.Origin), 1)),
		cmp.Compare(a.Agent, b.Agent),
		cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.Sources[0].Path, b.Sources[0].Path),
	)
}

// When returns the time by which a session is sorted, and which lists show: when
// it was changed or, if only its file tells that, when it was created. The time of
// a file counts only if its content has none, since copying changes it.
func (s *Listed) When() session.Stamp {
	if s.Created.Known() && (!s.Updated.Known() || s.Updated.Inferred() && !s.Created.Inferred()) {
		return s.Created
	}
	return s.Updated
}

// when returns When in milliseconds, 0 if unknown.
func when(s *Listed) int64 { return s.When().Millis() }

package diff

import (
	"slices"

	"rehome/convert/internal/walk"
	"rehome/formats"
)

// matcher pairs the sessions of two sides.
type matcher struct {
	a, b  []*entry
	pairs map[*entry]*entry // of the first side with the second
	taken map[*entry]bool   // of the second side
}

// match pairs the sessions of two sides, those of the first one in their order, then
// what only the second one has. Of a session that is in several stores of one side, those
// are compared that are at the same path on both sides, and else the best.
func match(reg *formats.Registry, a, b []*entry) []pair {
	m := &matcher{a, b, map[*entry]*entry{}, map[*entry]bool{}}
	name := func(e *entry) string { return e.head.ID + "\x00" + e.head.Agent }
	m.join(func(e *entry) string { return name(e) + "\x00" + e.rel }, nil)
	first := func(list []*entry) []*entry {
		return slices.DeleteFunc(slices.Clone(list), func(e *entry) bool { return e.copy > 0 })
	}
	m.a, m.b = first(a), first(b)
	m.join(name, nil)
	m.join(func(e *entry) string { return e.head.ID }, nil)
	for _, f := range reg.All() {
		if f.Writer == nil || f.Writer.ID == nil {
			continue
		}
		id, written := func(e *entry) string { return e.head.ID }, func(e *entry) string { return f.Writer.ID(e.key()) }
		m.join(written, id) // migrated from the first side to the second one,
		m.join(id, written) // or the other way
	}
	if alone(a) && alone(b) && len(m.pairs) == 0 {
		m.pair(a[0], b[0])
	}
	// Of a session that is elsewhere on the other side, one copy is compared. One that is
	// where it was is also added or removed by its copies in that format: in others, stores
	// can have what they derive from it.
	had, elsewhere := [2]map[string]bool{{}, {}}, [2]map[string]bool{{}, {}}
	for e, o := range m.pairs {
		for i, one := range (pair{e, o}) {
			n := name(one)
			had[i][n], had[i][n+"\x00"+one.format] = true, true
			// A folder with one session can be the store itself.
			elsewhere[i][n] = elsewhere[i][n] || !walk.AtOrBelow(e.rel, o.rel) && !walk.AtOrBelow(o.rel, e.rel)
		}
	}
	only := func(i int, e *entry) bool {
		n := name(e)
		return had[i][n+"\x00"+e.format] && !elsewhere[i][n] || !had[i][n] && e.copy == 0
	}
	var out []pair
	for _, e := range a {
		if o := m.pairs[e]; o != nil || only(0, e) {
			out = append(out, pair{e, o})
		}
	}
	for _, o := range b {
		if !m.taken[o] && only(1, o) {
			out = append(out, pair{nil, o})
		}
	}
	return out
}

// alone reports whether all entries are of one session.
func alone(list []*entry) bool {
	for _, e := range list {
		if e.head.ID != list[0].head.ID {
			return false
		}
	}
	return len(list) > 0
}

func (m *matcher) pair(e, o *entry) { m.pairs[e], m.taken[o] = o, true }

// join pairs what has no pair yet by a name, which is another one on the second side if
// that is not nil.
func (m *matcher) join(name, second func(*entry) string) {
	if second == nil {
		second = name
	}
	free := map[string][]*entry{}
	for _, o := range m.b {
		if !m.taken[o] {
			free[second(o)] = append(free[second(o)], o)
		}
	}
	for _, e := range m.a {
		if list := free[name(e)]; m.pairs[e] == nil && len(list) > 0 {
			m.pair(e, list[0])
			free[name(e)] = list[1:]
		}
	}
}

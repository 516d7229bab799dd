package agentstate

import (
	"context"
	"slices"

	"rehome/formats/session"
)

// branch is a sequence of abandoned turns: an older state has them and the current one
// does not.
type branch struct {
	name  string
	state *State
	from  int    // in state.plan
	first int    // the number of its first turn
	grew  string // the id of the last message that it shares with the live branch
}

// path is a root as a list of keys: of its turns, or of its prompt messages if it has no
// turns.
type path struct {
	root  ID
	keys  []ID
	turns bool
}

// pathOf reads a root and what identifies its turns. It does not count blobs: most older
// states hold nothing of their own.
func (s *State) pathOf(ctx context.Context, id ID, known *tellings) (p path, err error) {
	b, err := s.ledger.blobs.Blob(ctx, id)
	if b == nil || err != nil {
		return p, err
	}
	p.root = id
	m := codecs().root.Decode(b)
	if p.turns = len(m.Turns) > 0; !p.turns {
		p.keys = m.Prompts
		return p, nil
	}
	for _, t := range m.Turns {
		key, err := known.key(ctx, s, t)
		if err != nil {
			return p, err
		}
		p.keys = append(p.keys, key)
	}
	return p, nil
}

// forest is the tree of all paths, with common beginnings merged.
type forest struct {
	nodes map[twig]int32
	kids  []int32 // by node: how many
	roots []ID    // by node: the last root that ends there
	live  []bool  // by node
}

type twig struct {
	parent int32
	key    ID
}

func (f *forest) add(p path, live bool) {
	at := int32(0)
	if !p.turns { // a prompt message is not a turn, even if their keys are equal
		at = f.step(at, ID{0: 1}, live)
	}
	for _, key := range p.keys {
		at = f.step(at, key, live)
	}
	f.roots[at] = p.root
}

func (f *forest) step(at int32, key ID, live bool) int32 {
	next, ok := f.nodes[twig{at, key}]
	if !ok {
		next = int32(len(f.kids))
		f.nodes[twig{at, key}] = next
		f.kids[at]++
		f.kids, f.roots, f.live = append(f.kids, 0), append(f.roots, ID{}), append(f.live, live)
	}
	return next
}

// history finds the branches: the ends of paths that leave the live one.
func (s *State) history(ctx context.Context) error {
	known := &tellings{keys: map[ID]ID{}, of: map[ID][]telling{}}
	f := &forest{nodes: map[twig]int32{}, kids: []int32{0}, roots: []ID{{}}, live: []bool{true}}
	live, err := s.pathOf(ctx, s.root.id, known)
	if err != nil {
		return err
	}
	f.add(live, true)
	seen := map[ID]bool{s.root.id: true}
	older := append([]ID(nil), s.o.Roots...)
	if s.o.All != nil {
		if err := eachRoot(ctx, s.ledger.blobs, s.o.All, func(id ID, _ []byte) { older = append(older, id) }); err != nil {
			return err
		}
	}
	here := map[ID]bool{}
	for _, key := range live.keys {
		here[key] = true
	}
	for _, id := range slices.Backward(older) { // the longest form of a turn comes first
		if _, err := s.pathOf(ctx, id, known); err != nil {
			return err
		}
	}
	s.grown = known.grown
	own := map[ID]int{} // roots with turns of their own, and how many they share with the live one
	for _, id := range older {
		if seen[id] {
			continue
		}
		seen[id] = true
		p, err := s.pathOf(ctx, id, known)
		if err != nil {
			return err
		}
		for _, key := range p.keys {
			if !here[key] && (p.turns || !s.Has(key)) {
				own[id] = p.shares(live)
				f.add(p, false)
				break
			}
		}
	}
	for n, root := range f.roots {
		shared, ok := own[root]
		if f.live[n] || f.kids[n] > 0 || !ok {
			continue
		}
		if err := s.addBranch(ctx, root, shared); err != nil {
			return err
		}
	}
	if s.o.All == nil {
		return nil
	}
	return s.strays(ctx)
}

// shares returns how many keys a path has in common with the live one.
func (p path) shares(live path) (n int) {
	for p.turns == live.turns && n < len(p.keys) && n < len(live.keys) && p.keys[n] == live.keys[n] {
		n++
	}
	return n
}

// addBranch reads the state of a branch and finds where it leaves the live one.
func (s *State) addBranch(ctx context.Context, root ID, shared int) error {
	o := s.o
	o.History, o.All, o.Roots, o.Root = false, nil, nil, root
	old := newState(o, s.ledger)
	old.used = s.used
	old.root.id, old.root.named = root, true
	b, err := old.read(ctx, root, "older state")
	if b == nil || err != nil {
		return err
	}
	s.ledger.mark(root, claimed)
	if err := old.open(ctx, b); err != nil || old.broken != "" {
		return err
	}
	br := branch{name: "branch-" + number(len(s.branches)+1), state: old, from: old.startOf(shared)}
	if br.from == len(old.plan) {
		return nil
	}
	for i := range old.plan[:br.from] {
		if old.plan[i].starts {
			br.first++
		}
	}
	old.nameAll(old.plan[br.from:])
	if at := s.startOf(shared); at > 0 {
		br.grew = s.nameOf(&s.plan[at-1])
	}
	s.branches = append(s.branches, br)
	return nil
}

// startOf returns where in the plan the turn with that index begins; for a state without
// turns, the prompt message.
func (s *State) startOf(shared int) int {
	if s.begins == nil {
		s.begins = s.beginnings()
	}
	at := len(s.plan)
	if shared < len(s.begins) {
		at = int(s.begins[shared])
	}
	if len(s.turns) == 0 {
		return at
	}
	return s.askedAt(at)
}

// askedAt returns where the context begins that the client sent with the prompt at a place in
// the plan.
func (s *State) askedAt(at int) int {
	for at > 0 && at < len(s.plan) {
		p := &s.plan[at-1]
		if p.kind != planLine || p.starts || s.lines[p.line].role != userRole || s.lines[p.line].content {
			break
		}
		at--
	}
	return at
}

// beginnings returns, for each turn, the first place in the plan where it or a later turn
// begins; for a state without turns, for each prompt message.
func (s *State) beginnings() []int32 {
	out := make([]int32, max(len(s.turns), 1))
	if len(s.turns) == 0 {
		out = make([]int32, len(s.lines))
	}
	for i := range out {
		out[i] = int32(len(s.plan))
	}
	for i := len(s.plan) - 1; i >= 0; i-- {
		p := &s.plan[i]
		n := p.line
		if len(s.turns) > 0 {
			n = p.turn
		}
		if n >= 0 && (p.starts || len(s.turns) == 0) {
			out[n] = int32(i)
		}
	}
	for i := len(out) - 2; i >= 0; i-- {
		out[i] = min(out[i], out[i+1])
	}
	return out
}

// fillBranches lists the branches in a session.
func (s *State) fillBranches(dst *session.Session) {
	for i := range s.branches {
		dst.Branches = append(dst.Branches, session.Branch{Name: s.branches[i].name, From: s.branches[i].grew})
	}
}

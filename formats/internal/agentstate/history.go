package agentstate

import (
	"context"
	"slices"

	"rehome/formats/loss"
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

// path returns what identifies the turns of a root, b. It does not count blobs: most older
// states hold nothing of their own.
func (o *older) path(ctx context.Context, id ID, b []byte) (p path, err error) {
	if b == nil {
		return p, nil
	}
	p.root = id
	m := codecs().root.Decode(o.list.rest(b))
	if p.turns = len(m.Turns) > 0; !p.turns {
		p.keys = codecs().root.Decode(b).Prompts
		return p, nil
	}
	p.keys = m.Turns
	for i, t := range p.keys {
		if p.keys[i], err = o.known.key(ctx, o.state, t); err != nil {
			return p, err
		}
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

// history finds what only older states say: the ends of paths that leave the live one. They
// become branches with Options.History, and losses without it. So do messages that no state
// refers to.
func (s *State) history(ctx context.Context) error {
	list, err := s.list()
	if err != nil || len(list.left)+len(s.o.Roots) == 0 {
		return err
	}
	v := &survey{blobs: s.ledger.blobs, list: list, seen: map[ID]bool{}, texts: map[textSum]bool{}}
	ends, err := s.abandoned(ctx, v)
	if err != nil {
		return err
	}
	for _, e := range ends {
		if !s.o.History {
			s.at = e.root
			s.note(loss.BranchSkipped)
		} else if err := s.addBranch(ctx, e.root, e.shared); err != nil {
			return err
		}
	}
	if s.o.All == nil {
		return nil
	}
	return s.strays(ctx, v, ends)
}

// list lists the blobs of the store, and those that the state does not need.
func (s *State) list() (*blobList, error) {
	l := &blobList{}
	if s.o.All == nil {
		return l, nil
	}
	for id, err := range s.o.All {
		if err != nil {
			return nil, err
		}
		l.order = append(l.order, id)
		if !s.Has(id) {
			l.left = append(l.left, id)
		}
	}
	l.index()
	return l, nil
}

// end is an older state that no other one continues, and how many turns it shares with the
// live one.
type end struct {
	root   ID
	shared int
}

// abandoned finds the older states that say what the live one does not. It reads what the
// state does not need, the newest first, since the longest form of a turn comes last, and
// keeps of the list what holds text.
func (s *State) abandoned(ctx context.Context, v *survey) (ends []end, err error) {
	o := &older{state: s, list: v.list, known: &tellings{keys: map[ID]ID{}, of: map[ID][]telling{}}, here: map[ID]bool{}, own: map[ID]int{}}
	b, err := s.ledger.blobs.Blob(ctx, s.root.id)
	if err != nil {
		return nil, err
	}
	v.list.follow(b)
	if o.live, err = o.path(ctx, s.root.id, b); err != nil {
		return nil, err
	}
	for _, key := range o.live.keys {
		o.here[key] = true
	}
	list, left := v.list, v.list.left
	list.left = nil
	for _, id := range slices.Backward(left) {
		b, err := s.ledger.blobs.Blob(ctx, id)
		if err != nil {
			return nil, err
		}
		if len(v.textsOf(b)) > 0 {
			list.left = append(list.left, id)
		}
		if list.rootShape(b) {
			if err := o.compare(ctx, id, b); err != nil {
				return nil, err
			}
		}
	}
	slices.Reverse(list.left)
	for _, id := range slices.Backward(s.o.Roots) {
		b, err := s.ledger.blobs.Blob(ctx, id)
		if err != nil {
			return nil, err
		}
		if err := o.compare(ctx, id, b); err != nil {
			return nil, err
		}
	}
	s.grown = o.known.grown
	return o.ends(ctx, append(slices.Clone(s.o.Roots), left...))
}

// older compares the older states with the live one.
type older struct {
	state *State
	list  *blobList
	known *tellings
	live  path
	here  map[ID]bool // what identifies the live turns
	own   map[ID]int  // roots with turns of their own, and how many they share with the live one
}

// compare compares a root, b, with the live one.
func (o *older) compare(ctx context.Context, id ID, b []byte) error {
	if id == o.state.root.id {
		return nil
	}
	p, err := o.path(ctx, id, b)
	if err != nil {
		return err
	}
	for _, key := range p.keys {
		if !o.here[key] && (p.turns || !o.state.Has(key)) {
			o.own[id] = p.shares(o.live)
			break
		}
	}
	return nil
}

// ends lists the roots that no other one continues, of those with turns of their own.
func (o *older) ends(ctx context.Context, order []ID) (ends []end, err error) {
	if len(o.own) == 0 {
		return nil, nil
	}
	f := &forest{nodes: map[twig]int32{}, kids: []int32{0}, roots: []ID{{}}, live: []bool{true}}
	f.add(o.live, true)
	seen := map[ID]bool{}
	for _, id := range order {
		if _, ok := o.own[id]; !ok || seen[id] {
			continue
		}
		seen[id] = true
		b, err := o.state.ledger.blobs.Blob(ctx, id)
		if err != nil {
			return nil, err
		}
		p, err := o.path(ctx, id, b)
		if err != nil {
			return nil, err
		}
		f.add(p, false)
	}
	for n, root := range f.roots {
		if shared, ok := o.own[root]; ok && !f.live[n] && f.kids[n] == 0 {
			ends = append(ends, end{root, shared})
		}
	}
	return ends, nil
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

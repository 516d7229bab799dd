package agentstate

import (
	"context"
	"hash/maphash"
	"iter"

	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// ID names a blob: the SHA-256 of its bytes.
type ID = wire.ID

// ParseID parses 64 hexadecimal digits of either case.
func ParseID(text string) (id ID, ok bool) { return wire.ParseID(text) }

// Blobs reads the blobs of an agent.
type Blobs interface {
	// Blob returns the bytes of a blob, nil where there is none of that name.
	// They are valid until the next call.
	Blob(ctx context.Context, id ID) ([]byte, error)
}

// Options say which state to read, and from where.
type Options struct {
	Blobs   Blobs
	Root    ID                     // the current state
	Roots   []ID                   // older states with known roots, such as a run's checkpoints
	At      func(id ID) store.Addr // the address of a blob, for notes and Message.Origin
	Note    loss.Sink
	History bool                 // abandoned turns too; without it they are losses
	All     iter.Seq2[ID, error] // every blob of the store, to find older states; may be nil
}

// State is the conversation of one agent: its root and an outline of the rest.
type State struct {
	ctx        context.Context // of Read; the stream of files has no other
	o          Options
	ledger     *ledger
	walker     wire.Walker
	seed       maphash.Seed
	generation int
	outer      *State // the outermost state above a subagent's
	copied     *Copier
	broken     string
	at         ID // the current blob, for notes
	refs       []ref

	root     root
	fileAt   map[string]int
	childAt  map[string]int
	lines    []line
	askers   []asker
	names    names
	parts    []partLine // until the plan is made
	spoken   []spoken
	steps    []stepLine
	keys     []uint64 // of the steps; until the plan is made
	turns    []turnLine
	archives []archive
	gauges   []ID // snapshots of the context's usage
	tasks    []task
	started  map[string]string // subagents by call
	children []*Child
	inline   [][]byte // steps that are not blobs
	asked    []byte   // their prompt

	plan     []planned
	items    []item
	branches []branch
	grown    map[ID]bool // turns and steps of older states, of which the newer ones say all
	begins   []int32     // see beginnings; nil until needed
	firsts   []int32     // where in the plan each turn begins; nil until needed
	todos    []session.Todo
	planText string

	scratch []byte
	reused  reused
	tool    *opened          // the last tool message read
	used    map[uint64]int32 // message ids already assigned; nil once naming is done
}

// Turn outlines a turn.
type Turn struct {
	RequestID string
	Kind      string // "" or "shell"
	Prompt    string // the first 200 bytes of it
	Calls     []string
	Answers   int // of the assistant
}

func newState(o Options, l *ledger) *State {
	if l == nil {
		l = &ledger{blobs: o.Blobs}
	}
	s := &State{o: o, ledger: l, seed: maphash.MakeSeed(), started: map[string]string{}, used: map[uint64]int32{}, reused: newReused()}
	s.walker.Note = func(code loss.Code) { s.note(code) }
	s.walker.Ref = func(f *wire.Field, name []byte) {
		if id, ok := wire.AsID(name); ok {
			s.refs = append(s.refs, ref{f.Name, id})
		}
	}
	return s
}

// ref is a blob that a field of the current message names.
type ref struct {
	name string
	id   ID
}

// Read reads the root and outlines turns and prompts, without holding their content. It
// returns an error if reading fails or the context is canceled. If the root is missing or
// broken, it returns a State that is Broken.
func Read(ctx context.Context, o Options) (*State, error) {
	s := newState(o, nil)
	s.root.id, s.root.named = o.Root, true
	b, err := s.read(ctx, o.Root, "root")
	if err != nil {
		return nil, err
	}
	if b == nil {
		s.broken = "its root is missing"
		return s, nil
	}
	s.ledger.mark(o.Root, claimed)
	if err := s.open(ctx, b); err != nil {
		return nil, err
	}
	s.nameAll(s.plan)
	if s.broken == "" {
		err = s.history(ctx)
	}
	s.used = nil
	return s, err
}

// open decodes a root and outlines what it refers to. b is only valid until the next read.
func (s *State) open(ctx context.Context, b []byte) error {
	s.ctx = ctx
	s.at = s.root.id
	s.parseRoot(b)
	if s.root.cut && !s.root.known() {
		s.broken = "its root is not the state of an agent"
		s.ledger.mark(s.root.id, unreadable)
		return nil
	}
	if err := s.outline(ctx); err != nil {
		return err
	}
	s.settleTimings()
	s.align()
	s.makePlan()
	s.forget()
	if err := s.gather(ctx); err != nil {
		return err
	}
	return s.settleChildren(ctx)
}

func (s *State) outline(ctx context.Context) error {
	if err := s.outlineLines(ctx); err != nil {
		return err
	}
	for _, id := range s.root.turns {
		if err := s.outlineTurn(ctx, id); err != nil {
			return err
		}
	}
	s.outlinePending()
	s.names.at = nil // complete
	return nil
}

// forget releases what only the plan was made from.
func (s *State) forget() {
	s.spoken = make([]spoken, len(s.parts))
	for i := range s.parts {
		s.spoken[i] = spoken{s.parts[i].call, s.parts[i].kind}
	}
	s.parts, s.keys = nil, nil
	s.lines, s.steps, s.plan, s.items = exact(s.lines), exact(s.steps), exact(s.plan), exact(s.items)
}

// exact returns the list without the spare capacity that it grew into.
func exact[T any](list []T) []T {
	if cap(list)-len(list) < len(list)/32 {
		return list
	}
	return append(make([]T, 0, len(list)), list...)
}

// Broken returns why the root could not be understood, "" if it could.
func (s *State) Broken() string { return s.broken }

// Turns outlines the turns of the conversation in order.
func (s *State) Turns() []Turn {
	var out []Turn
	for i := range s.plan {
		p := &s.plan[i]
		if !p.starts {
			continue
		}
		var t Turn
		if p.turn >= 0 {
			l := &s.turns[p.turn]
			t.RequestID, t.Prompt = l.request, l.prompt
			if l.shell {
				t.Kind = ShellTurn
			}
		}
		if p.line >= 0 && t.RequestID == "" {
			t.RequestID = s.asker(&s.lines[p.line]).requestID
		}
		t.Calls, t.Answers = s.callsFrom(i)
		out = append(out, t)
	}
	return out
}

// Before returns the id of the message that a turn follows, "" if there is none.
func (s *State) Before(turn int) string {
	if s.firsts == nil {
		s.firsts = []int32{}
		for i := range s.plan {
			if s.plan[i].starts {
				s.firsts = append(s.firsts, int32(i))
			}
		}
	}
	at := len(s.plan)
	if turn < len(s.firsts) {
		at = s.askedAt(int(s.firsts[turn]))
	}
	for ; at > 0; at-- {
		if p := &s.plan[at-1]; s.Has(s.firstRecord(p)) { // else nothing is left of it
			return s.nameOf(p)
		}
	}
	return ""
}

// ShellTurn is the kind of a turn that is a shell command of the user.
const ShellTurn = "shell"

// callsFrom lists the calls of the turn that begins with a planned message, and counts its
// answers.
func (s *State) callsFrom(i int) (calls []string, answers int) {
	for k := i; k < len(s.plan) && (k == i || !s.plan[k].starts); k++ {
		if s.plan[k].kind == planPending && s.root.pending[s.plan[k].from].line.role == assistantRole {
			answers++
			calls = append(calls, s.pendingCalls(&s.root.pending[s.plan[k].from])...)
		}
		if s.plan[k].kind != planAnswer {
			continue
		}
		answers++
		for _, it := range s.items[s.plan[k].from:s.plan[k].to] {
			switch {
			case it.step >= 0 && s.steps[it.step].kind == callPart:
				calls = append(calls, string(s.names.get(s.steps[it.step].call)))
			case it.part >= 0 && s.spoken[it.part].kind == callPart:
				calls = append(calls, string(s.names.get(s.spoken[it.part].call)))
			}
		}
	}
	return calls, answers
}

// Children returns the subagents.
func (s *State) Children() []*Child { return s.children }

// Reached returns how many blobs were read and understood so far, by this state and its
// subagents.
func (s *State) Reached() int64 { return s.ledger.count[claimed] + s.ledger.count[looked] }

// Opaque returns how many blobs are kept raw.
func (s *State) Opaque() int64 { return s.ledger.count[opaque] }

// Unreadable returns how many blobs were read and not understood.
func (s *State) Unreadable() int64 { return s.ledger.count[unreadable] }

// Members counts the fields and members of what was read.
func (s *State) Members() (members, taken, extras int64) {
	return s.ledger.members, s.ledger.taken, s.ledger.extras
}

// Has reports whether a blob was read.
func (s *State) Has(id ID) bool {
	e := s.ledger.fates.find(id)
	return e != nil && e.fate() > missing
}

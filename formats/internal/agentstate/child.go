package agentstate

import (
	"bytes"
	"cmp"
	"context"
	"strconv"
	"unicode/utf8"

	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// maxGenerations is how deep subagents may start subagents of their own.
const maxGenerations = 16

// Child is a subagent: its state, or only the steps that its parent's call kept.
type Child struct {
	ID, Kind, Model, Call, Title, Status string
	Created, Updated                     session.Stamp
	Extras                               []session.Extra

	parent *State
	state  []byte // SubagentPersistedState.conversation_state
	blob   ID     // that holds it
	isBlob bool   // the state has a blob of its own
	steps  *innerSteps
	why    string // why there is nothing to open
}

// SessionStatus returns the status of a subagent as a session states it.
func (c *Child) SessionStatus() string {
	switch c.Status {
	case "running", "backgrounded":
		return "running"
	case "error":
		return "error"
	case "success", "aborted":
		return "idle"
	}
	return ""
}

// innerSteps are the steps in a TaskSuccess.
type innerSteps struct {
	step    ID // the parent's step that holds them
	inline  bool
	ordinal int
}

// rootChildren takes what the root b says of subagents: their states, inline and by id,
// the runs of those states, and in one build threads.
func (s *State) rootChildren(m *conversation, b []byte) {
	r := &s.root
	for f := wire.Read(b); len(m.Children)+len(m.ChildRefs) > 0 && f.Next(); { // in the order of the root, across both fields
		switch c := codecs().root.Message.Field(f.Num); {
		case c == nil || !c.Fits(&f):
		case c.Name == "subagentStates":
			if key, value, ok := wire.MapEntry(f.Body); ok {
				s.childEntry(childRef{name: string(key), inline: bytes.Clone(value)})
			}
		case c.Name == "subagentStateRefs":
			key, value, ok := wire.MapEntry(f.Body)
			if id, isID := wire.AsID(value); ok && isID {
				s.childEntry(childRef{name: string(key), blob: id, isBlob: true})
			}
		}
	}
	for b := range m.Threads.All() {
		key, value, _ := wire.MapEntry(b)
		r.threads[string(key)] = string(value)
	}
	for b := range m.Runs.All() {
		key, value, _ := wire.MapEntry(b)
		r.runs[string(key)] = s.childRun(string(key), value)
	}
}

// childEntry adds a subagent's state. A state in a blob replaces one that is inline.
func (s *State) childEntry(c childRef) {
	i, twice := s.childAt[c.name]
	if !twice {
		s.childAt[c.name] = len(s.root.children)
		s.root.children = append(s.root.children, c)
	} else if old := &s.root.children[i]; c.isBlob {
		old.blob, old.isBlob = c.blob, true
	} else {
		old.inline = c.inline
	}
}

// childRun decodes a SubagentRunState.
func (s *State) childRun(call string, b []byte) run {
	c := codecs().run
	m := c.Decode(b)
	out := run{agent: string(m.Child), status: word(c.Message, "status", m.Status), at: stored(m.Completed)}
	out.title = s.text(m.Title, "subagentRuns.title", &s.root.extras)
	if string(m.Call) != call {
		c.Release(m, "parentToolCallId")
	}
	if out.status == "" {
		c.Release(m, "status")
	}
	for _, e := range s.keep(c.Message, &m.Unknown) {
		s.root.extras = append(s.root.extras, session.Extra{Name: "subagentRuns[" + call + "]." + e.Name, Raw: e.Raw})
	}
	return out
}

// starts maps subagents to the calls that started them: by the runs that the root lists,
// by its threads, and by the calls themselves. Of several runs or threads the first by
// call id counts, of several calls the first in order.
type starts struct {
	runs, threads map[string]string
	tasks         map[string]*task // by subagent
	titles        map[string]string
}

func (s *State) starts() starts {
	out := starts{map[string]string{}, map[string]string{}, map[string]*task{}, map[string]string{}}
	least := func(in map[string]string, agent, call string) {
		if have, ok := in[agent]; call != "" && (!ok || call < have) {
			in[agent] = call
		}
	}
	for call, r := range s.root.runs {
		least(out.runs, r.agent, call)
	}
	for call, agent := range s.root.threads {
		least(out.threads, agent, call)
	}
	for i := range s.tasks {
		t := &s.tasks[i]
		if out.tasks[t.agent] == nil {
			out.tasks[t.agent] = t
		}
		if out.titles[t.call] == "" {
			out.titles[t.call] = t.title
		}
	}
	return out
}

// settleChildren lists the subagents: first the states that the root names, then those of
// which only the steps in a call are left.
func (s *State) settleChildren(ctx context.Context) error {
	taken, by := map[string]bool{}, s.starts()
	for i := range s.root.children {
		c, err := s.persisted(ctx, &s.root.children[i])
		if err != nil {
			return err
		}
		c.Call = s.callFor(c, &by)
		taken[c.ID] = true
		s.children = append(s.children, c)
	}
	for i := range s.tasks {
		t := &s.tasks[i]
		name := t.agent
		if name == "" {
			if run, ok := s.root.runs[t.call]; ok && run.agent != "" {
				name = run.agent
			}
		}
		if name != "" {
			s.started[t.call] = name
		}
		if t.steps == 0 || taken[name] {
			continue
		}
		if name == "" {
			name = "task-" + t.call
			s.started[t.call] = name
		}
		taken[name] = true
		s.children = append(s.children, &Child{ID: name, Kind: t.kind, Model: t.model, Call: t.call, Title: t.title,
			Status: s.root.runs[t.call].status, parent: s, steps: &innerSteps{step: t.step, inline: t.inline, ordinal: t.ordinal}})
	}
	for _, c := range s.children {
		if c.Call != "" && s.started[c.Call] == "" {
			s.started[c.Call] = c.ID
		}
	}
	return nil
}

// callFor finds the call of a subagent, in the root and among the calls.
func (s *State) callFor(c *Child, by *starts) (call string) {
	if in, ok := by.runs[c.ID]; ok {
		r := s.root.runs[in]
		call, c.Title, c.Status = in, cmp.Or(r.title, c.Title), r.status
		if !c.Updated.Known() {
			c.Updated = r.at
		}
	} else {
		call = by.threads[c.ID]
	}
	if t := by.tasks[c.ID]; t != nil && call == "" {
		call = t.call
	}
	if c.Title == "" && call != "" {
		c.Title = by.titles[call]
	}
	return call
}

// persisted decodes a SubagentPersistedState, except the state in it.
func (s *State) persisted(ctx context.Context, ref *childRef) (*Child, error) {
	c := &Child{ID: ref.name, parent: s, blob: s.root.id}
	b := ref.inline
	if ref.isBlob {
		read, err := s.read(ctx, ref.blob, "subagent state")
		if err != nil {
			return nil, err
		}
		switch {
		case read != nil:
			s.ledger.mark(ref.blob, claimed)
			b, c.blob, c.isBlob = bytes.Clone(read), ref.blob, true
		case b == nil:
			c.why = "its state is missing"
			return c, nil
		}
	}
	s.at = c.blob
	m := codecs().child.Decode(b)
	c.state, c.Created, c.Updated = m.State, stored(m.Created), stored(m.LastUsed)
	whole := false
	if c.Kind, whole = subagentKind(m.Type); !whole {
		codecs().child.Release(m, "subagentType")
	}
	c.Model = s.text(m.Model, "modelId", &c.Extras)
	if m.Cut > 0 {
		s.note(loss.SubagentCut)
	}
	c.Extras = append(c.Extras, s.keep(codecs().child.Message, &m.Unknown)...)
	return c, nil
}

// subagentKind returns the case of a SubagentType, for a custom one its name, and whether
// the message holds nothing else.
func subagentKind(b []byte) (kind string, whole bool) {
	r := wire.Read(b)
	if !r.Next() || r.Type != wire.Bytes {
		return "", false
	}
	f := wire.Messages().Message("SubagentType").Field(r.Num)
	if f == nil {
		return "", false
	}
	kind, whole = f.Name, len(r.Body) == 0
	if f.Message == codecs().custom.Message {
		if m := codecs().custom.Decode(r.Body); len(m.Text) > 0 && utf8.Valid(m.Text) {
			kind, whole = string(m.Text), len(m.Raw) == 0
		}
	}
	return kind, whole && len(r.Raw) == len(b)
}

// Open reads the state of a subagent.
func (c *Child) Open(ctx context.Context) (*State, error) {
	p := c.parent
	o := p.o
	o.History, o.All, o.Roots = false, nil, nil
	s := newState(o, p.ledger)
	s.generation = p.generation + 1
	s.outer = cmp.Or(p.outer, p)
	s.root.id = c.blob
	switch {
	case s.generation > maxGenerations:
		s.at = c.blob
		s.broken = "subagents are nested too deeply"
		s.note(loss.SubagentsDeep, strconv.Itoa(maxGenerations))
		return s, nil
	case c.why != "":
		s.broken = c.why
		return s, nil
	case c.steps != nil:
		if err := s.openSteps(ctx, c); err != nil {
			return nil, err
		}
	default:
		if err := s.open(ctx, c.state); err != nil {
			return nil, err
		}
	}
	s.root.extras = append(c.Extras, s.root.extras...)
	s.nameAll(s.plan)
	s.used = nil
	return s, nil
}

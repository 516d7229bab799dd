package sdksession

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/transcript"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Sessions yields the sessions of a store: the agents of the catalog in its
// order, then those that only other sources know, by id; subagents behind their
// parents. It may be walked once.
func (s *Store) Sessions(ctx context.Context, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		agents, err := s.all(ctx, sel)
		if err != nil {
			yield(nil, err)
			return
		}
		strays := s.want(sel.IDs, agents)
		for _, a := range agents {
			if !s.wants(a.id) && !strays {
				continue
			}
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			w := walk{store: s, ctx: ctx, sel: sel, yield: yield}
			if !w.agent(a) {
				return
			}
		}
	}
}

// want takes in which sessions are asked for, and reports whether some of them
// are of no agent: they may be subagents.
func (s *Store) want(ids []string, agents []*agent) (strays bool) {
	if len(ids) == 0 {
		return false
	}
	s.wanted = make(map[string]bool, len(ids))
	for _, id := range ids {
		s.wanted[id] = true
	}
	known := 0
	for _, a := range agents {
		if s.wanted[a.id] {
			known++
		}
	}
	return known < len(s.wanted)
}

// wants is session.Selection.Includes, however many are asked for.
func (s *Store) wants(id string) bool { return s.wanted == nil || s.wanted[id] }

// all lists the agents that any source knows, and lets go of what is nobody's.
func (s *Store) all(ctx context.Context, sel session.Selection) ([]*agent, error) {
	lost, err := s.Index.settle(ctx, s.Lines)
	if err != nil {
		return nil, err
	}
	for _, e := range lost {
		s.Note(loss.Loss{Code: loss.EventStray, At: s.Lines.At(eventKind, e.Place)})
	}
	sel.Account.Add(session.Account{Read: int64(len(lost)), CarriedRaw: int64(len(lost))})
	catalog := s.Index.agents
	known := slices.IndexFunc(catalog, func(a *agent) bool { return !a.known })
	if known < 0 {
		known = len(catalog)
	}
	strangers := slices.Clone(catalog[known:])
	names := map[string]bool{}
	add := func(id string) {
		if s.Index.byID[id] == nil {
			a := s.Index.find(id)
			strangers = append(strangers, a)
		}
		names[transcript.Spell(id)] = true
	}
	for _, a := range catalog {
		add(a.id)
	}
	for _, id := range s.CheckpointAgents {
		add(id)
	}
	s.folder, s.kids = map[string][]transcript.File{}, map[string][]transcript.File{}
	for _, f := range s.Transcripts {
		if f.Parent == "" {
			s.folder[f.Name] = append(s.folder[f.Name], f)
		} else {
			s.kids[f.Parent] = append(s.kids[f.Parent], f)
		}
	}
	for _, f := range s.Transcripts {
		name := f.Name
		if f.Parent != "" {
			name = f.Parent // a subagent whose parent nobody knows still has one
		}
		if !names[name] {
			add(name)
			names[name] = true
		}
	}
	slices.SortFunc(strangers, func(a, b *agent) int { return strings.Compare(a.id, b.id) })
	return append(slices.Clone(catalog[:known]), strangers...), nil
}

// walk yields the sessions of one agent.
type walk struct {
	store *Store
	ctx   context.Context
	sel   session.Selection
	yield func(*session.Session, error) bool
	told  map[string]bool // subagents, as names of files
}

// agent yields an agent's session and those of its subagents; false if nobody
// wants more.
func (w *walk) agent(g *agent) bool {
	a, err := w.store.assemble(w.ctx, g, w.sel.History)
	if err != nil {
		if w.ctx.Err() != nil {
			w.yield(nil, w.ctx.Err())
			return false
		}
		return w.yield(&session.Session{Head: session.Head{ID: g.id, Agent: session.CursorSDK}}, err)
	}
	w.told = map[string]bool{}
	more, wanted := true, w.store.wants(g.id)
	if wanted {
		more = w.yield(&a.head, nil)
	}
	if more && a.graph != nil {
		more = w.children(a, a.graph, &a.head, wanted, 0)
	}
	if more {
		more = w.subagents(a)
	}
	if err := a.compare(w.ctx); err != nil && more {
		more = w.yield(&session.Session{Head: a.head.Head}, err)
	}
	a.settleBlobs()
	if err := a.close(); err != nil && more {
		more = w.yield(&session.Session{Head: a.head.Head}, err)
	}
	if wanted {
		w.sel.Account.Add(a.tally)
	}
	return more
}

// settleBlobs counts the blobs, once all that refers to them was walked.
func (a *assembly) settleBlobs() {
	if a.checkpoints == nil {
		return
	}
	a.tally.Add(a.checkpoints.Account)
	t := session.Account{Read: a.checkpoints.Count}
	if a.graph == nil || a.graph.Broken() != "" {
		t.Unreadable = t.Read
		if t.Read > 0 {
			a.store.Note(loss.Loss{Code: loss.StateUnknown, At: store.Addr{File: a.store.Names.State, Key: store.TextCell([]byte(a.agent.id))}})
		}
	} else {
		t.Converted, t.CarriedRaw, t.Unreadable = a.graph.Reached(), a.graph.Opaque(), a.graph.Unreadable()
		t.Superseded = t.Read - t.Converted - t.CarriedRaw - t.Unreadable
		t.Members, t.MembersConverted, t.MembersRaw = a.graph.Members()
	}
	a.tally.Add(t)
}

// deepest is how many subagents may have started one another.
const deepest = 16

// children yields the subagents in a state; wanted says whether the session of
// that state is.
func (w *walk) children(a *assembly, g Graph, parent *session.Session, wanted bool, depth int) bool {
	if depth == deepest {
		return true
	}
	for _, c := range g.Children() {
		w.told[transcript.Spell(c.ID)] = true
		s, child, err := w.child(c, parent)
		if err != nil && w.ctx.Err() != nil {
			w.yield(nil, err)
			return false
		}
		this := wanted && w.sel.Inner || w.store.wants(c.ID)
		if err == nil {
			s.Messages = a.copies.listen(c.ID, s.Messages)
		}
		if this && !w.yield(s, err) {
			return false
		}
		if err == nil && !w.children(a, child, s, this, depth+1) {
			return false
		}
	}
	return true
}

// child is a subagent's session.
func (w *walk) child(c *agentstate.Child, parent *session.Session) (*session.Session, Graph, error) {
	s := &session.Session{Model: c.Model, Status: c.SessionStatus()}
	s.Head = session.Head{ID: c.ID, Agent: parent.Agent, Title: c.Title, Created: c.Created, Updated: c.Updated, Turns: -1, Bytes: -1,
		Parent: &session.Link{Session: parent.ID, Call: c.Call, Title: c.Title, Kind: c.Kind, Status: c.Status}}
	g, err := c.Open(w.ctx)
	if err != nil {
		s.Workspace = parent.Workspace
		return s, nil, err
	}
	s.Workspace = w.store.Cwd
	g.Fill(s)
	if s.Graph != nil {
		s.Graph.Partial = true // as that of its parent
	}
	s.Workspace = cmp.Or(s.Workspace, parent.Workspace)
	s.Messages = g.Messages(w.ctx)
	return s, g, nil
}

// subagents yields those of which only a transcript tells, and counts the lines
// of the others'.
func (w *walk) subagents(a *assembly) bool {
	for _, f := range w.store.kids[transcript.Spell(a.agent.id)] {
		more, err := w.subagent(a, f)
		if err != nil {
			if w.ctx.Err() != nil {
				w.yield(nil, err)
				return false
			}
			more = w.yield(&session.Session{Head: session.Head{ID: f.Name, Agent: session.CursorSDK}}, err)
		}
		if !more {
			return false
		}
	}
	return true
}

func (w *walk) subagent(a *assembly, f transcript.File) (more bool, err error) {
	r, closer, err := w.store.open(f)
	if err != nil {
		return true, err
	}
	defer func() { err = errors.Join(err, closer()) }()
	if w.told[f.Name] || f.Text {
		n, err := transcript.Count(w.ctx, r)
		t := session.Account{Read: n, Converted: n}
		if !f.Text {
			a.copies.files = append(a.copies.files, f)
		}
		if !w.told[f.Name] {
			t = session.Account{Read: n, CarriedRaw: n}
			w.store.Note(loss.Loss{Code: loss.SubagentOldForm, At: f.Addr(0)})
		}
		a.tally.Add(t)
		return true, err
	}
	v, err := transcript.NewSurvey(w.ctx, r, f.Path, w.store.Note)
	if err != nil {
		return true, err
	}
	a.tally.Add(v.Account)
	s := &session.Session{Extras: v.Extras, Missing: []string{w.store.Names.State}}
	s.Head = session.Head{ID: f.Name, Agent: session.CursorSDK, Workspace: a.head.Workspace, Turns: -1, Bytes: -1, Parent: &session.Link{Session: a.head.ID}}
	s.Messages = v.Messages(w.ctx, nil)
	w.store.Note(loss.Loss{Code: loss.SubagentStateMissing, At: f.Addr(0)})
	wanted := w.sel.Inner && w.store.wants(a.agent.id) || w.store.wants(f.Name)
	return !wanted || w.yield(s, nil), nil
}

package read

import (
	"cmp"
	"context"
	"slices"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/agentstate"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// strangers reports whether the root of a state names a subagent that is not a
// session of the store. Only then is the rest of the state searched for it.
func (c *Chat) strangers(root []byte) bool {
	return slices.ContainsFunc(agentstate.ChildNames(root), func(name string) bool {
		return name != "" && name != c.ID && c.x.ByID[name] == nil
	})
}

// adopt finds the subagents that only the agent's own state knows: they become
// sessions after this one.
func (c *Chat) adopt(a *agent) {
	c.started = map[string]string{}
	linked := map[string]bool{}
	for _, l := range c.Out.Children {
		linked[l.Session] = true
	}
	for _, kid := range a.Children() {
		if kid.Call != "" && c.started[kid.Call] == "" {
			c.started[kid.Call] = kid.ID
		}
		if kid.ID == c.ID {
			continue
		}
		if c.x.ByID[kid.ID] == nil {
			c.kids = append(c.kids, kid)
		}
		link := session.Link{Session: kid.ID, Call: kid.Call, Title: kid.Title, Kind: kid.Kind, Status: kid.Status}
		if !linked[kid.ID] {
			linked[kid.ID] = true
			c.Out.Children = append(c.Out.Children, link)
		}
	}
}

// innerSessions yields the subagents of a session, and those below them.
type innerSessions struct {
	*walk
	sel    session.Selection
	wanted bool // the session that holds them is selected
	yield  func(*session.Session, error) bool
}

// all returns false if the consumer has stopped.
func (n *innerSessions) all(of *session.Session, kids []*agentstate.Child) bool {
	for _, kid := range kids {
		if n.x.given[kid.ID] {
			n.note.Add(loss.Loss{Code: loss.SubagentShared, At: n.addr})
			continue
		}
		n.x.given[kid.ID] = true
		wanted := n.wanted && n.sel.Inner || n.sel.Includes(kid.ID)
		if (wanted || n.x.seek) && !n.one(of, kid, wanted) {
			return false
		}
	}
	return true
}

// one yields one of them, if it is selected, and those that it started.
func (n *innerSessions) one(of *session.Session, kid *agentstate.Child, wanted bool) bool {
	n.agent.sink = n.note
	s := &session.Session{Head: session.Head{ID: kid.ID, Agent: of.Agent, Title: kid.Title, Created: kid.Created, Updated: kid.Updated, Turns: -1, Bytes: -1}}
	s.Parent = &session.Link{Session: of.ID, Call: kid.Call, Title: kid.Title, Kind: kid.Kind, Status: kid.Status}
	s.Model, s.Status = kid.Model, kid.SessionStatus()
	state, err := kid.Open(n.ctx)
	if err != nil {
		return !wanted || n.yield(s, err)
	}
	if why := state.Broken(); why != "" {
		s.Missing = append(s.Missing, "the conversation: "+why)
	}
	state.Fill(s)
	s.Graph = nil // that of its parent is only part of what the client has
	s.Workspace = cmp.Or(s.Workspace, of.Workspace)
	s.Messages = state.Messages(n.ctx)
	if wanted && !n.yield(s, nil) {
		return false
	}
	var t session.Account
	n.agent.count(&t)
	n.sel.Account.Add(t)
	below := *n
	below.wanted = wanted
	return below.all(s, state.Children())
}

// searchChildren searches a session that is not selected for a subagent that is, and
// that no list names. It returns false if the consumer has stopped.
func (f *feed) searchChildren(ctx context.Context, e *lists.Entry) bool {
	f.begun[e] = true
	c, err := f.x.Prepare(ctx, e, func(loss.Loss) {})
	if err != nil || c.agent == nil {
		return ctx.Err() == nil // it is not selected itself
	}
	return f.send(ctx, c, inner{})
}

// root returns the newest state of the agent, nil if there is none.
func (c *Chat) root(ctx context.Context) ([]byte, error) {
	if b := lists.RootBytes(c.state); len(b) > 0 {
		return b, nil
	}
	id, ok := agentstate.ParseID(c.newest)
	if !ok || c.Database == nil {
		return nil, nil
	}
	return (&blobs{db: c.Database, rows: map[agentstate.ID]int64{}}).Blob(ctx, id)
}

package read

import (
	"cmp"
	"context"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// The fields of a state's root by which it knows of subagents: their states, by
// value and by reference, and the runs of calls that started some.
const (
	rootKids    = 16
	rootRuns    = 30
	rootKidRefs = 31
)

// strangers reports whether a state's root names a subagent that is no session
// of the store's. Only then is the rest of the state looked into for that.
func (c *Chat) strangers(root []byte) bool {
	for r := wire.Read(root); r.Next(); {
		if r.Type != wire.Bytes || r.Num != rootKids && r.Num != rootKidRefs && r.Num != rootRuns {
			continue
		}
		var name string
		for in := wire.Read(r.Body); in.Next(); {
			switch {
			case in.Is(1, wire.Bytes) && r.Num != rootRuns:
				name = string(in.Body)
			case in.Is(2, wire.Bytes) && r.Num == rootRuns:
				for run := wire.Read(in.Body); run.Next(); {
					if run.Is(2, wire.Bytes) {
						name = string(run.Body)
					}
				}
			}
		}
		if name != "" && name != c.ID && c.x.ByID[name] == nil {
			return true
		}
	}
	return false
}

// adopt finds the subagents that only the agent's own state knows: they become
// sessions behind this one.
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

// innerSessions gives the subagents of a session that was walked, and theirs.
type innerSessions struct {
	*walk
	sel    session.Selection
	wanted bool // the session that they lie in is
	yield  func(*session.Session, error) bool
}

// all is false where the consumer has had enough.
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

// one gives one of them, if it is wanted, and those that it started.
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

// searchChildren looks for subagents in a session that is not wanted itself: one is
// asked for that no list names. false if nobody wants more.
func (f *feed) searchChildren(ctx context.Context, e *lists.Entry) bool {
	f.begun[e] = true
	c, err := f.x.Prepare(ctx, e, func(loss.Loss) {})
	if err != nil || c.agent == nil {
		return ctx.Err() == nil // of this session nobody asked
	}
	return f.send(ctx, piece{chat: c, inner: true})
}

// root is the newest state of the agent, nil if there is none.
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

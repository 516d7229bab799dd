package read

import (
	"context"
	"crypto/sha256"
	"iter"
	"slices"
	"strings"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// fromState marks parts that bubbles lack and that come from the agent's own state.
const fromState = "state"

// blobs reads the blobs of the agent's state from cursorDiskKV.
type blobs struct {
	db   *lists.Database
	id   agentstate.ID // of the root in the session's record
	root []byte
	rows map[agentstate.ID]int64
}

// Blob finds a blob. As TEXT it is hexadecimal, as BLOB it is raw, except that a single
// zero byte stands for an empty blob.
func (b *blobs) Blob(ctx context.Context, id agentstate.ID) ([]byte, error) {
	if b.root != nil && id == b.id {
		return b.root, nil
	}
	if b.db == nil || b.db.Disk == nil {
		return nil, nil
	}
	f, ok, err := b.db.Disk.Get(ctx, lists.BlobRow+id.String(), lists.MaxValue)
	if err != nil || !ok || f.Class == store.Null || f.Bytes == nil {
		return nil, err
	}
	b.rows[id] = f.RowID
	if f.Class != store.Text && len(f.Bytes) == 1 && f.Bytes[0] == 0 && sha256.Sum256(nil) == id {
		return []byte{}, nil
	}
	return lists.BlobBytes(f.Class, f.Bytes), nil
}

func (b *blobs) at(id agentstate.ID) store.Addr {
	return b.db.Addr(lists.DiskTable, lists.BlobRow+id.String(), b.rows[id])
}

// agent is the agent's own state of a session, opened if bubbles lack something.
type agent struct {
	*agentstate.State
	blobs *blobs
	turns []agentstate.Turn
	past  int // the last requested turn: earlier ones are not found again
	known turnIndex

	ctx  context.Context
	pull func() (*session.Message, error, bool) // nil before the first message is requested
	end  func()
	held *session.Message // the first message of the next turn
	seen int              // turns that began
	told session.Account  // what was accounted for

	sink loss.Sink // of the goroutine that reads it

	last     *supply // of the last requested turn
	lastTurn int
}

// openAgent opens the state in the session's record, or the newest one that the store
// names for it; nil if there is none.
func (c *Chat) openAgent(ctx context.Context) (*agent, error) {
	if c.Database == nil {
		return nil, nil
	}
	b := &blobs{db: c.Database, rows: map[agentstate.ID]int64{}}
	if b.root = lists.RootBytes(c.state); len(b.root) > 0 {
		b.id = sha256.Sum256(b.root)
	} else {
		b.root = nil
		var ok bool
		if b.id, ok = agentstate.ParseID(c.newest); !ok {
			return nil, nil
		}
	}
	a := &agent{blobs: b, sink: c.note, ctx: ctx}
	s, err := agentstate.Read(ctx, agentstate.Options{Blobs: b, Root: b.id, At: b.at, Note: func(n loss.Loss) { a.sink(n) }})
	if err != nil {
		return nil, err
	}
	if why := s.Broken(); why != "" {
		c.note.Add(loss.Loss{Code: loss.AgentStateUnusable, At: c.addr, Args: []string{why}})
		return nil, nil
	}
	a.State, a.turns = s, s.Turns()
	a.known = indexTurns(a.turns)
	return a, nil
}

// next returns the next message of a conversation that bubbles tell.
func (a *agent) next() (*session.Message, error, bool) {
	if a.pull == nil {
		a.pull, a.end = iter.Pull2(a.Messages(a.ctx))
	}
	return a.pull()
}

func (a *agent) stop() {
	if a.end != nil {
		a.end()
	}
}

// count accounts for the blobs that were reached since the last call. A root in the
// session's record is not a blob.
func (a *agent) count(t *session.Account) {
	var now session.Account
	now.Converted, now.CarriedRaw, now.Unreadable = a.Reached(), a.Opaque(), a.Unreadable()
	if a.blobs.root != nil && now.Converted > 0 {
		now.Converted--
	}
	now.Read = now.Converted + now.CarriedRaw + now.Unreadable
	now.Members, now.MembersConverted, now.MembersRaw = a.Members()
	t.Add(now)
	t.Add(session.Account{Read: -a.told.Read, Converted: -a.told.Converted, CarriedRaw: -a.told.CarriedRaw, Unreadable: -a.told.Unreadable,
		Members: -a.told.Members, MembersConverted: -a.told.MembersConverted, MembersRaw: -a.told.MembersRaw})
	a.told = now
}

// states finds the agent's own state. If there is no bubble at all, it is the
// conversation.
func (c *Chat) states(ctx context.Context, f *members.Object) error {
	if lists.HasState(f.Raw(lists.ComState)) {
		c.state = f.Text(lists.ComState)
	}
	if c.Database != nil {
		found, ok, err := c.Database.Disk.Get(ctx, lists.RootRow+c.ID, 1<<10)
		if err != nil {
			return err
		}
		if ok {
			c.count(lists.Claimed)
			c.newest = string(found.Bytes)
		}
		if ok && c.newest != rawjson.TextAt(f.Raw(lists.ComRehome), "state") {
			c.Out.Extras = append(c.Out.Extras, session.Extra{Name: strings.TrimSuffix(lists.RootRow, ":"), Raw: session.AppendString(nil, c.newest)})
		}
	}
	if c.state == "" && c.newest == "" {
		return nil
	}
	if len(c.headers) > 0 {
		if same, err := c.asWritten(ctx, f); err != nil {
			return err
		} else if !same {
			return c.subagents(ctx, f)
		}
	}
	a, err := c.openAgent(ctx)
	if err != nil {
		return err
	}
	if a == nil {
		f.KeepFull(lists.ComState)
		return nil
	}
	c.agent, c.spine = a, true // the consumer reads it
	c.turns = turnsOf(rawjson.Last(f.Raw(lists.ComRehome), "turns"))
	n := int64(len(c.headers)) // the same in bubbles
	c.tally.Read, c.tally.Superseded, c.headers = c.tally.Read+n, c.tally.Superseded+n, nil
	named, have := c.Out.Children, map[string]bool{}
	for _, l := range named {
		have[l.Session] = true
	}
	a.Fill(&c.Out)
	c.Out.Graph = nil // other records say more
	c.stateFiles, c.Out.Files = c.Out.Files, nil
	c.Out.Children = slices.DeleteFunc(c.Out.Children[len(named):], func(l session.Link) bool { return have[l.Session] })
	c.Out.Children = append(slices.Clip(named), c.Out.Children...)
	c.adopt(a)
	return nil
}

// asWritten reports whether rehome wrote the session, and the client has neither added to it
// nor changed what it says: then the agent's state is the conversation, because it holds more
// than bubbles can.
func (c *Chat) asWritten(ctx context.Context, f *members.Object) (bool, error) {
	mark := f.Raw(lists.ComRehome)
	n, ok := members.Whole(rawjson.Last(mark, "bubbles"))
	if !ok || n != int64(len(c.headers)) || c.headers[n-1].id != rawjson.TextAt(mark, "last") {
		return false, nil
	}
	id := agentstate.ID(sha256.Sum256(lists.RootBytes(c.state)))
	if id.String() != rawjson.TextAt(mark, "state") || id.String() != c.newest {
		return false, nil
	}
	var said lists.Said
	for i, h := range c.headers {
		b, err := c.read(ctx, h, i, func(loss.Loss) {})
		if err != nil {
			return false, err
		}
		said.Add(h.id, b.body)
	}
	return said.String() == rawjson.TextAt(mark, "said"), nil
}

// turnsOf reads what rehome wrote of turns besides the agent's state.
func turnsOf(list []byte) map[int]session.Turn {
	out := map[int]session.Turn{}
	for e := range rawjson.Elements(list) {
		text := func(name string) string { return rawjson.TextAt(e, name) }
		t := session.Turn{ID: text("id"), Status: text("status"), Error: text("error")}
		if usage := rawjson.Last(e, "usage"); usage != nil {
			u := session.UnknownUsage()
			for name, to := range map[string]*int64{"input": &u.Input, "output": &u.Output, "cacheRead": &u.CacheRead, "cacheWrite": &u.CacheWrite, "reasoning": &u.Reasoning, "total": &u.Total} {
				if n, ok := members.Whole(rawjson.Last(usage, name)); ok && n >= 0 {
					*to = n
				}
			}
			t.Usage = &u
		}
		n, _ := members.Whole(rawjson.Last(e, "number"))
		out[int(n)] = t
	}
	return out
}

// complete adds to the message that a turn begins with what the state does not hold of it.
func (c *Chat) complete(m *session.Message) {
	if m == nil || m.Turn == nil {
		return
	}
	if t, ok := c.turns[m.Turn.Number]; ok {
		m.Turn.ID, m.Turn.Status, m.Turn.Error, m.Turn.Usage = t.ID, t.Status, t.Error, t.Usage
	}
}

// subagents finds those that only the agent's own state knows, in a session whose
// conversation is its bubbles.
func (c *Chat) subagents(ctx context.Context, f *members.Object) error {
	if c.state != "" {
		f.Keep(lists.ComState)
	}
	root, err := c.root(ctx)
	if err != nil || !c.strangers(root) {
		return err
	}
	if c.agent, err = c.openAgent(ctx); c.agent != nil {
		c.adopt(c.agent)
	}
	return err
}

package cursoride

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"iter"
	"slices"
	"strings"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

const blobRow = "agentKv:blob:"

// fromState marks what bubbles lack and the agent's own state has.
const fromState = "state"

// hasState reports whether a conversationState holds anything.
func hasState(raw []byte) bool {
	text := rawjson.Text(raw)
	return text != "" && text != "~"
}

// rootBytes is the state that a session's record holds: base64 behind a tilde,
// or hexadecimal digits; nil if it is neither.
func rootBytes(text string) []byte {
	if rest, ok := strings.CutPrefix(text, "~"); ok {
		for _, enc := range [...]*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			if b, err := enc.DecodeString(rest); err == nil {
				return b
			}
		}
		return nil
	}
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil
	}
	return b
}

// blobs are those of the agent's state, in cursorDiskKV.
type blobs struct {
	shelf *shelf
	id    agentstate.ID // of the root that lies in the session's record
	root  []byte
	rows  map[agentstate.ID]int64
}

// Blob finds a blob. As TEXT it is spelled in hexadecimal, as BLOB it is as it
// is, but for a single zero byte, which stands for nothing at all.
func (b *blobs) Blob(ctx context.Context, id agentstate.ID) ([]byte, error) {
	if b.root != nil && id == b.id {
		return b.root, nil
	}
	if b.shelf == nil || b.shelf.disk == nil {
		return nil, nil
	}
	f, ok, err := b.shelf.disk.Get(ctx, blobRow+id.String(), mostValue)
	if err != nil || !ok || f.Class == store.Null || f.Bytes == nil {
		return nil, err
	}
	b.rows[id] = f.RowID
	switch {
	case f.Class == store.Text:
		if plain, err := hex.DecodeString(string(f.Bytes)); err == nil {
			return plain, nil
		}
	case len(f.Bytes) == 1 && f.Bytes[0] == 0 && sha256.Sum256(nil) == id:
		return []byte{}, nil
	}
	return f.Bytes, nil
}

func (b *blobs) at(id agentstate.ID) store.Addr {
	return b.shelf.addr(diskTable, blobRow+id.String(), b.rows[id])
}

// agent is the agent's own state of a session, opened where bubbles lack
// something.
type agent struct {
	*agentstate.State
	blobs *blobs
	turns []agentstate.Turn
	past  int // the turn that was asked for last: those in front do not come again
	known turnIndex

	ctx  context.Context
	pull func() (*session.Message, error, bool) // nil before the first message is wanted
	end  func()
	held *session.Message // the first of the turn that comes next
	seen int              // turns that began
	told session.Account  // what was entered into the books

	sink loss.Sink // whoever walks it

	last     *supply // of the turn that was asked for last
	lastTurn int
}

// open reads the state that a session's record holds, or the newest that the
// store names for it; nil if there is none.
func (c *chat) openAgent(ctx context.Context) (*agent, error) {
	if c.shelf == nil {
		return nil, nil
	}
	b := &blobs{shelf: c.shelf, rows: map[agentstate.ID]int64{}}
	if b.root = rootBytes(c.state); len(b.root) > 0 {
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
		c.note(loss.Loss{Code: loss.AgentStateUnusable, At: c.addr, Args: []string{why}})
		return nil, nil
	}
	a.State, a.turns = s, s.Turns()
	a.known = indexTurns(a.turns)
	return a, nil
}

// next is the next of its messages, where bubbles are the conversation.
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

// count enters the blobs that were reached since it was last asked. The root
// that lies in the session's record is none.
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

// states finds out where the agent's own state is. Where there is no bubble at
// all it is the conversation.
func (c *chat) states(ctx context.Context, f *fields) error {
	if hasState(f.raw(comState)) {
		c.state = f.text(comState)
	}
	if c.shelf != nil {
		found, ok, err := c.shelf.disk.Get(ctx, rootRow+c.id, 1<<10)
		if err != nil {
			return err
		}
		if ok {
			c.count(claimed)
			c.newest = string(found.Bytes)
			c.out.Extras = append(c.out.Extras, session.Extra{Name: strings.TrimSuffix(rootRow, ":"), Raw: session.AppendString(nil, c.newest)})
		}
	}
	if c.state == "" && c.newest == "" {
		return nil
	}
	if len(c.headers) > 0 {
		return c.subagents(ctx, f)
	}
	a, err := c.openAgent(ctx)
	if err != nil {
		return err
	}
	if a == nil {
		f.keepFull(comState)
		return nil
	}
	c.agent, c.spine = a, true // the consumer walks it
	named, have := c.out.Children, map[string]bool{}
	for _, l := range named {
		have[l.Session] = true
	}
	a.Fill(&c.out)
	c.stateFiles, c.out.Files = c.out.Files, nil
	c.out.Children = slices.DeleteFunc(c.out.Children[len(named):], func(l session.Link) bool { return have[l.Session] })
	c.out.Children = append(slices.Clip(named), c.out.Children...)
	c.adopt(a)
	return nil
}

// subagents looks for those that only the agent's own state knows, in a session
// that is told by its bubbles.
func (c *chat) subagents(ctx context.Context, f *fields) error {
	if c.state != "" {
		f.keep(comState)
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

package agentwrite

import (
	"context"
	"slices"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/cursortools"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Options say how to write a conversation.
type Options struct {
	// Put stores a blob, each before the one that refers to it, and none that the root does
	// not lead to (except for earlier contents of large files). The same blob can be put more than once. The bytes are valid until it
	// returns.
	Put func(ctx context.Context, id agentstate.ID, data []byte) error

	Cwd          string // if set, replaces the project folder of the session
	DropThinking bool   // omit reasoning of other clients' models
	FullHistory  bool   // show the model what was compacted, too
	Events       bool   // the caller writes events, too, which hold what a state lacks
	OnLoss       loss.Sink

	// Continues, if set, is the state to which the conversation is added. Its blobs are put
	// first, as they are. The first messages can belong to its last turn.
	Continues *session.Graph

	// Runs, if set, writes what a conversation has no place for: the ids, status, errors
	// and usage of turns.
	Runs Runs
	// Turn, if set, is told of each turn that begins, and keeps its id, status, error and
	// usage. They count from 1, as in what Root stores.
	Turn func(number int, t *session.Turn)
}

// Runs is told what is written of the turns, in order and as it is written.
type Runs interface {
	// Turn begins a turn: with this message, in which the user asked this. It returns
	// the request id for the turn.
	Turn(m *session.Message, text string) (request string)
	Text(text string, at session.Stamp)
	Thinking(t *session.Thinking, at session.Stamp)
	Call(id string, c *cursortools.Call, at session.Stamp)
	// Result tells what a call returned in the turn that made it.
	Result(id string, c *cursortools.Call, at session.Stamp)
}

// Conversation is a session that is being written: Message for each message, File for each
// snapshot, End, Adopt for each subagent that has ended, and Root.
type Conversation struct {
	o    Options
	s    *session.Session
	same *sameGraph // the state, if it is copied as it is; nil before the first call
	b    agentstate.Builder
	own  bool // the session is one of a Cursor client
	root agentstate.Root

	at      string // the current message, for losses
	branch  string // that of the message before
	begun   bool   // a message other than a system prompt was written
	lead    int    // leading system prompts, in prompts
	prompts []agentstate.ID
	ended   []archive
	past    *agentstate.AgentTurn // the last one of the state that is continued; nil after the first message
	todos   []byte                // JSON of those that a call of a continued conversation left; nil if none did
	turn    *turn                 // the current one; nil before the first prompt
	kept    int                   // prompt messages at the end that a compaction would not archive
	loose   bool                  // a message without steps has been written since the last with steps

	open  map[string][]*call // calls without a result, by their ids in the source
	queue []*call            // the same in order, and some that have a result by now
	held  int                // bytes that open calls hold
	group *group             // the last answer's results
	last  *unanswered
	later []blob              // those of last, which are not stored if it waits
	keeps bool                // later takes what is to be stored
	late  bool                // what is to be stored is of an earlier answer than last
	ids   map[uint64]struct{} // of calls, by idKey
	// numbers are the next to make an id of one that is taken.
	numbers map[uint64]int
	started map[string]string // the messages of calls that started subagents, by their ids
	written map[string]bool   // subagents that were adopted
	files   map[string]*file
	order   []string // of files
	fresh   int      // bytes of their contents that are not stored yet
	given   provided // by the Extras of the current message
	user    []byte   // the same, as fields of a UserMessage
	// messageID is that of the current prompt; "" if it has none.
	messageID string
	buf       []byte
}

// New begins a conversation.
func New(s *session.Session, o Options) *Conversation {
	c := &Conversation{o: o, s: s, own: isCursor(s.Agent), open: map[string][]*call{}, ids: map[uint64]struct{}{}, numbers: map[uint64]int{}, started: map[string]string{}, written: map[string]bool{}, files: map[string]*file{}}
	c.b.Put = c.store
	return c
}

// isCursor reports whether a client is one of Cursor's.
func isCursor(agent string) bool {
	return agent == session.CursorCLI || agent == session.CursorSDK || agent == session.CursorIDE
}

// Message writes the next message.
func (c *Conversation) Message(ctx context.Context, m *session.Message) error {
	if done, err := c.verbatim(ctx); done || err != nil {
		return err
	}
	c.at = Place(m)
	if m.Branch != "" {
		if m.Turn != nil || m.Branch != c.branch {
			c.note(loss.BranchLeft)
		}
		c.branch = m.Branch
		return nil
	}
	c.reopen(m)
	before := len(c.prompts)
	defer func() {
		for range len(c.prompts) - max(before, c.lead) {
			c.keep(m)
		}
	}()
	c.given = provided{}
	rest := c.provide(&c.given, m.Extras)
	if m.Turn != nil && m.Role == session.User {
		c.messageID, rest = c.named(rest)
		c.user, rest = c.fields("UserMessage", rest, userFields()...)
	}
	if len(rest) > 0 || m.Simulated && m.Role != session.User {
		c.note(loss.MessageMetadata)
	}
	runs := split(m)
	if len(runs) > 1 || runs[0].role != m.Role {
		c.note(loss.MessageDivided)
	}
	for i, r := range runs {
		if i > 0 {
			again := *m
			again.Turn, m = nil, &again
		}
		if err := c.run(ctx, m, r); err != nil {
			return err
		}
	}
	return nil
}

// run is a sequence of parts of a message that one role speaks.
type run struct {
	role  session.Role
	mark  bool // a boundary or a summary
	parts []session.Part
}

// split divides a message into runs; most have one.
func split(m *session.Message) (out []run) {
	compacts := slices.ContainsFunc(m.Parts, func(p session.Part) bool { _, ok := p.(*session.Boundary); return ok })
	for from := 0; from < len(m.Parts); {
		r := run{role: m.Role}
		to := from
		for ; to < len(m.Parts); to++ {
			role, mark := m.Role, false
			switch m.Parts[to].(type) {
			case *session.ToolCall, *session.Thinking:
				role = session.Assistant
			case *session.ToolResult:
				role = session.Tool
			case *session.Boundary, *session.Summary:
				if compacts {
					role, mark = session.System, true
				}
			}
			if to == from {
				r.role, r.mark = role, mark
			} else if role != r.role || mark != r.mark {
				break
			}
		}
		r.parts = m.Parts[from:to]
		out = append(out, r)
		from = to
	}
	if len(out) == 0 {
		out = append(out, run{role: m.Role})
	}
	return out
}

func (c *Conversation) run(ctx context.Context, m *session.Message, r run) error {
	if m.Turn != nil && r.role != session.User {
		c.note(loss.TurnUnprompted)
	}
	switch {
	case r.mark:
		return c.boundary(ctx, m, r.parts)
	case r.role == session.Tool:
		return c.results(ctx, m, r.parts)
	case r.role == session.Assistant:
		return c.answer(ctx, m, r.parts)
	case r.role == session.User && m.Turn != nil:
		return c.ask(ctx, m, r.parts)
	}
	return c.aside(ctx, m, r.role, r.parts)
}

// End ends the messages and files.
func (c *Conversation) End(ctx context.Context) error {
	if done, err := c.verbatim(ctx); done || err != nil {
		return err
	}
	c.at = c.s.ID
	c.suspend()
	if err := c.settle(ctx, 0); err != nil {
		return err
	}
	if err := c.closeTurn(ctx); err != nil {
		return err
	}
	if err := c.head(ctx); err != nil {
		return err
	}
	return c.compact(ctx)
}

// Root stores the root of the conversation and returns its id.
func (c *Conversation) Root(ctx context.Context) (agentstate.ID, error) {
	if c.copied() {
		return c.same.root, nil
	}
	c.unlinked()
	return c.b.Root(ctx, &c.root)
}

// note reports a loss in the current message.
func (c *Conversation) note(code loss.Code) { c.noteAt(c.at, code) }

// Place is where losses say that a message is: the first record that it comes from, or its id.
func Place(m *session.Message) string {
	if len(m.Origin) > 0 {
		return m.Origin[0]
	}
	return m.ID
}

// noteAt reports a loss in a message.
func (c *Conversation) noteAt(at string, code loss.Code) {
	c.o.OnLoss.Add(loss.Loss{Code: code, At: store.Addr{File: at}})
}

// extras reports metadata of a part.
func (c *Conversation) extras(list []session.Extra) {
	if len(list) > 0 {
		c.note(loss.PartMetadata)
	}
}

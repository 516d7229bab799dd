// Package agentwrite writes sessions of any client as the state of a Cursor agent: the
// graph of blobs that package agentstate reads.
package agentwrite

import (
	"context"

	"rehome/formats/internal/agentstate"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// Options say how to write a conversation.
type Options struct {
	// Put stores a blob, each before the one that refers to it. The same blob can be put
	// more than once. The bytes are valid until it returns.
	Put func(ctx context.Context, id agentstate.ID, data []byte) error

	Cwd          string // if set, replaces the project folder of the session
	DropThinking bool   // omit reasoning of other clients' models
	FullHistory  bool   // show the model what was compacted, too
	OnLoss       loss.Sink
}

// Conversation is a session that is being written: Message for each message, File for each
// snapshot, End, Adopt for each subagent that has ended, and Root.
type Conversation struct {
	o Options
	s *session.Session
	b agentstate.Builder
	t bool
}

// New begins a conversation.
func New(s *session.Session, o Options) *Conversation {
	return &Conversation{o: o, s: s, b: agentstate.Builder{Put: o.Put}}
}

// Message writes the next message.
func (c *Conversation) Message(ctx context.Context, m *session.Message) error {
	if m.Turn != nil {
		if c.t {
			if err := c.b.End(ctx); err != nil {
				return err
			}
		}
		c.t = true
	}
	for _, p := range m.Parts {
		text, ok := p.(*session.Text)
		if !ok || !c.t {
			continue
		}
		var err error
		if m.Role == session.User {
			err = c.b.Begin(ctx, m.Turn.RequestID, m.ID, text.Text, m.At)
		} else {
			err = c.b.Text(ctx, text.Text, m.At, m.End)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// File writes a snapshot of a file.
func (c *Conversation) File(ctx context.Context, f *session.File) error { return nil }

// End ends the messages and files.
func (c *Conversation) End(ctx context.Context) error {
	if !c.t {
		return nil
	}
	c.t = false
	return c.b.End(ctx)
}

// Adopt makes a conversation that has ended a subagent of this one.
func (c *Conversation) Adopt(ctx context.Context, h *session.Head, child *Conversation) error {
	return nil
}

// Root stores the root of the conversation and returns its id.
func (c *Conversation) Root(ctx context.Context) (agentstate.ID, error) { return c.b.Root(ctx) }

package agentwrite

import (
	"context"

	"rehome/formats/internal/agentstate"
	"rehome/formats/session"
)

// Tell writes the messages and files of a session, and ends it. Each message is given to
// before, then written, then given to after; both may be nil.
func (c *Conversation) Tell(ctx context.Context, s *session.Session, before, after func(*session.Message)) error {
	err := session.Each(ctx, s.Messages, func(m *session.Message) error {
		if before != nil {
			before(m)
		}
		err := c.Message(ctx, m)
		if err == nil && after != nil {
			after(m)
		}
		return err
	})
	if err == nil {
		err = session.Each(ctx, s.Files, func(f *session.File) error { return c.File(ctx, f) })
	}
	if err != nil {
		return err
	}
	return c.End(ctx)
}

// Family is a session with its subagents, whose states are in that of their parent.
type Family struct {
	root    *relative
	members map[string]*relative // by the id of the session
}

type relative struct {
	head     session.Head
	talk     *Conversation
	children []*relative
}

// NewFamily returns the family of a session without a parent.
func NewFamily(h *session.Head, c *Conversation) *Family {
	f := &Family{root: &relative{head: *h, talk: c}, members: map[string]*relative{}}
	f.members[h.ID] = f.root
	return f
}

// Includes reports whether a session is a subagent of this family, whose outermost
// session is root.
func (f *Family) Includes(s *session.Session, root *session.Head) bool {
	return s.Parent != nil && root != nil && f.root.head.ID == root.ID
}

// Add adds a subagent that has ended. It is below the outermost session if its own parent
// was not written.
func (f *Family) Add(h *session.Head, c *Conversation) {
	parent := f.members[h.Parent.Session]
	if parent == nil {
		parent = f.root
	}
	m := &relative{head: *h, talk: c}
	parent.children = append(parent.children, m)
	f.members[h.ID] = m
}

// Root gives each session its subagents, and stores the root of the outermost one.
func (f *Family) Root(ctx context.Context) (agentstate.ID, error) {
	if err := ctx.Err(); err != nil {
		return agentstate.ID{}, err
	}
	if err := f.root.adopt(ctx); err != nil {
		return agentstate.ID{}, err
	}
	return f.root.talk.Root(ctx)
}

// adopt gives a session its subagents, theirs first.
func (r *relative) adopt(ctx context.Context) error {
	for _, c := range r.children {
		if err := c.adopt(ctx); err != nil {
			return err
		}
		if err := r.talk.Adopt(ctx, &c.head, c.talk); err != nil {
			return err
		}
	}
	return nil
}

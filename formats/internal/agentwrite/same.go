package agentwrite

import (
	"context"

	"rehome/formats/internal/agentstate"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// sameGraph is the state that a session was decoded from, copied as it is.
type sameGraph struct {
	root  agentstate.ID
	whole bool
}

func (c *Conversation) copied() bool { return c.same != nil && c.same.whole }

// verbatim copies the state that the session was decoded from, at the first call, unless
// there is none, it is damaged, or the options ask for another. It reports whether nothing
// else is to be done: the messages are only for Runs then.
func (c *Conversation) verbatim(ctx context.Context) (done bool, err error) {
	if c.same == nil {
		c.same = &sameGraph{}
		if c.o.Continues != nil {
			return false, c.resume(ctx, c.o.Continues)
		}
		if g := c.s.Graph; g != nil && c.o.Cwd == "" && !c.o.FullHistory {
			err = c.copyGraph(ctx, g)
		}
	}
	return c.copied() && c.o.Runs == nil, err
}

func (c *Conversation) copyGraph(ctx context.Context, g *session.Graph) error {
	_, whole, err := g.Copy(ctx, nil)
	if err != nil || !whole || g.Partial && !c.o.Events {
		return err
	}
	c.same.root, c.same.whole, err = g.Copy(ctx, func(ctx context.Context, id [32]byte, data []byte) error { return c.o.Put(ctx, id, data) })
	if c.copied() {
		c.outside()
		c.b.Put = func(context.Context, agentstate.ID, []byte) error { return nil }
		c.o.OnLoss = nil
	}
	return err
}

// outside reports what is not in the state that is copied.
func (c *Conversation) outside() {
	c.at = c.s.ID
	if len(c.s.Extras) > c.s.Graph.Extras {
		c.note(loss.SessionMetadata)
	}
	for range c.s.Branches {
		c.note(loss.BranchLeft)
	}
}

package agentwrite

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// resume copies the state that the conversation is added to, but for its root, and takes
// its place up: after its last message.
func (c *Conversation) resume(ctx context.Context, g *session.Graph) error {
	var root []byte
	id, whole, err := g.Copy(ctx, nil)
	if err == nil && whole {
		_, whole, err = g.Copy(ctx, func(_ context.Context, of [32]byte, data []byte) error {
			if of == id {
				root = bytes.Clone(data)
			}
			return nil
		})
	}
	if err == nil && !whole {
		err = &formats.Error{At: c.s.ID, Err: errors.New("the state of the conversation is incomplete"), Hint: "run `rehome check` on its store"}
	}
	if err != nil {
		return err
	}
	r, err := agentstate.Continue(root)
	if err != nil {
		return &formats.Error{At: c.s.ID, Err: err, Hint: "run `rehome check` on its store"}
	}
	systems, last := map[agentstate.ID]bool{}, agentstate.ID{}
	if n := len(r.Turns); n > 0 {
		last = r.Turns[n-1]
	}
	_, _, err = g.Copy(ctx, func(ctx context.Context, of [32]byte, data []byte) error {
		switch {
		case of == id:
			return nil
		case of == last:
			c.past = agentstate.ParseTurn(data)
		case agentstate.IsSystem(data):
			systems[of] = true
		}
		return c.o.Put(ctx, of, data)
	})
	if err != nil {
		return err
	}
	c.root, c.prompts = *r, slices.Clone(r.Prompts)
	for c.lead < len(c.prompts) && systems[c.prompts[c.lead]] {
		c.lead++
	}
	c.begun = len(c.prompts) > 0
	return c.unwait(ctx)
}

// unwait makes the answers whose calls wait for results prompt messages like others: their
// results will not come.
func (c *Conversation) unwait(ctx context.Context) error {
	for _, doc := range c.root.Waiting() {
		id, err := c.b.Blob(ctx, doc)
		if err != nil {
			return err
		}
		c.prompts = append(c.prompts, id)
		for _, call := range agentstate.CallsOf(doc) {
			p := c.newPrompt(session.Tool)
			p.text("id", call[0])
			p.part("tool-result")
			p.text("toolName", call[1])
			p.text("toolCallId", call[0])
			p.text("result", noResult)
			p.end()
			if err := c.put(ctx, p, nil, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// reopen begins the turn again in which the state ends, for a message that belongs to it.
func (c *Conversation) reopen(m *session.Message) {
	if c.past != nil && m.Turn == nil && c.turn == nil {
		c.turn = &turn{at: len(c.root.Turns) - 1, AgentTurn: *c.past}
	}
	c.past = nil
}

// listed notes the todos that a call left, for a state that has some of before.
func (c *Conversation) listed(k *call) {
	if c.root.Continues() && k.spelled.Kind == "updateTodos" {
		if list := rawjson.At(k.spelled.Value, "success", "todos"); len(list) > 0 && list[0] == '[' {
			c.todos = bytes.Clone(list)
		}
	}
}

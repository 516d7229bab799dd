package convert

import (
	"hash/maphash"
	"iter"

	"rehome/formats/session"
)

// calls are those of the sessions that came by, eight bytes each. What lies
// beside a subagent's file names the call that started it: a client that looks
// for one that is nowhere takes the subagent for lost.
type calls struct {
	seed maphash.Seed
	of   map[string]bool // sessions
	seen map[uint64]struct{}
}

func newCalls() *calls {
	return &calls{seed: maphash.MakeSeed(), of: map[string]bool{}, seen: map[uint64]struct{}{}}
}

func (c *calls) sum(of, call string) uint64 {
	return maphash.Comparable(c.seed, [2]string{of, call})
}

// listen enters the calls of a session as its messages come by.
func (c *calls) listen(s *session.Session) *session.Session {
	c.of[s.ID] = true
	if s.Messages == nil {
		return s
	}
	out := *s
	out.Messages = c.among(s.ID, s.Messages)
	return &out
}

func (c *calls) among(of string, list iter.Seq2[*session.Message, error]) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		for m, err := range list {
			if err == nil {
				for _, p := range m.Parts {
					if call, ok := p.(*session.ToolCall); ok {
						c.seen[c.sum(of, call.ID)] = struct{}{}
					}
				}
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

// head is a session's, without the call that started it where the session above
// came by and does not hold it.
func (c *calls) head(h *session.Head) *session.Head {
	if h.Parent == nil || h.Parent.Call == "" || !c.of[h.Parent.Session] {
		return h
	}
	if _, there := c.seen[c.sum(h.Parent.Session, h.Parent.Call)]; there {
		return h
	}
	out, up := *h, *h.Parent
	up.Call, out.Parent = "", &up
	return &out
}

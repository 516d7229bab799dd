package convert

import (
	"hash/maphash"
	"iter"

	"rehome/formats/session"
)

// callIndex holds the tool calls of the sessions so far, eight bytes each. The
// companion of a subagent's file names the call that started it: a client that
// cannot find that call ignores the subagent.
type callIndex struct {
	seed     maphash.Seed
	sessions map[string]bool // sessions that were seen
	seen     map[uint64]struct{}
}

func newCallIndex() *callIndex {
	return &callIndex{seed: maphash.MakeSeed(), sessions: map[string]bool{}, seen: map[uint64]struct{}{}}
}

func (c *callIndex) sum(of, call string) uint64 {
	return maphash.Comparable(c.seed, [2]string{of, call})
}

// record returns the session with a stream that records its calls.
func (c *callIndex) record(s *session.Session) *session.Session {
	c.sessions[s.ID] = true
	if s.Messages == nil {
		return s
	}
	out := *s
	out.Messages = c.recordMessages(s.ID, s.Messages)
	return &out
}

func (c *callIndex) recordMessages(of string, list iter.Seq2[*session.Message, error]) iter.Seq2[*session.Message, error] {
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

// head returns a session's head, without the call that started it if its parent
// was seen and does not hold that call.
func (c *callIndex) head(h *session.Head) *session.Head {
	if h.Parent == nil || h.Parent.Call == "" || !c.sessions[h.Parent.Session] {
		return h
	}
	if _, there := c.seen[c.sum(h.Parent.Session, h.Parent.Call)]; there {
		return h
	}
	out, up := *h, *h.Parent
	up.Call, out.Parent = "", &up
	return &out
}

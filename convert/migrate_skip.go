package convert

import (
	"iter"
	"slices"

	"rehome/formats/loss"
	"rehome/formats/session"
)

// isContent reports whether a message is a prompt, an answer or a call, and not
// what a client inserts before prompts or writes for itself.
func isContent(m *session.Message) bool {
	return m.Role != session.System && slices.ContainsFunc(m.Parts, func(p session.Part) bool {
		_, injected := p.(*session.Injected)
		return !injected
	})
}

// empty reports whether a session was read to its end and has no content.
func (g *placement) empty() bool { return g != nil && g.complete && !g.hasContent }

// observe returns a stream that records the time of its last message, and whether
// there is content.
func (g *placement) observe(list iter.Seq2[*session.Message, error]) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		if list == nil {
			g.complete = true
			return
		}
		for m, err := range list {
			if err == nil {
				for _, at := range []session.Stamp{m.At, m.End} {
					if at.Known() && (!g.lastMoment.Known() || at.Millis() > g.lastMoment.Millis()) {
						g.lastMoment = at
					}
				}
				g.hasContent = g.hasContent || isContent(m)
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
		g.complete = true
	}
}

// findContent finds out whether a session without a place has content.
func (g *placement) findContent(s *session.Session) {
	for range g.observe(s.Messages) {
		if g.hasContent {
			return
		}
	}
}

// skips reports whether to skip a family: neither the session nor its subagents have
// content. It removes subagents without content.
func (m *migration) skips(f *sessionFamily) bool {
	empty := func(r *migratedSession) bool {
		if r.empty {
			f.root.losses = loss.Merge(f.root.losses, r.losses)
		}
		return r.empty
	}
	all := len(f.children)
	f.children = slices.DeleteFunc(f.children, empty)
	m.out.Empty += all - len(f.children)
	if !f.root.empty || len(f.children) > 0 {
		return false
	}
	m.out.Empty++
	return true
}

package convert

import (
	"slices"

	"rehome/formats/loss"
	"rehome/formats/session"
)

// The states of sessions that no client has any use for.
const (
	skippedEmpty   = "empty"
	skippedHistory = "prompt history"
)

// says reports whether a message is a prompt, an answer or a call: not what a
// client puts in front of prompts, and not what it says to itself.
func says(m *session.Message) bool {
	return m.Role != session.System && slices.ContainsFunc(m.Parts, func(p session.Part) bool {
		_, injected := p.(*session.Injected)
		return !injected
	})
}

// empty reports a session that was read to its end, and nothing was said in it.
func (g *goal) empty() bool { return g != nil && g.read && !g.said }

// walk finds out whether anything was said in a session that has no place.
func (g *goal) walk(s *session.Session) {
	for range g.watched(s).Messages {
		if g.said {
			return
		}
	}
}

// skips leaves out a session in which, and in whose subagents, nothing was said,
// and those subagents of another; and a list of prompts.
func (m *moving) skips(f *household) bool {
	if f.root.Status == skippedHistory {
		m.histories++
		return true
	}
	empty := func(r *SessionReport) bool {
		if r.skip {
			f.root.Losses = loss.Merge(f.root.Losses, r.Losses)
		}
		return r.skip
	}
	all := len(f.children)
	f.children = slices.DeleteFunc(f.children, empty)
	m.empty += all - len(f.children)
	if !f.root.skip || len(f.children) > 0 {
		return false
	}
	m.empty++
	return true
}

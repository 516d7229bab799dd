package convert

import (
	"slices"

	"rehome/formats/loss"
	"rehome/formats/session"
)

// The states of sessions that are skipped.
const (
	skippedEmpty   = "empty"
	skippedHistory = "prompt history"
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

// findContent finds out whether a session without a place has content.
func (g *placement) findContent(s *session.Session) {
	for range g.observe(s).Messages {
		if g.hasContent {
			return
		}
	}
}

// skips reports whether to skip a family: no content in the session and its
// subagents, or a list of prompts. It removes subagents without content.
func (m *migrateJob) skips(f *sessionFamily) bool {
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

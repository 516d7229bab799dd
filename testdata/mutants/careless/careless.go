// Package careless lets any codec forget what a stranger's first codec forgot, while the suite
// passed: whatever the code of a codec is like, these mistakes can be made in it.
package careless

import (
	"context"
	"iter"
	"slices"

	"rehome/formats"
	"rehome/formats/session"
)

// Faults are what a reader forgets, by its name.
func Faults() map[string]func(m *session.Message) *session.Message {
	return map[string]func(m *session.Message) *session.Message{
		"thinking": func(m *session.Message) *session.Message {
			m.Parts = each(m.Parts, func(p session.Part) session.Part {
				if t, ok := p.(*session.Thinking); ok {
					bare := *t
					bare.Text = ""
					return &bare
				}
				return p
			})
			return m
		},
		"images": func(m *session.Message) *session.Message {
			m.Parts = each(m.Parts, func(p session.Part) session.Part {
				if t, ok := p.(*session.Media); ok {
					bare := *t
					bare.Data = nil
					return &bare
				}
				return p
			})
			return m
		},
		"records": func(m *session.Message) *session.Message {
			if !m.Said() && !slices.ContainsFunc(m.Parts, func(p session.Part) bool { _, ok := p.(*session.Boundary); return ok }) {
				return nil
			}
			return m
		},
		"extras":   func(m *session.Message) *session.Message { m.Extras = nil; return m },
		"branches": func(m *session.Message) *session.Message { m.Branch = ""; return m },
		"results": func(m *session.Message) *session.Message {
			for i, p := range m.Parts {
				if t, ok := p.(*session.ToolResult); ok && len(t.Content) > 1 {
					one := *t
					one.Content = one.Content[:1]
					m.Parts[i] = &one
				}
			}
			return m
		},
		"turns": func(m *session.Message) *session.Message {
			if m.Turn != nil {
				turn := *m.Turn
				turn.Number--
				m.Turn = &turn
			}
			return m
		},
	}
}

// each returns changed parts, those of results, too.
func each(list []session.Part, change func(session.Part) session.Part) []session.Part {
	for i, p := range list {
		if t, ok := p.(*session.ToolResult); ok {
			inner := *t
			inner.Content = each(slices.Clone(t.Content), change)
			p = &inner
		}
		list[i] = change(p)
	}
	return list
}

// Codec returns a format whose reader has a fault.
func Codec(f *formats.Format, fault string) *formats.Format {
	format, sessions := *f, *f.Sessions
	format.Sessions = &sessions
	decode, change := sessions.Decode, Faults()[fault]
	sessions.Decode = func(
		ctx context.Context, l *formats.Location, v formats.View, sel session.Selection,
	) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) {
			for s, err := range decode(ctx, l, v, sel) {
				if s != nil && s.Messages != nil {
					s.Messages = changed(s.Messages, change)
				}
				if s != nil && fault == "branches" {
					s.Branches = nil
				}
				if !yield(s, err) {
					return
				}
			}
		}
	}
	return &format
}

func changed(all iter.Seq2[*session.Message, error], change func(*session.Message) *session.Message) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		for m, err := range all {
			if m != nil {
				own := *m // the codec may keep its own
				own.Parts = slices.Clone(m.Parts)
				m = change(&own)
			}
			if (m != nil || err != nil) && !yield(m, err) {
				return
			}
		}
	}
}

package formatstest

import (
	"context"
	"iter"
	"testing"

	"rehome/formats"
	"rehome/formats/formatstest/leaves"
	"rehome/formats/session"
)

// Writes tests the law of a writer on the sessions of a fixture: what is in them is in what is
// written, or the writer's declarations and losses say why not, and nothing else is in it. The
// states of agents are left out: with one, the messages are not written, but copied.
func (c Case) Writes(t *testing.T, f Fixture, to *formats.Format, law *leaves.Writer) {
	t.Helper()
	s := makeSource(t, f)
	c.Format = stateless(c.Format)
	l, err := formats.Locate(s.path)
	if err != nil {
		t.Fatal(err)
	}
	var sources []*leaves.Source
	for one, err := range c.Format.Sessions.Decode(t.Context(), l, silent(), session.Selection{}) {
		if err != nil {
			return // whoever reads it reports that
		}
		sources = append(sources, law.Source(t, one))
	}
	d, err := c.put(t.Context(), t, to, s, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range sources {
		sources[i].Lost = d.reports[i]
	}
	for i, path := range d.paths {
		if path == "" {
			continue
		}
		var family []*leaves.Source
		for n := range sources {
			if n == i || d.paths[n] == "" && d.roots[n] == i {
				family = append(family, sources[n])
			}
		}
		if to.Writer.Join != nil && !law.Drafts {
			path = joined(t, to, []string{path})
		}
		law.Holds(t, family, path)
	}
}

// stateless is a format whose sessions have no state.
func stateless(f *formats.Format) *formats.Format {
	out, sessions := *f, *f.Sessions
	out.Sessions = &sessions
	sessions.Decode = func(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) {
			for s, err := range f.Sessions.Decode(ctx, l, v, sel) {
				if s != nil {
					s.Graph = nil
				}
				if !yield(s, err) {
					return
				}
			}
		}
	}
	return &out
}

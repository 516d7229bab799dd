package convert

import (
	"context"

	"rehome/convert/internal/pipe"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// migratedStore is one store whose sessions are migrated.
type migratedStore struct {
	*migration
	at         Found
	placements map[string]*placement // by session
	ids        givenIDs
	sessions   []*migratedSession
	histories  int   // number of lists of prompts, which are skipped
	err        error // of the store as a whole
}

// migratedSession is a session that was read, and written unless err says why not.
type migratedSession struct {
	*pipe.Result
	placement *placement   // nil if it was not started
	losses    []loss.Group // its own
	empty     bool         // without content
	err       error
}

// convertStore stages the sessions of store i.
func (m *migration) convertStore(ctx context.Context, i, jobs int, last bool) error {
	s := m.stores[i]
	if s.err != nil {
		return nil
	}
	c, retry, err := m.convertSessions(ctx, i, jobs, last, m.to, s, nil)
	if retry == nil && err == nil && len(s.sessions) == 1 {
		s.sessions[0].losses = append(s.sessions[0].losses, c.trailing.Groups()...)
	}
	s.err = err
	for _, one := range s.sessions {
		if one.err == nil {
			one.err = err
		}
	}
	return retry
}

// Plan finds out where a session goes.
func (c *migratedStore) Plan(s *session.Session) (plan pipe.Plan, err error) {
	if s.Status == session.PromptHistory {
		c.histories++
		return pipe.Plan{Do: pipe.Skip}, nil
	}
	g, err := c.placementOf(s)
	plan.Tag, plan.Alone = g, g.alone
	switch {
	case err != nil:
		g.findContent(s)
		return plan, err
	case g.inPlace:
		plan.Do = pipe.Count
		return plan, nil
	}
	s.Messages = g.observe(s.Messages)
	plan.Build = formats.SessionBuild{Cwd: g.cwd, Root: g.root, DropThinking: c.o.DropThinking, FullHistory: c.o.FullHistory}
	return plan, nil
}

// Done keeps a result until all stores have been read.
func (c *migratedStore) Done(r *pipe.Result) (keep bool) {
	if r.Plan.Do == pipe.Skip {
		return false
	}
	keep = r.Err == nil
	g, _ := r.Plan.Tag.(*placement)
	one := &migratedSession{Result: r, placement: g, losses: r.Losses.Groups(), err: r.Err}
	r.Losses = nil
	if one.empty = one.placement.empty(); one.empty {
		r.Err = nil // it is no failure of the store
	}
	c.sessions = append(c.sessions, one)
	return keep
}

package convert

import (
	"context"
	"errors"
	"slices"

	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// sessionFamily is a staged session with its subagents.
type sessionFamily struct {
	root     *migratedSession
	children []*migratedSession
}

// install places the sessions of all stores under the names that their client
// expects. It returns the errors of stores that are not about one session.
func (m *migration) install(ctx context.Context) error {
	var errs []error
	count := 0
	for _, s := range m.stores {
		count += len(s.sessions)
		errs = append(errs, s.err)
		m.out.Histories += s.histories
	}
	if count > stage.FewFiles && !m.opts.DryRun {
		var err error
		if m.synced, err = stage.SyncDisk(m.stage.Root); err != nil {
			return err
		}
	}
	m.planned = map[string]bool{}
	for _, s := range m.stores {
		for _, f := range groupFamilies(s.sessions) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if m.skips(f) {
				continue
			}
			p := &plannedFamily{sessionFamily: f, rep: f.report(s.at.Loc.Path), err: f.root.err}
			if p.err == nil {
				p.err = m.plan(ctx, p)
			}
			m.plans = append(m.plans, p)
		}
	}
	if err := m.flush(ctx); err != nil || slices.Contains(errs, nil) {
		return err
	}
	return joinDistinct(errs)
}

// flush records what will change for the planned families, and places them.
func (m *migration) flush(ctx context.Context) (err error) {
	plans := m.plans
	m.plans = nil
	clear(m.planned)
	tx, failed := m.begin(plans)
	defer func() { err = errors.Join(err, m.end(tx, plans)) }()
	for _, p := range plans {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.err == nil && len(p.todo) > 0 {
			p.err = failed
		}
		switch p.rep.Status, err = m.place(ctx, p, tx); {
		case errors.Is(err, ErrContinued) && !m.o.Update:
			p.rep.Status, err = Continued, nil
		case err != nil:
			p.rep.Status, p.rep.err = Failed, err
			p.rep.Error = &ErrorReport{Message: err.Error(), Hint: formats.Hint(err)}
		}
		if tx.Log != nil && p.moved() {
			p.rep.Undo = tx.Log.Record.ID
		}
		m.out.Migrated = append(m.out.Migrated, p.rep)
	}
	return nil
}

// groupFamilies groups the sessions of a store by their outermost session.
func groupFamilies(all []*migratedSession) (out []*sessionFamily) {
	byRoot := map[*session.Head]*sessionFamily{}
	for _, r := range all {
		if r.placement == nil { // it was not started
			out = append(out, &sessionFamily{root: r})
			continue
		}
		f := byRoot[r.placement.root]
		if f == nil {
			f = &sessionFamily{root: r} // parents precede their children
			byRoot[r.placement.root] = f
			out = append(out, f)
			continue
		}
		f.children = append(f.children, r)
	}
	return out
}

// report returns the report of a family before it is placed.
func (f *sessionFamily) report(source string) Migrated {
	r := f.root
	m := Migrated{Source: source, ID: r.ID, Agent: r.Agent, Title: r.Title, Messages: r.Messages, Turns: r.Turns, Losses: r.losses}
	if r.placement != nil {
		m.ID, m.Cwd = r.placement.id, r.placement.cwd
	}
	if r.Draft != nil {
		m.Tokens = r.Draft.Tokens
	}
	m.addUsed(r)
	if r.Plan.Redacted != nil {
		m.Redacted = append([]RedactedCount{}, redactedIn(r.Result)...)
	}
	for _, c := range f.children {
		if c.err != nil && r.err != nil {
			continue // the whole family failed: report only that
		}
		if c.err != nil {
			m.Losses = append(m.Losses, loss.Loss{Code: loss.SubagentFailed, At: store.Addr{File: c.ID}}.Group())
			continue
		}
		m.Subagents++
		m.addUsed(c)
		m.Losses = loss.Merge(m.Losses, c.losses)
		m.Redacted = AddRedacted(m.Redacted, redactedIn(c.Result))
	}
	if m.Losses == nil {
		m.Losses = []loss.Group{}
	}
	return m
}

// addUsed adds what the calls of a session used.
func (m *Migrated) addUsed(of *migratedSession) {
	union := func(a, b []string) []string { return slices.Compact(slices.Sorted(slices.Values(append(a, b...)))) }
	m.Servers, m.Commands = union(m.Servers, of.Servers), union(m.Commands, of.Commands)
}

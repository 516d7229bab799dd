package convert

import (
	"context"
	"errors"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// household is a session with its subagents, staged.
type household struct {
	store    *StoreReport
	root     *SessionReport
	children []*SessionReport
}

// install gives the sessions of all stores the names that their client knows.
// What a store says of itself beside its sessions is the error.
func (j *job) install(ctx context.Context) error {
	to, m := j.reg.Lookup(j.o.To), j.moving
	var all [][]*household
	count := 0
	for i := range j.rep.Stores {
		all = append(all, households(&j.rep.Stores[i]))
		count += len(all[i])
	}
	if count > fewFiles && !j.o.DryRun {
		var err error
		if m.synced, err = syncDisk(j.stage.Root); err != nil {
			return err
		}
	}
	err := j.installAll(ctx, to, all)
	if err = errors.Join(err, m.last()); err != nil {
		return err
	}
	return j.outcome()
}

func (j *job) installAll(ctx context.Context, to *formats.Format, all [][]*household) error {
	for i := range all {
		for _, f := range all[i] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if j.moving.skips(f) {
				continue
			}
			m := f.report(j.found[i].Loc.Path)
			if f.root.err == nil {
				m.settle(j.moving.place(ctx, to, f, &m))
			} else {
				m.settle("", j.explain(f.root.err))
			}
			j.moving.done = append(j.moving.done, m)
		}
	}
	return nil
}

// households puts the sessions of a store together that go together.
func households(s *StoreReport) (out []*household) {
	byRoot := map[*session.Head]*household{}
	for i := range s.Sessions {
		r := &s.Sessions[i]
		if r.goal == nil { // it was not even begun
			out = append(out, &household{store: s, root: r})
			continue
		}
		f := byRoot[r.goal.root]
		if f == nil {
			f = &household{store: s, root: r} // parents come before their children
			byRoot[r.goal.root] = f
			out = append(out, f)
			continue
		}
		f.children = append(f.children, r)
	}
	return out
}

// report begins what is said of a family.
func (f *household) report(source string) Migrated {
	r := f.root
	m := Migrated{Source: source, ID: r.ID, Agent: r.Agent, Title: r.Title, Messages: r.Messages, Turns: r.Turns, Losses: r.Losses}
	if r.goal != nil {
		m.ID, m.Cwd = r.goal.id, r.goal.cwd
	}
	for _, c := range f.children {
		if c.err != nil && r.err != nil {
			continue // of what failed as a whole nothing else is to be said
		}
		if c.err != nil {
			m.Losses = append(m.Losses, loss.Loss{Code: loss.SubagentFailed, At: store.Addr{File: c.ID}}.Group())
			continue
		}
		m.Subagents++
		m.Losses = loss.Merge(m.Losses, c.Losses)
	}
	if m.Losses == nil {
		m.Losses = []loss.Group{}
	}
	return m
}

func (m *Migrated) settle(status string, err error) {
	if m.Status = status; err == nil {
		return
	}
	m.Status, m.err = Failed, err
	m.Error = &ErrorReport{Message: err.Error(), Hint: formats.Hint(err)}
}

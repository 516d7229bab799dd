package convert

import (
	"context"
	"errors"

	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// sessionFamily is a staged session with its subagents.
type sessionFamily struct {
	store    *StoreReport
	root     *SessionReport
	children []*SessionReport
}

// install places the sessions of all stores under the names that their client
// expects. It returns the errors of stores that are not about one session.
func (j *job) install(ctx context.Context) error {
	to, m := j.reg.Lookup(j.opts.To), j.migration
	var all [][]*sessionFamily
	count := 0
	for i := range j.rep.Stores {
		all = append(all, groupFamilies(&j.rep.Stores[i]))
		count += len(all[i])
	}
	if count > stage.FewFiles && !j.opts.DryRun {
		var err error
		if m.synced, err = stage.SyncDisk(j.stage.Root); err != nil {
			return err
		}
	}
	err := j.installAll(ctx, to, all)
	if err = errors.Join(err, m.syncFolders()); err != nil {
		return err
	}
	return j.failure()
}

func (j *job) installAll(ctx context.Context, to *formats.Format, all [][]*sessionFamily) error {
	for i := range all {
		for _, f := range all[i] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if j.migration.skips(f) {
				continue
			}
			m := f.report(j.found[i].Loc.Path)
			if f.root.err == nil {
				m.finish(j.migration.place(ctx, to, f, &m))
			} else {
				m.finish("", j.explain(f.root.err))
			}
			j.migration.results = append(j.migration.results, m)
		}
	}
	return nil
}

// groupFamilies groups the sessions of a store by their outermost session.
func groupFamilies(s *StoreReport) (out []*sessionFamily) {
	byRoot := map[*session.Head]*sessionFamily{}
	for i := range s.Sessions {
		r := &s.Sessions[i]
		if r.placement == nil { // it was not started
			out = append(out, &sessionFamily{store: s, root: r})
			continue
		}
		f := byRoot[r.placement.root]
		if f == nil {
			f = &sessionFamily{store: s, root: r} // parents precede their children
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
	m := Migrated{Source: source, ID: r.ID, Agent: r.Agent, Title: r.Title, Messages: r.Messages, Turns: r.Turns, Losses: r.Losses}
	if r.placement != nil {
		m.ID, m.Cwd = r.placement.id, r.placement.cwd
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
		m.Losses = loss.Merge(m.Losses, c.Losses)
	}
	if m.Losses == nil {
		m.Losses = []loss.Group{}
	}
	return m
}

func (m *Migrated) finish(status string, err error) {
	if m.Status = status; err == nil {
		return
	}
	m.Status, m.err = Failed, err
	m.Error = &ErrorReport{Message: err.Error(), Hint: formats.Hint(err)}
}

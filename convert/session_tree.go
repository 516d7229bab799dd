package convert

import (
	"cmp"
	"context"

	"rehome/convert/internal/pipe"
	"rehome/formats/session"
)

// newSessions are the sessions of one store on their way to a new folder or file.
type newSessions struct {
	*job
	store *StoreReport
	roots map[string]*session.Head // the outermost session above each, or itself
	ids   givenIDs
	done  []stagedSession
}

// convertStore converts store i session by session, fills in its report, and leaves
// the sessions staged.
func (j *job) convertStore(ctx context.Context, i, jobs int, last bool) error {
	rep, to := &j.rep.Stores[i], j.reg.Lookup(j.opts.To)
	rep.To = to.Name
	n := &newSessions{job: j, store: rep, roots: map[string]*session.Head{}}
	c, retry, err := j.convertSessions(ctx, i, jobs, last, to, n, n.isSubagent)
	if retry != nil {
		return retry
	}
	if err == nil {
		n.trailingLosses(c)
	}
	rep.Losses = append(rep.Losses, c.losses.Groups()...)
	sum := c.account.Total()
	rep.Rows, rep.Superseded = sum.Read, sum.Superseded
	if err != nil {
		rep.failSessions()
		rep.fail(err)
		return nil
	}
	if rep.Status = rep.status(j.opts.DryRun); rep.Status == Failed {
		rep.fail(c.allFailed())
	}
	j.stagedSessions[i] = n.done
	return nil
}

// isSubagent reports whether a session is a subagent of one that is converted.
// Parents precede their children.
func (n *newSessions) isSubagent(s *session.Session) bool {
	return s.Parent != nil && s.Parent.Session != s.ID && n.roots[s.Parent.Session] != nil
}

// Plan finds the outermost session above a session.
func (n *newSessions) Plan(s *session.Session) (plan pipe.Plan, err error) {
	if n.isSubagent(s) {
		n.roots[s.ID] = n.roots[s.Parent.Session]
		plan.Build.Root = n.roots[s.ID]
	} else {
		root := &session.Head{ID: s.ID, Agent: s.Agent, Workspace: cmp.Or(n.opts.Cwd, s.Workspace)}
		n.roots[s.ID] = root
		if id := n.ids.give(n.reg.Lookup(n.opts.To), *root, nil); id != s.ID {
			plan.Tag = s.ID
			root.ID, s.ID = id, id
			n.roots[id] = root // some decoders read the session's id for its subagents
		}
	}
	plan.Build.Cwd, plan.Build.DropThinking, plan.Build.FullHistory = n.opts.Cwd, n.opts.DropThinking, n.opts.FullHistory
	return plan, nil
}

// anotherID is the note on a session that got another id.
const anotherID = "new id: an earlier session of the store has the same one"

// Done adds the report of a session. In a dry run, nothing stays staged, unless a store
// is yet to be made of it.
func (n *newSessions) Done(r *pipe.Result) (keep bool) {
	n.store.Bytes += r.Bytes
	if n.opts.Cwd != "" {
		r.Workspace = n.opts.Cwd
	}
	rep := SessionReport{ID: r.ID, Agent: r.Agent, Title: r.Title, Workspace: r.Workspace, Messages: r.Messages, Turns: r.Turns, Bytes: r.Bytes, Losses: r.Losses.Groups()}
	if id, ok := r.Plan.Tag.(string); ok {
		rep.ID, rep.Note = id, anotherID
	}
	switch {
	case r.Err != nil:
		rep.fail(r.Err)
	case r.Worst > n.opts.Allow:
		rep.Status = Skipped
	default:
		if rep.Status = Checked; !n.opts.DryRun {
			rep.Status = Placed
		}
		rep.Redacted = redactedIn(r)
		r.Head, r.Losses = fileHead(&r.Head, r.Plan.Build.Root), nil
		n.done = append(n.done, stagedSession{r, len(n.store.Sessions)})
	}
	n.store.Sessions = append(n.store.Sessions, rep)
	return rep.Status == Placed || rep.Status == Checked && n.joins()
}

// trailingLosses adds losses that were noted after the last session. If that is
// the only session, they are its own.
func (n *newSessions) trailingLosses(c *sessionStore) {
	losses := c.trailing
	if losses.Worst() == 0 {
		return
	}
	if len(n.store.Sessions) != 1 {
		n.store.lossesBeyond = losses.Worst() > n.opts.Allow
		return
	}
	r := &n.store.Sessions[0]
	r.Losses = append(r.Losses, losses.Groups()...)
	if losses.Worst() > n.opts.Allow && r.Status != Failed {
		r.Status, n.done = Skipped, nil
		c.removeDrafts()
	}
}

// fileHead returns the head from which a session's file is named: that of a
// subagent is with the outermost session, however deep it was started.
func fileHead(h, root *session.Head) session.Head {
	out := *h
	if root == nil || h.Parent == nil {
		return out
	}
	up := *h.Parent
	up.Session, out.Parent, out.Workspace = root.ID, &up, root.Workspace
	return out
}

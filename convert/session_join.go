package convert

import (
	"context"
	"fmt"
	"slices"

	"rehome/convert/internal/pipe"
	"rehome/convert/internal/sidecar"
	"rehome/convert/internal/stage"
	"rehome/convert/internal/workers"
	"rehome/formats"
)

// joins reports whether all sessions become one store.
func (j *job) joins() bool {
	return j.rep.Lane == SessionConversion && j.reg.Lookup(j.opts.To).Writer.Join != nil
}

// joinSessions makes one store of the staged sessions of all sources, see
// formats.Writer.Join, and verifies it as an exact conversion does. It reports whether
// there were any.
func (j *job) joinSessions(ctx context.Context, to *formats.Format) (some bool, err error) {
	drafts := j.draftsToJoin(to)
	if err := j.failure(); err != nil || len(drafts) == 0 {
		return false, err
	}
	goal := j.stage.StorePath(j.dest, ".")
	c := &exactConversion{job: j, source: Found{Rel: "."}, out: &StoreReport{}, staged: goal, jobs: workers.Count(j.opts.Jobs), omitted: sidecar.NewOmitted(".", true)}
	c.kind = joinedKind(to)
	if err := c.join(ctx, to, drafts); err != nil {
		return false, err
	}
	for i := range j.stagedSessions {
		for _, f := range j.stagedSessions[i] {
			if err := f.Remove(); err != nil { // free the space
				return false, err
			}
		}
	}
	rep := &j.rep.Stores[slices.IndexFunc(j.stagedSessions, func(of []stagedSession) bool { return len(of) > 0 })]
	rep.Losses = append(rep.Losses, c.losses.Groups()...)
	rep.lossesBeyond = rep.lossesBeyond || c.losses.Worst() > j.opts.Allow
	if j.opts.DryRun {
		err = stage.RemoveStore(goal)
	}
	return !j.opts.DryRun, err
}

// joinedKind returns the kind of the records that Writer.Join opens.
func joinedKind(to *formats.Format) (name string) {
	for _, k := range to.Records.Kinds {
		if name = k.Name; name != formats.Tables {
			break
		}
	}
	return name
}

// draftsToJoin returns the paths of the drafts in the order of the sources. In one store
// no two sessions can have the same id: the second one fails, with its subagents.
func (j *job) draftsToJoin(to *formats.Format) (out []string) {
	taken := map[string]bool{}
	for i := range j.stagedSessions {
		rep, failed := &j.rep.Stores[i], map[*pipe.Result]bool{}
		var first error
		for _, f := range j.stagedSessions[i] {
			root := f.Result
			if f.Draft.Within {
				root = f.Root
			}
			id := to.Writer.ID(&root.Head)
			switch {
			case root == f.Result && !taken[id]:
				taken[id] = true
				out = append(out, f.Path)
			case root == f.Result || failed[root]:
				failed[f.Result] = true
				err := &formats.Error{At: f.ID, Err: fmt.Errorf("another session of the source also becomes %s", id), Hint: "convert them one at a time, each to a DST of its own"}
				if rep.Sessions[f.report].fail(err); first == nil {
					first = err
				}
			}
		}
		j.stagedSessions[i] = slices.DeleteFunc(j.stagedSessions[i], func(f stagedSession) bool { return failed[f.Result] })
		if rep.err == nil && first != nil {
			if rep.Status = rep.status(j.opts.DryRun); rep.Status == Failed {
				rep.fail(first)
			}
		}
	}
	return out
}

// join writes the store and reads it again.
func (c *exactConversion) join(ctx context.Context, to *formats.Format, drafts []string) error {
	v := formats.FullView(c.jobs)
	v.Kind, v.OnLoss, v.Fresh = c.kind, c.losses.Add, true
	r, err := to.Writer.Join(ctx, drafts, v)
	if err != nil {
		return err
	}
	if err := c.copyFrom(ctx, r, to); err != nil {
		return err
	}
	return c.verify(ctx, to, r.Schema(), r.Summary())
}

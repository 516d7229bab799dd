package convert

import (
	"context"
	"errors"

	"rehome/convert/internal/sidecar"
	"rehome/convert/internal/stage"
	"rehome/convert/internal/walk"
)

// fewStores is the max number of stores that are converted one after the other,
// with all workers on one. More are converted in parallel, one worker each,
// which needs no handover.
const fewStores = 2

// convertAll converts every store. A store that fails is left out of the staged
// tree; a full disk or a canceled context ends the run.
func (j *job) convertAll(ctx context.Context) error {
	return j.each(ctx, j.convertOne, func(i int) { j.rep.Stores[i] = newStoreReport(j.found[i]) })
}

// prune removes what is not placed from the staged tree.
func (j *job) prune() error {
	for i := range j.rep.Stores {
		if s := &j.rep.Stores[i]; s.Status != Placed && s.Status != Checked {
			if err := j.stage.Drop(j.storePath(s)); err != nil {
				return err
			}
		}
	}
	return nil
}

// storePath returns the path where a store is staged.
func (j *job) storePath(s *StoreReport) string {
	return j.stage.StorePath(j.dest, s.Place())
}

// fatal reports whether an error would occur with every following store, too.
func fatal(err error) bool { return err != nil && stage.DiskFull(err) }

// convertOne converts store i and fills in its report. last says that it will
// not be tried again.
func (j *job) convertOne(ctx context.Context, i, jobs int, last bool) error {
	rep := &j.rep.Stores[i]
	if rep.err != nil || rep.skipped {
		return nil
	}
	if j.rep.Lane == SessionConversion {
		return j.convertStore(ctx, i, jobs, last)
	}
	c := &exactConversion{job: j, source: j.found[i], out: rep, jobs: jobs, only: len(j.found) == 1, omitted: sidecar.NewOmitted(rep.Path, j.sidecar.Off)}
	c.staged = j.storePath(rep)
	err := c.run(ctx)
	switch {
	case fatal(err):
		return err // not this store's fault: the whole run has failed
	case errors.Is(err, errLosses):
		rep.Status = Skipped
	case err != nil:
		rep.fail(j.explain(err))
	default:
		rep.Status = Placed
		if j.opts.DryRun {
			rep.Status = Checked
		}
		j.omitted[i] = c.omitted
	}
	if err != nil || j.opts.DryRun && j.update == nil {
		err = errors.Join(err, stage.RemoveStore(c.staged)) // others may need the space
	}
	return err
}

// measureSizes sets the sizes of the stores on disk. What cannot be read counts
// as 0: the reader will report why.
func (in *input) measureSizes() {
	in.sizes = make([]int64, len(in.found))
	for i, f := range in.found {
		if f.Loc != nil {
			in.sizes[i] = walk.Size(f.Loc)
		}
	}
}

package convert

import (
	"context"
	"errors"
	"slices"

	"rehome/convert/internal/sidecar"
	"rehome/convert/internal/stage"
	"rehome/convert/internal/walk"
	"rehome/convert/internal/workers"
)

// fewStores is the max number of stores that are converted one after the other,
// with all workers on one. More are converted in parallel, one worker each,
// which needs no handover.
const fewStores = 2

// convertAll converts every store. A store that fails is left out of the staged
// tree; a full disk or a canceled context ends the run.
func (j *job) convertAll(ctx context.Context) error {
	run, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	parallel, each := 1, workers.Count(j.opts.Jobs)
	if len(j.found) > fewStores {
		parallel, each = each, 1
	}
	var total int64
	for _, n := range j.sizes {
		total += n
	}
	if len(j.opts.Sessions) > 0 || j.filtered() {
		total = 0 // how much is read is unknown
	}
	j.notify.current.Stores = len(j.found)
	j.notify.begin(reading, "", total)

	workers.Run(run, parallel, slices.Values(j.largestFirst()), func(i int, last bool) bool {
		err := j.convertOne(run, i, each, last)
		if fatal(err) {
			stop(err)
		}
		again := !last && workers.TooManyFiles(err)
		if again {
			j.rep.Stores[i] = newStoreReport(j.found[i])
		} else {
			j.notify.update(func(p *Progress) { p.StoresDone++ })
		}
		return again
	})
	if err := ctx.Err(); err != nil {
		return err // the caller canceled: report that, whatever the cause
	}
	return context.Cause(run)
}

// prune removes what is not placed from the staged tree.
func (j *job) prune() error {
	for i := range j.rep.Stores {
		if s := &j.rep.Stores[i]; s.Status != Placed {
			if err := j.stage.Drop(j.stage.StorePath(j.dest, s.Path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// fatal reports whether an error would occur with every following store, too.
func fatal(err error) bool { return err != nil && stage.DiskFull(err) }

// convertOne converts store i and fills in its report. last says that it will
// not be tried again.
func (j *job) convertOne(ctx context.Context, i, jobs int, last bool) error {
	rep := &j.rep.Stores[i]
	if rep.err != nil || ctx.Err() != nil {
		return nil
	}
	if j.rep.Lane == SessionConversion {
		return j.convertSessions(ctx, i, jobs, last)
	}
	c := &exactConversion{job: j, found: j.found[i], rep: rep, jobs: jobs, only: len(j.found) == 1, omitted: sidecar.NewOmitted(rep.Path, j.sidecar.Off)}
	c.staged = j.stage.StorePath(j.dest, rep.Path)
	err := c.run(ctx)
	switch {
	case fatal(err):
		return err // not this store's fault: the whole run has failed
	case errors.Is(err, errWithheld):
		rep.Status = Withheld
	case err != nil:
		rep.fail(j.explain(err))
	default:
		rep.Status = Placed
		if j.opts.DryRun {
			rep.Status = Checked
		}
		j.omitted[i] = c.omitted
	}
	if err != nil || j.opts.DryRun {
		err = errors.Join(err, stage.RemoveStore(c.staged)) // others may need the space
	}
	return err
}

// largestFirst returns the order that keeps all workers busy until the end.
func (j *job) largestFirst() []int {
	order := make([]int, len(j.found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case j.sizes[a] > j.sizes[b]:
			return -1
		case j.sizes[a] < j.sizes[b]:
			return 1
		}
		return 0
	})
	return order
}

// measureSizes sets the sizes of the stores on disk. What cannot be read counts
// as 0: the reader will report why.
func (j *job) measureSizes() {
	j.sizes = make([]int64, len(j.found))
	for i, f := range j.found {
		if f.Loc != nil {
			j.sizes[i] = walk.Size(f.Loc)
		}
	}
}

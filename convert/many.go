package convert

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rehome/formats"
)

// fewStores is up to where the workers go into one store after the other.
// Beyond it each worker has a store of its own, which needs no hand-over.
const fewStores = 2

// carryAll takes every store through the lane. A store that fails is left out
// of the staged tree; a full disk or a cancelled run ends it all.
func (j *job) carryAll(ctx context.Context) error {
	run, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	workers, each := 1, jobsOr(j.o.Jobs)
	if len(j.found) > fewStores {
		workers, each = each, 1
	}
	var total int64
	for _, n := range j.sizes {
		total += n
	}
	if len(j.o.Sessions) > 0 || j.picky() {
		total = 0 // how much of it is read nobody knows
	}
	j.talk.at.Stores = len(j.found)
	j.talk.enter(reading, "", total)

	spread(run, workers, j.largestFirst(), func(i int, last bool) bool {
		err := j.carryOne(run, i, each, last)
		if fatal(err) {
			stop(err)
		}
		again := !last && filesUsedUp(err)
		if again {
			j.rep.Stores[i] = newStoreReport(j.found[i])
		} else {
			j.talk.change(func(p *Progress) { p.StoresDone++ })
		}
		return again
	})
	if err := ctx.Err(); err != nil {
		return err // the caller's end has the plain word, whatever its cause
	}
	return context.Cause(run)
}

// prune takes out of the staged tree what is not to be placed.
func (j *job) prune() error {
	for i := range j.rep.Stores {
		if s := &j.rep.Stores[i]; s.Status != Placed {
			if err := j.stage.drop(j.stage.path(j.goal, s.Path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// fatal errors would meet every store after this one, too.
func fatal(err error) bool { return err != nil && diskFull(err) }

// carryOne fills in the report of store i. last says that it is not tried again,
// whatever it needs that others have now.
func (j *job) carryOne(ctx context.Context, i, jobs int, last bool) error {
	rep := &j.rep.Stores[i]
	if rep.err != nil || ctx.Err() != nil {
		return nil
	}
	if j.rep.Lane == sessionLane {
		return j.carrySessions(ctx, i, jobs, last)
	}
	c := &carriage{job: j, found: j.found[i], rep: rep, jobs: jobs, alone: len(j.found) == 1, left: &omissions{store: storeKey(rep.Path), off: j.sidecar.off}}
	c.staged = j.stage.path(j.goal, rep.Path)
	err := c.run(ctx)
	switch {
	case fatal(err):
		return err // it is not this store's fault: the run as a whole has failed
	case errors.Is(err, errWithheld):
		rep.Status = Withheld
	case err != nil:
		rep.fail(j.explain(err))
	default:
		rep.Status = Placed
		if j.o.DryRun {
			rep.Status = Checked
		}
		j.omitted[i] = c.left
	}
	if err != nil || j.o.DryRun {
		err = errors.Join(err, erase(c.staged)) // others may need its room
	}
	return err
}

// largestFirst keeps all workers busy until the end.
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

// measure looks up how large the stores are on disk. What cannot be seen
// counts nothing: the reader will say why.
func (j *job) measure() {
	j.sizes = make([]int64, len(j.found))
	for i, f := range j.found {
		if f.Loc != nil {
			j.sizes[i] = sizeOf(f.Loc)
		}
	}
}

func sizeOf(l *formats.Location) (n int64) {
	if !l.IsDir() {
		for _, side := range []string{"", "-wal"} {
			if info, err := os.Stat(l.Path + side); err == nil {
				n += info.Size()
			}
		}
		return n
	}
	filepath.WalkDir(l.Path, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

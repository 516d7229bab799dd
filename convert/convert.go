package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/internal/scratch"
)

// Options of a conversion. The zero value is what the command line does
// without flags.
type Options struct {
	From, To    string    // format names; "" = detect, and go back where an archive came from
	DryRun      bool      // do everything in scratch, place nothing, report what would happen
	Replace     bool      // an existing target is kept as <dst>.bak-<n>
	Allow       loss.Kind // the gravest loss that is still placed; 0 = loss.Dropped
	Sidecar     string    // "" or "beside" = <dst>.sidecar.ndjson; "none"; else a path
	WithSecrets bool      // text targets keep secrets too
	Compress    string    // "", "gzip" or "zstd"; text targets only
	Live        bool      // read a store in use in place
	Jobs        int       // workers; 0 = one a processor
	History     bool      // session lane: abandoned turns too
	Sessions    []string  // session lane: only those of these ids; none = all
	Workspace   string    // session lane: only those of this folder, or of folders in it; "" = any
	Since       int64     // session lane: only those changed since, in milliseconds of Unix time; 0 = any
	Cwd         string    // the folder that the sessions are to belong to; "" = as the source says
	Home        string    // with Cwd and no dst: the home folder below which the client looks for them

	Progress func(Progress) // called often, never twice at once; may be nil
	Say      func(string)   // one-line remarks while working; may be nil
	Verbose  bool           // also report which stores are read from a copy
}

// Convert carries src to dst; without one, to where the client looks for the
// sessions of Options.Cwd. The report is never nil. The error is non-nil
// only when nothing could be placed because something failed; single stores
// that failed among others, and stores whose losses are beyond Options.Allow,
// are in the report alone.
func Convert(ctx context.Context, reg *formats.Registry, src, dst string, o Options) (*Report, error) {
	scratch.Sweep()
	return carry(ctx, reg, src, dst, o, moveNew)
}

// carry is Convert with the rename that places things: tests stop a run
// before and after each.
func carry(ctx context.Context, reg *formats.Registry, src, dst string, o Options, rename func(from, to string) error) (*Report, error) {
	rep := &Report{Lane: exactLane, Source: src, Target: dst, DryRun: o.DryRun, Stores: []StoreReport{}}
	j := &job{reg: reg, src: src, dst: dst, o: o, rep: rep, rename: rename, folders: NewFolders(reg, o.Workspace), talk: talker{progress: o.Progress, say: o.Say}}
	if j.o.Allow == 0 {
		j.o.Allow = loss.Dropped
	}
	err := j.run(ctx)
	defer func() { rep.Workspaces = rep.byWorkspace() }()
	if err == nil {
		return rep, nil
	}
	err = j.explain(err)
	rep.Placed, rep.Backup, rep.Sidecar = false, "", ""
	for i := range rep.Stores {
		rep.Stores[i].unplace(err)
	}
	return rep, err
}

// job is one call of Convert.
type job struct {
	reg      *formats.Registry
	src, dst string
	o        Options
	rep      *Report
	talk     talker

	own     bool   // dst was left out and found: it is the client's own place
	goal    target // where dst really is
	out     *outside
	sidecar *sidecar
	found   []Found
	sizes   []int64 // on disk, by store; a guide for progress and order only
	stage   *staging
	omitted []*omissions // by store; nil where nothing was placed
	private fs.FileMode  // permissions that some store does not give

	moving   *moving      // of a migration
	noted    loss.Sink    // of a check: told of every loss of a session, with its place
	finished [][]finished // by store: the sessions that wait for their names
	judges   sync.Pool    // of *schemas.Lines: each belongs to one worker at a time
	rename   func(from, to string) error
	folders  *Folders
	wanted   []string // Options.Sessions in order, each once
	without  []bool   // by store: it lists none of them, and need not be read; nil if that is not known
}

func (j *job) run(ctx context.Context) error {
	j.wanted = slices.Compact(slices.Sorted(slices.Values(j.o.Sessions)))
	if err := j.survey(ctx); err != nil {
		return err
	}
	s, err := j.newStage()
	if err != nil {
		return err
	}
	j.stage = s
	defer j.clear(s)
	if j.rep.Lane == sessionLane {
		j.findChosen(ctx)
	}
	if err := j.carryAll(ctx); err != nil {
		return err
	}
	if j.rep.Lane == sessionLane {
		return j.settleSessions(ctx)
	}
	if err := j.prune(); err != nil {
		return err
	}
	if err := j.outcome(); err != nil {
		return err
	}
	if j.rep.standing() == 0 {
		return nil
	}
	if err := j.sidecarFits(); err != nil || j.o.DryRun {
		return err
	}
	return j.settle(ctx)
}

func (j *job) newStage() (*staging, error) {
	if j.o.DryRun {
		return newScratch(j.goal)
	}
	return newStaging(j.goal)
}

// survey looks at everything that can be refused before a byte is read.
func (j *job) survey(ctx context.Context) error {
	if err := j.checkOptions(); err != nil {
		return err
	}
	loc, err := formats.Locate(j.src)
	if err != nil {
		return err
	}
	find := j.target
	if j.moving != nil {
		find = j.nearby
	}
	if err := find(ctx); err != nil {
		return err
	}
	for f, err := range stores(ctx, j.reg, loc.Path, j.o.From, j.talk.Say) {
		switch {
		case err != nil && (f.Rel == "" || ctx.Err() != nil):
			return err
		case err != nil:
			j.rep.Stores = append(j.rep.Stores, failedStore(f.Rel, err))
		default:
			if err := storeApart(f, j.goal); err != nil && j.moving == nil {
				return err
			}
			j.rep.Stores = append(j.rep.Stores, newStoreReport(f))
		}
		j.found = append(j.found, f)
	}
	j.omitted, j.finished = make([]*omissions, len(j.found)), make([][]finished, len(j.found))
	if err := j.chooseLane(ctx); err != nil {
		return err
	}
	j.measure()
	if err := j.sidecar.read(j.src, j.within(), j.talk.Say); err != nil {
		return err
	}
	if n := j.sidecar.strangers(j.found); n > 0 {
		j.talk.Say(fmt.Sprintf("%s: ignored its items for %v", j.sidecar.from, rule.Count(int64(n), "missing store")))
	}
	return nil
}

// target finds out where the result goes, and refuses a place that it must not
// have.
func (j *job) target(ctx context.Context) (err error) {
	if err := j.destination(ctx); err != nil {
		return err
	}
	if j.goal, err = resolve(j.dst); err != nil {
		return err
	}
	if err := apart(j.src, j.goal); err != nil {
		return err
	}
	if j.sidecar, err = newSidecar(j.src, j.goal, j.o.Sidecar); err != nil {
		return err
	}
	if !j.o.DryRun { // before anything is refused: this may be all that a killed run left
		sweep(j.goal, j.talk.Say)
		if j.sidecar.named {
			sweep(j.sidecar.to, j.talk.Say)
		}
	}
	return j.refuseExisting()
}

// within is the store that the source as a whole stands for, "" if it is a
// store itself, or holds several.
func (j *job) within() string {
	for _, f := range j.found {
		if len(f.Detected) == 0 || f.Detected[0].Format.StoreInside == nil {
			continue
		}
		at := f.Detected[0].Format.StoreInside(f.Loc)
		if f.Rel == "." {
			return at
		}
		for _, suffix := range []string{formats.SidecarSuffix, formats.OldSidecarSuffix} {
			if _, err := os.Lstat(at + suffix); at != "" && err == nil {
				j.talk.Say(at + suffix + " ignored: to use it, pass " + f.Loc.Path + " as SRC")
			}
		}
	}
	return ""
}

// outcome is the error of a conversion of which nothing is left to place.
func (j *job) outcome() error {
	if j.rep.standing() > 0 || j.rep.Failed() == 0 {
		return nil
	}
	var errs []error
	seen := map[string]bool{}
	more := 0
	for i := range j.rep.Stores {
		s := &j.rep.Stores[i]
		switch {
		case s.err == nil:
		case seen[s.err.Error()] || len(errs) == keepErrors:
			more++
		default:
			seen[s.err.Error()] = true
			errs = append(errs, s.err)
		}
	}
	return joined(errs, more)
}

// keepErrors is how many different errors are worth reading at once; the
// report has them all.
const keepErrors = 3

func (j *job) clear(s *staging) {
	s.lost, s.over = s.gone(), true
	if err := s.Remove(); err != nil {
		j.talk.Say("temporary files not removed: " + err.Error())
	}
}

// explain turns what went wrong into words about the places the user named:
// the staging folder is nobody's business.
func (j *job) explain(err error) error {
	if _, ok := err.(*several); ok {
		return err // each of them has been explained
	}
	switch {
	case filesUsedUp(err):
		err = &formats.Error{Err: err, Hint: "raise the limit on open files (ulimit -n), or try --jobs 1"}
	case diskFull(err) && j.o.DryRun:
		err = &formats.Error{At: os.TempDir(), Err: noRoom{err}, Hint: "a dry run builds the target here: free some space, or set TMPDIR to another folder"}
	case j.stage != nil && j.stage.gone() && !errors.Is(err, context.Canceled):
		return &formats.Error{At: j.stage.home, Err: errors.New("this folder, or what was built in it, was removed during the run"), Hint: "nothing was placed: run it again when no program is moving the files"}
	case diskFull(err):
		err = &formats.Error{At: j.dst, Err: noRoom{err}, Hint: "nothing was placed: free some space, or choose another disk"}
	}
	if j.stage == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return j.stage.reword(err)
}

// noRoom says plainly what the system says in many ways.
type noRoom struct{ error }

func (e noRoom) Error() string {
	s := e.error.Error()
	if strings.Contains(s, "disk is full") {
		return s
	}
	return "the disk is full: " + s
}

func (e noRoom) Unwrap() error { return e.error }

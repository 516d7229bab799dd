package convert

import (
	"context"
	"errors"
	"fmt"
	"os"

	"rehome/convert/internal/notify"
	"rehome/convert/internal/sidecar"
	"rehome/convert/internal/stage"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// Options are the options of a conversion. The zero value is what the command
// line does without flags.
type Options struct {
	From, To    string    // format names; "" = detect, and the format an archive was made from
	DryRun      bool      // do everything in a temporary folder, place nothing, and report what would happen
	Replace     bool      // keep an existing target as <dst>.bak-<n>
	Update      bool      // bring an existing text target up to date; see Report.Changed
	Delete      bool      // with Update: also remove what is no longer in the source
	Force       bool      // with Update: overwrite files that others have edited, keeping them in <dst>.bak-<n>
	State       string    // with Update: the folder for what updates remember; "" = StateDir of the user; NoState
	Allow       loss.Kind // the max kind of loss that is still placed; 0 = loss.Dropped
	Sidecar     string    // "" or "beside" = <dst>.sidecar.ndjson; "none"; else a path
	WithSecrets bool      // include secrets in text targets
	Flat        bool      // cursor-ndjson: the client's own four files, not a folder for each agent
	Compress    string    // "", "gzip" or "zstd"; text targets only
	Live        bool      // read a store in use in place
	Jobs        int       // workers; 0 = one per CPU
	History     bool      // session conversion: also include abandoned turns
	Verify      string    // session conversion: "" or "fast" = compare the bytes that were written; VerifyFull
	Sessions    []string  // session conversion: only the sessions with these ids; none = all
	Workspace   string    // session conversion: only sessions of this folder, or of folders in it; "" = any
	Since       int64     // session conversion: only sessions changed since, in milliseconds of Unix time; 0 = any
	Cwd         string    // the folder to which to assign the sessions; "" = as the source says
	Home        string    // with Cwd and no dst: the home folder below which the client looks for them

	BySession    bool      // convert by session even if an exact conversion exists
	DropThinking bool      // session conversion: omit reasoning that the client cannot use
	FullHistory  bool      // session conversion: also send compacted turns to the model
	OnLoss       loss.Sink // session conversion: also receives each loss when it occurs, with its place; may be nil

	Redact *Redaction // what to redact; nil = nothing
	Same   bool       // without To, the target has the format of the source

	OnProgress func(Progress) // called often, never twice at once; may be nil
	OnNotice   func(string)   // one-line remarks while working; may be nil
	Verbose    bool           // also report which stores are read from a copy
}

// VerifyFull is the value of Options.Verify that also decodes text of sessions again,
// and compares that with what was written.
const VerifyFull = "full"

// Progress is the progress of a conversion or check.
type Progress = notify.Progress

// Convert converts src to dst or, if dst is "", to where the client looks for
// the sessions of Options.Cwd. The report is never nil. The error is non-nil
// only if nothing could be placed because something failed. Stores that failed
// among others, and stores with losses beyond Options.Allow, are only in the
// report.
func Convert(ctx context.Context, reg *formats.Registry, src, dst string, o Options) (*Report, error) {
	scratch.Sweep()
	return convertWith(ctx, reg, src, dst, o, fsx.Move)
}

// convertWith is Convert with the function that renames what is placed: tests
// stop a run before and after each call.
func convertWith(ctx context.Context, reg *formats.Registry, src, dst string, o Options, rename func(from, to string) error) (*Report, error) {
	rep := &Report{Lane: ExactConversion, Source: src, Target: dst, DryRun: o.DryRun, Stores: []StoreReport{}}
	if o.Allow == 0 {
		o.Allow = loss.Dropped
	}
	j := &job{rep: rep, rename: rename, input: newInput(reg, src, dst, o, sessions.Candidates{Dirs: []string{o.Workspace}})}
	err := j.run(ctx)
	defer func() { rep.Workspaces, rep.Redacted = rep.byWorkspace(), j.redactedSums() }()
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
	*input
	rep    *Report
	rename func(from, to string) error

	clientPlace bool         // no dst was given: it is the client's own place
	dest        stage.Target // dst, resolved
	update      *update      // of an existing dst; nil if there is none
	outside     *outsideFolder
	redactor    *Redactor // as it is before it has read a store
	sidecar     *sidecar.Files
	omitted     []*sidecar.Omitted // by store; nil if nothing was placed

	stagedSessions [][]stagedSession // by store: the sessions that wait for their file names
}

func (j *job) run(ctx context.Context) error {
	defer func() { j.removeStaging(j.stage) }()
	if err := j.prepare(ctx); err != nil {
		return err
	}
	if j.update != nil {
		if j.update.ctx = ctx; j.update.skipUnchanged() {
			return nil
		}
	}
	if err := j.newStage(j.dest); err != nil {
		return err
	}
	if j.rep.Lane == SessionConversion {
		j.skipUnlisted(ctx)
		if err := j.learn(ctx, false); err != nil {
			return err
		}
	}
	if err := j.convertAll(ctx); err != nil {
		return err
	}
	if j.rep.Lane == SessionConversion {
		return j.commitSessions(ctx)
	}
	if err := j.prune(); err != nil {
		return err
	}
	if err := j.failure(); err != nil {
		return err
	}
	if j.rep.placeable() == 0 {
		return nil
	}
	if err := sidecar.CheckSize(j.omitted, j.sidecar.To.Display); err != nil || j.opts.DryRun && j.update == nil {
		return err
	}
	return j.commit(ctx)
}

// newStage creates the folder in which everything for a target is staged.
func (in *input) newStage(t stage.Target) (err error) {
	switch {
	case in.stage != nil: // to finish an interrupted update
	case in.opts.DryRun:
		in.stage, err = stage.NewFor(true, nil, t)
	case in.opts.Update:
		in.stage, err = stage.Claim(t, in.notify.Say)
	default: // what killed runs left is removed already
		in.stage, err = stage.New(t)
	}
	return err
}

// prepare checks everything that can be checked before a byte is read.
func (j *job) prepare(ctx context.Context) error {
	if err := errors.Join(j.checkOptions(), j.prepareRedaction()); err != nil {
		return err
	}
	loc, err := formats.Locate(j.src)
	if err != nil {
		return err
	}
	if err := j.resolveTarget(ctx); err != nil {
		return err
	}
	for f, err := range Stores(ctx, j.reg, loc.Path, j.opts.From, j.notify.Say) {
		switch {
		case err != nil && (f.Rel == "" || ctx.Err() != nil):
			return err
		case err != nil:
			j.rep.Stores = append(j.rep.Stores, failedStore(f.Rel, err))
		default:
			if err := checkStoreDisjoint(f, j.dest); err != nil {
				return err
			}
			j.rep.Stores = append(j.rep.Stores, newStoreReport(f))
		}
		j.found = append(j.found, f)
	}
	j.learnPaths(ctx)
	if err := j.chooseConversion(ctx); err != nil {
		return err
	}
	j.leaveStrays()
	j.omitted, j.stagedSessions = make([]*sidecar.Omitted, len(j.found)), make([][]stagedSession, len(j.found))
	j.measureSizes()
	if err := j.sidecar.Read(j.src, j.sourceStore(), j.notify.Say); err != nil {
		return err
	}
	var rels []string
	for _, f := range j.found {
		if len(f.Detected) > 0 && f.Detected[0].Format.Records != nil && f.Detected[0].Format.Records.Parts != nil {
			if err := j.sidecar.ReadParts(f.Rel, f.Loc.Path, f.Detected[0].Format.Records.Parts(f.Loc)); err != nil {
				return err
			}
		}
		rels = append(rels, f.Rel)
	}
	if n := j.sidecar.MissingStores(rels); n > 0 {
		j.notify.Say(fmt.Sprintf("%s: ignored its items for %v", j.sidecar.From, rule.Count(int64(n), "missing store")))
	}
	return nil
}

// leaveStrays leaves stores in the folder of another store out of an exact conversion,
// which makes one store of that folder.
func (j *job) leaveStrays() {
	if j.rep.Lane == SessionConversion {
		return
	}
	found, stores := j.found, j.rep.Stores
	j.found, j.rep.Stores = nil, stores[:0]
	for i, f := range found {
		if f.Stray {
			j.notify.Say(f.Rel + " skipped: sessions that are not of the store around them; pass it as SRC to convert them")
			continue
		}
		j.found, j.rep.Stores = append(j.found, f), append(j.rep.Stores, stores[i])
	}
}

// resolveTarget finds out where the result goes, and returns an error if it
// cannot go there.
func (j *job) resolveTarget(ctx context.Context) (err error) {
	if err := j.destination(ctx); err != nil {
		return err
	}
	if j.dest, err = stage.Resolve(j.dst); err != nil {
		return err
	}
	if err := stage.CheckDisjoint(j.src, j.dest); err != nil {
		return err
	}
	if err := j.beginUpdate(); err != nil {
		return err
	}
	if j.sidecar, err = sidecar.New(j.src, j.dest, j.opts.Sidecar); err != nil {
		return err
	}
	if !j.opts.DryRun { // before any error: this may be all that a killed run left
		stage.Sweep(j.notify.Say, j.dest)
		if j.sidecar.Named {
			stage.Sweep(j.notify.Say, j.sidecar.To)
		}
	}
	return j.refuseExisting()
}

// sourceStore returns the path of the store that the source as a whole stands for,
// or "" if it is a store itself or holds several.
func (j *job) sourceStore() string {
	for _, f := range j.found {
		if len(f.Detected) == 0 || f.Detected[0].Format.Home == nil || f.Detected[0].Format.Home.StoreInside == nil {
			continue
		}
		at := f.Detected[0].Format.Home.StoreInside(f.Loc)
		if f.Rel == "." {
			return at
		}
		for _, suffix := range []string{formats.SidecarSuffix, formats.OldSidecarSuffix} {
			if _, err := os.Lstat(at + suffix); at != "" && err == nil {
				j.notify.Say(at + suffix + " ignored: to use it, pass " + f.Loc.Path + " as SRC")
			}
		}
	}
	return ""
}

// failure returns the error of a conversion with nothing left to place.
func (j *job) failure() error {
	if j.rep.placeable() > 0 || j.rep.Failed() == 0 {
		return nil
	}
	var errs []error
	for i := range j.rep.Stores {
		errs = append(errs, j.rep.Stores[i].err)
	}
	return joinDistinct(errs)
}

// maxErrors is how many different errors are printed; the report has all of
// them.
const maxErrors = 3

func (in *input) removeStaging(s *stage.Folder) {
	if s == nil {
		return
	}
	if err := s.Remove(); err != nil {
		in.notify.Say("temporary files not removed: " + err.Error())
	}
}

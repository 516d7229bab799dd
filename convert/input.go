package convert

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"rehome/convert/internal/notify"
	"rehome/convert/internal/stage"
	"rehome/convert/internal/workers"
	"rehome/convert/sessions"
	"rehome/formats"
)

// input is what a run reads: the stores below a path, and which of their sessions.
type input struct {
	reg      *formats.Registry
	src, dst string // dst is only for messages
	opts     Options
	notify   notify.Notifier

	found     []Found
	sizes     []int64 // on disk, by store; only for progress and order
	stage     *stage.Folder
	folders   *sessions.Folders
	project   sessions.Project // Options.Workspace
	skip      []bool           // by store: lists none of the wanted sessions, so it is not read; nil if unknown
	redaction *redaction       // nil: nothing is redacted
	inner     bool             // include subagents that no list names

	validators sync.Pool // of *schemas.Lines: each is used by one worker at a time
}

// newInput returns the input of a run. from are candidates for the folders of its sessions.
func newInput(reg *formats.Registry, src, dst string, o Options, from sessions.Candidates) *input {
	o.Sessions = slices.Compact(slices.Sorted(slices.Values(o.Sessions)))
	return &input{
		reg: reg, src: src, dst: dst, opts: o, folders: sessions.NewFolders(reg, from), notify: notify.Notifier{OnProgress: o.OnProgress, OnNotice: o.OnNotice},
		project: sessions.NewProject(o.Workspace),
	}
}

// each calls convert for every store, the largest first, and again calls it once
// more for a store for which too many files were open. It stops at a fatal error.
func (in *input) each(ctx context.Context, convert func(ctx context.Context, i, jobs int, last bool) error, again func(i int)) error {
	run, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	parallel, each := 1, workers.Count(in.opts.Jobs)
	if len(in.found) > fewStores {
		parallel, each = each, 1
	}
	var total int64
	for _, n := range in.sizes {
		total += n
	}
	if len(in.opts.Sessions) > 0 || in.filtered() {
		total = 0 // how much is read is unknown
	}
	in.notify.Current.Stores = len(in.found)
	in.notify.Begin(notify.Reading, "", total)

	workers.Run(run, parallel, slices.Values(workers.LargestFirst(in.sizes)), func(i int, last bool) bool {
		if run.Err() != nil {
			return false
		}
		err := convert(run, i, each, last)
		if fatal(err) {
			stop(err)
		}
		retry := !last && workers.TooManyFiles(err)
		if retry {
			again(i)
		} else {
			in.notify.Update(func(p *Progress) { p.StoresDone++ })
		}
		return retry
	})
	if err := ctx.Err(); err != nil {
		return err // the caller canceled: report that, whatever the cause
	}
	return context.Cause(run)
}

// explain rewords an error so that it names the user's paths instead of the
// staging folder.
func (in *input) explain(err error) error {
	if _, ok := err.(*multiError); ok {
		return err // each has been explained
	}
	switch {
	case workers.TooManyFiles(err):
		err = &formats.Error{Err: err, Hint: "raise the limit on open files (ulimit -n), or try --jobs 1"}
	case stage.DiskFull(err) && in.opts.DryRun:
		err = stage.Full(err, os.TempDir(), "a dry run builds the target here: free some space, or set TMPDIR to another folder")
	case in.stage != nil && in.stage.Gone() && !errors.Is(err, context.Canceled):
		return &formats.Error{At: in.stage.TargetDir, Err: errors.New("this folder, or what was built in it, was removed during the run"), Hint: "nothing was written: run it again when no program is moving the files"}
	case stage.DiskFull(err):
		if in.stage != nil {
			err = in.stage.WithTargetPath(err)
		}
		return stage.Full(err, in.dst, "nothing was written: free some space, or choose another disk")
	}
	if in.stage == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return in.stage.WithTargetPath(err)
}

package merge

import (
	"context"
	"errors"
	"path/filepath"

	"rehome/convert"
	"rehome/convert/internal/notify"
	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// Options are the options of Run.
type Options struct {
	DryRun   bool   // do everything in a temporary folder, and place nothing
	Replace  bool   // keep an existing target as <out>.bak-<n>
	Base     string // what two sources had in common: a session that only one has changed since is that one
	Live     bool   // read stores in use in place
	Jobs     int    // workers; 0 = one per CPU
	Verbose  bool
	OnNotice func(string)

	OnProgress func(convert.Progress)
}

// What became of a session.
const (
	Copied    = "copied"    // only one source has it
	Same      = "same"      // all sources that have it have the same conversation
	Continued = "continued" // one source has what the others have, and more
	Kept      = "kept"      // continued differently: this is the one that keeps its id
	Forked    = "forked"    // continued differently: this is a fork
)

// Session is a session of the result.
type Session struct {
	Store   string `json:"store"` // slash path below the target; "." is the target itself
	ID      string `json:"id"`
	Title   string `json:"title,omitempty"`
	Outcome string `json:"outcome"`
	Of      string `json:"of,omitempty"` // of a fork: the id of the session
	From    []int  `json:"from"`         // the sources that it is from, by their numbers from 1
}

// Result is the result of Run. Its JSON is the output of `rehome merge --json`.
type Result struct {
	Sources  []string  `json:"sources"`
	Target   string    `json:"target"`
	DryRun   bool      `json:"dry_run"`
	Backup   string    `json:"backup,omitempty"` // where the old target is kept
	Sessions []Session `json:"sessions"`
	Remarks  []string  `json:"remarks"` // what is not as it was
}

// Run unites sources into a target that does not exist.
func Run(ctx context.Context, reg *formats.Registry, sources []string, target string, o Options) (*Result, error) {
	scratch.Sweep()
	return run(ctx, reg, sources, target, o, fsx.Move)
}

// run is Run with the function that renames what is placed.
func run(ctx context.Context, reg *formats.Registry, sources []string, target string, o Options, rename func(from, to string) error) (res *Result, err error) {
	if o.OnNotice == nil {
		o.OnNotice = func(string) {}
	}
	res = &Result{Sources: sources, Target: target, DryRun: o.DryRun, Sessions: []Session{}, Remarks: []string{}}
	to, err := stage.ResolveNew(target, o.Replace, sources...)
	if err != nil {
		return res, err
	}
	m := &merger{reg: reg, opts: o, res: res, notify: &notify.Notifier{OnProgress: o.OnProgress}, losses: map[string]map[string]bool{}}
	if err := m.find(ctx, sources); err != nil {
		return res, err
	}
	if m.stage, err = stage.NewFor(o.DryRun, o.OnNotice, to); err != nil {
		return res, explain(err, to, nil)
	}
	defer func() { err = errors.Join(explain(err, to, m.stage), m.stage.Remove()) }()
	if m.temp, err = scratch.New(m.stage.Root, "stores"); err != nil {
		return res, err
	}
	if err := errors.Join(m.restore(ctx), m.compare()); err != nil {
		return res, err
	}
	out := m.stage.StorePath(to, ".")
	for _, at := range m.order {
		if err := m.unite(ctx, at, filepath.Join(out, filepath.FromSlash(at.rel))); err != nil {
			return res, err
		}
	}
	if err := m.uniteWhole(ctx, out); err != nil {
		return res, err
	}
	m.reportLost()
	if err := ctx.Err(); err != nil || o.DryRun {
		return res, err
	}
	m.notify.Begin(notify.Syncing, "", 0)
	return res, m.place(to, rename)
}

// place makes the target appear with one rename.
func (m *merger) place(to stage.Target, rename func(from, to string) error) error {
	if err := errors.Join(stage.Deny(filepath.Join(m.stage.Tree, to.Tail[0]), m.denied), stage.SyncTree(m.stage.Tree)); err != nil {
		return err
	}
	kept, err := (&stage.Renames{Rename: rename}).Place(m.stage.Tree, to, m.opts.Replace)
	m.res.Backup = kept
	return err
}

// explain names the target instead of what is staged for it.
func explain(err error, to stage.Target, staged *stage.Folder) error {
	if err != nil && staged != nil {
		err = formats.ReplacePath(staged.WithTargetPath(err), staged.Root, to.Display)
	}
	return stage.Full(err, to.Display, "free some space and run it again: nothing was changed")
}

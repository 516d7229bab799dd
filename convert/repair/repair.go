package repair

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"rehome/convert"
	"rehome/convert/check"
	"rehome/convert/internal/notify"
	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// Options are the options of Repair.
type Options struct {
	From       string // format of the stores; "" = detect
	DryRun     bool   // repair a copy among the temporary files, and place nothing
	Replace    bool   // keep an existing target as <dst>.bak-<n>
	Jobs       int
	OnProgress func(convert.Progress)
	OnNotice   func(string)
}

// Report is the result of Repair.
type Report struct {
	Source, Target string
	DryRun         bool
	Placed         bool
	Backup         string // the old target, with Replace
	Stores         []Store
	Findings       int64 // errors and warnings that a check reported, and no longer does
	Warnings       int64 // that are left in all stores
}

// Store is what happened to one store.
type Store struct {
	Path   string // as the user would write it, in the source
	Format string
	Acts   []formats.Act        // the first maxActs
	Count  int64                // of all acts
	Left   []check.RuleFindings // errors that are still there
	Err    error                // why it could not be checked
}

// maxActs is how many acts of a store are kept.
const maxActs = 1000

// Acts returns the number of acts in all stores.
func (r *Report) Acts() (n int64) {
	for _, s := range r.Stores {
		n += s.Count
	}
	return n
}

// Left returns the number of errors that are left in all stores.
func (r *Report) Left() (n int64) {
	for _, s := range r.Stores {
		for _, f := range s.Left {
			n += f.Count
		}
	}
	return n
}

// Repair writes a repaired copy of src to dst. An error means that nothing was placed.
func Repair(ctx context.Context, reg *formats.Registry, src, dst string, o Options) (*Report, error) {
	scratch.Sweep()
	j := &job{reg: reg, src: src, o: o, moved: map[string][][]formats.Origin{}, notify: &notify.Notifier{OnProgress: o.OnProgress, OnNotice: o.OnNotice}}
	rep := &Report{Source: src, Target: dst, DryRun: o.DryRun}
	if _, err := reg.Find(o.From); o.From != "" && err != nil {
		return nil, convert.Misuse{Err: err}
	}
	t, err := stage.ResolveNew(dst, o.Replace, src)
	if err == nil {
		err = stage.CheckSettled(src)
	}
	if err == nil {
		j.folder, err = stage.NewFor(o.DryRun, j.notify.Say, t)
	}
	if err != nil {
		return nil, err
	}
	j.target = t
	err = j.run(ctx, rep)
	err = errors.Join(err, j.folder.Remove())
	if err != nil {
		return nil, stage.Full(j.folder.WithTargetPath(err), t.Display, "nothing was written: free some space, or choose a target on another disk")
	}
	return rep, nil
}

// job is one call of Repair.
type job struct {
	reg    *formats.Registry
	src    string
	o      Options
	notify *notify.Notifier
	target stage.Target
	folder *stage.Folder
	copy   string                        // the private copy
	moved  map[string][][]formats.Origin // by file: the lines that each round moved
}

func (j *job) run(ctx context.Context, rep *Report) error {
	j.copy = j.folder.StorePath(j.target, ".")
	if info, err := os.Stat(j.src); err == nil && !info.IsDir() { // some formats know a file by its name
		j.copy = filepath.Join(filepath.Dir(j.copy), filepath.Base(j.src))
	}
	j.notify.Begin(notify.Reading, "", 0)
	if err := copySource(ctx, j.src, j.copy); err != nil {
		return err
	}
	before, err := j.check(ctx)
	if err != nil {
		return err
	}
	for _, s := range before.Stores {
		one := Store{Path: j.sourcePath(s.Path), Format: s.Format, Err: j.named(s.Err)}
		if s.Err == nil && s.Format != "" {
			if err := j.repair(ctx, s.Path, j.reg.Lookup(s.Format), &one); err != nil {
				return err
			}
		}
		rep.Stores = append(rep.Stores, one)
	}
	after := before
	if rep.Acts() > 0 {
		if after, err = j.check(ctx); err != nil {
			return err
		}
		if err := j.compare(before, after); err != nil {
			return err
		}
		rep.Findings = max(0, Findings(before.Stores)-Findings(after.Stores))
	}
	j.leftovers(rep, after)
	return j.place(ctx, rep)
}

// sourcePath returns the path in the source of a path in the copy.
func (j *job) sourcePath(path string) string {
	rel, err := filepath.Rel(j.copy, path)
	if err != nil || rel == "." {
		return j.src
	}
	return filepath.Join(j.src, rel)
}

// named returns an error of the copy with the path of the source.
func (j *job) named(err error) error {
	if err == nil {
		return nil
	}
	return formats.ReplacePath(err, j.copy, j.src)
}

// check applies all rules but those about secrets to the copy.
func (j *job) check(ctx context.Context) (*check.Report, error) {
	return check.Check(ctx, j.reg, check.Options{Paths: []string{j.copy}, NoIgnore: true, From: j.o.From, Jobs: j.o.Jobs, OnProgress: j.o.OnProgress,
		Layers: rule.Container | rule.Schema | rule.References | rule.Meaning})
}

// leftovers adds what is still wrong to the stores of a report.
func (j *job) leftovers(rep *Report, after *check.Report) {
	for _, s := range after.Stores {
		at := j.sourcePath(s.Path)
		i := slices.IndexFunc(rep.Stores, func(one Store) bool { return one.Path == at && (s.Format == "" || one.Format == s.Format) })
		if i < 0 { // it could not be recognized before
			rep.Stores = append(rep.Stores, Store{Path: at, Format: s.Format})
			i = len(rep.Stores) - 1
		}
		rep.Stores[i].Err = j.named(s.Err)
		l, err := formats.Locate(s.Path)
		for _, f := range s.Findings {
			f.Places = slices.Clone(f.Places)
			for k := range f.Places {
				if err == nil {
					f.Places[k].At = j.before(l, f.Places[k].At)
				}
			}
			switch f.Rule.Severity {
			case rule.Error:
				rep.Stores[i].Left = append(rep.Stores[i].Left, f)
			case rule.Warning:
				rep.Warnings += f.Count
			}
		}
	}
}

// compare returns an error if a rule has more findings than before the repair. Rules
// about the path of a store do not count: it changes.
func (j *job) compare(before, after *check.Report) error {
	had := map[string]int64{}
	for _, s := range before.Stores {
		for _, f := range s.Findings {
			had[f.Rule.ID] += f.Count
		}
	}
	for _, s := range after.Stores {
		for _, f := range s.Findings {
			if had[f.Rule.ID] -= f.Count; f.Rule.Severity == rule.Error && had[f.Rule.ID] < 0 && !shownByRepair(f.Rule.ID, before) {
				return &formats.Error{At: j.sourcePath(s.Path), Err: errors.New("the repair would cause new problems (" + f.Rule.ID + "), so nothing was written"),
					Hint: "restore the store from a backup, and report this as a bug of rehome"}
			}
		}
	}
	return nil
}

// place syncs the copy and renames it.
func (j *job) place(ctx context.Context, rep *Report) error {
	if j.o.DryRun {
		return ctx.Err()
	}
	if at := j.folder.StorePath(j.target, "."); at != j.copy {
		if err := fsx.Move(j.copy, at); err != nil {
			return err
		}
	}
	j.notify.Begin(notify.Syncing, "", 0)
	if err := stage.SyncTree(j.folder.Tree); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m := &stage.Renames{Rename: fsx.Move}
	kept, err := m.Place(j.folder.Tree, j.target, j.o.Replace)
	rep.Backup, rep.Placed = kept, err == nil
	return err
}

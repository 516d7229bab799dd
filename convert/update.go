package convert

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rehome/convert/internal/mark"
	"rehome/convert/internal/stage"
	"rehome/convert/internal/worktree"
	"rehome/formats"
)

// update brings a target up to date. Everything is staged and verified as for a new
// target, and then compared with what is there: only files that differ are replaced,
// all those of a run at once (see stage.Folder.Update). What is not known to be
// rehome's is left alone.
type update struct {
	*job
	ctx     context.Context
	base    string // path of the target below its folder
	exists  bool
	state   string              // folder of the marks
	before  *mark.Mark          // of the previous update; nil if unknown
	byStore map[string][]string // names of its files
	after   *mark.Mark          // what the next update will know
	sources [][]mark.Stat       // by store; nil if it is not known or may still change
	made    map[string]bool     // files of this run, by path below the target

	noting sync.Mutex
	noted  map[string]*noted // of sources that were read by their changes, by store

	put, aside []string // files to place, and files that are in the way or go
	forced     []string // of the latter: those to keep
	committed  map[string]*worktree.Committed
}

// NoState is the value of Options.State for an update that remembers nothing.
const NoState = "none"

// checkUpdate returns an error for options that cannot be combined with an update.
func (j *job) checkUpdate() error {
	refuse := func(what, hint string) error { return Misuse{&formats.Error{Err: errors.New(what), Hint: hint}} }
	o := j.opts
	switch {
	case !o.Update && o.Delete:
		return refuse("--delete has no effect without --update", "pass --update too")
	case !o.Update && o.Force:
		return refuse("--force has no effect without --update", "pass --update too")
	case !o.Update:
		return nil
	case o.Replace:
		return refuse("--replace cannot be combined with --update", "omit one of them")
	case j.dst == "":
		return refuse("--update needs a DST", "name the target to update")
	case o.Sidecar != "" && o.Sidecar != "beside" && o.Sidecar != "none":
		return refuse("--sidecar PATH cannot be combined with --update", "keep the sidecar beside DST")
	case o.Delete && j.selects():
		return refuse("--delete cannot be combined with a selection of sessions", "omit the selection: what it leaves out would be deleted")
	}
	return nil
}

// selects reports whether only some sessions of the source are wanted.
func (in *input) selects() bool { return len(in.opts.Sessions) > 0 || in.filtered() }

// beginUpdate finishes what a killed update began, and finds out what is there.
func (j *job) beginUpdate() (err error) {
	if !j.opts.Update {
		return nil
	}
	if real, err := filepath.EvalSymlinks(j.dest.Path()); err == nil && real != j.dest.Path() { // a link to the target
		t, err := stage.Resolve(real)
		if err != nil {
			return err
		}
		t.Display, j.dest = j.dest.Display, t
	}
	if j.opts.DryRun { // it cannot finish an update that was interrupted
		if err := stage.CheckSettled(j.dest.Path()); err != nil {
			return err
		}
	} else if stage.Interrupted(j.dest) {
		if err := j.newStage(j.dest); err != nil {
			return err
		}
	}
	u := &update{job: j, base: path.Join(j.dest.Tail...), exists: j.dest.Exists(), state: j.opts.State}
	u.byStore, u.committed = map[string][]string{}, map[string]*worktree.Committed{}
	switch u.state {
	case "":
		u.state = defaultStateDir()
	case NoState:
		u.state = ""
	}
	if u.before = mark.Read(u.state, j.dest.Path()); u.before != nil {
		for name, f := range u.before.Files {
			u.byStore[f.Store] = append(u.byStore[f.Store], name)
		}
	}
	j.update = u
	return nil
}

// compareStores finds the files that change.
func (u *update) compareStores(ctx context.Context) error {
	for i := range u.rep.Stores {
		if err := ctx.Err(); err != nil {
			return err
		}
		u.compareStore(i)
	}
	if err := u.failure(); err != nil {
		return err
	}
	return u.carrySidecar()
}

// place moves what differs.
func (u *update) place(ctx context.Context, withSidecar bool) error {
	if err := u.compareSidecar(withSidecar); err != nil {
		return err
	}
	if !u.selects() {
		u.vanished()
	}
	if err := ctx.Err(); err != nil || u.opts.DryRun {
		return err
	}
	u.save() // before the files: else those of a killed run look edited
	if len(u.put)+len(u.aside) == 0 {
		return nil
	}
	steps, err := u.steps()
	if err != nil {
		return err
	}
	if err := u.stage.Update(steps, u.rename); err != nil {
		return err
	}
	u.rep.Placed = true
	return nil
}

// compareStore finds the files of a store that change. On an error the store stays
// as it is.
func (u *update) compareStore(i int) {
	rep := &u.rep.Stores[i]
	if rep.skipped || rep.Status != Placed && rep.Status != Checked {
		return
	}
	c := u.newChanges(rep.Path)
	c.to = u.reg.Lookup(rep.To)
	err := c.compareAll(u.filesOf(i))
	if err == nil {
		err = c.verifyKept(u.ctx)
	}
	if err != nil {
		rep.failSessions()
		rep.fail(err)
		u.omitted[i] = nil
		for _, name := range u.filesOf(i) {
			os.RemoveAll(u.stagedPath(name))
		}
		return
	}
	rep.Files, rep.Change = c.files, c.change()
	c.accept()
	u.remember(i)
}

// filesOf returns the paths that a store was staged at.
func (u *update) filesOf(i int) (out []string) {
	rep := &u.rep.Stores[i]
	if u.rep.Lane != SessionConversion {
		return []string{path.Join(u.base, rep.Path)}
	}
	for _, f := range u.stagedSessions[i] {
		name := path.Join(u.base, rep.Sessions[f.report].File)
		out = append(out, name)
		if ext := f.Draft.Companion; ext != "" && name != u.base {
			out = append(out, companionPath(name, ext))
		}
	}
	return slices.Compact(out)
}

// Files are known by their slash paths below the folder of the target.

func (u *update) stagedPath(name string) string {
	return filepath.Join(u.stage.Tree, filepath.FromSlash(name))
}

func (u *update) currentPath(name string) string {
	return filepath.Join(u.dest.Dir, filepath.FromSlash(name))
}

// below returns the path of a file below the target, "." for the target itself.
func (u *update) below(name string) string {
	if name == u.base {
		return "."
	}
	if rel, ok := strings.CutPrefix(name, u.base+"/"); ok {
		return rel
	}
	return "../" + path.Base(name) // the sidecar
}

// steps returns the renames. What replaces a file comes right after it is moved aside,
// so that a killed run leaves at most one name without a file. A folder that the target
// lacks is moved at once. Edited files are kept in a folder beside the target.
func (u *update) steps() (out []stage.Step, err error) {
	coming, done := map[string]bool{}, map[string]bool{}
	for _, name := range u.put {
		coming[name] = true
	}
	for n, name := range u.aside {
		to := u.stage.Old(n)
		if slices.Contains(u.forced, name) {
			to = u.stage.Kept(u.below(name))
			if err := os.MkdirAll(filepath.Dir(u.currentPath(to)), 0o777); err != nil {
				return nil, err
			}
		}
		out = append(out, stage.Step{From: name, To: to})
		if coming[name] {
			done[name] = true
			out = append(out, stage.Step{From: u.stage.Staged(name), To: name})
		}
	}
	for _, name := range u.put {
		for d := name; d != "."; d = path.Dir(d) {
			if _, err := os.Lstat(u.currentPath(path.Dir(d))); err == nil {
				name = d
				break
			}
		}
		if !done[name] {
			done[name] = true
			out = append(out, stage.Step{From: u.stage.Staged(name), To: name})
		}
	}
	if len(u.forced) > 0 {
		kept, err := u.dest.Backup()
		if err != nil {
			return nil, err
		}
		out = append(out, stage.Step{From: u.stage.Kept("."), To: path.Join(kept.Tail...)})
		u.rep.Backup = kept.Display
	}
	return out, nil
}

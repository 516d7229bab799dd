package repo

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rehome/convert/internal/stage"
	"rehome/convert/internal/worktree"
	"rehome/convert/merge"
	"rehome/formats"
	"rehome/internal/scratch"
	"rehome/internal/shell"
)

// FinishOptions are the options of Finish.
type FinishOptions struct {
	Paths    []string // only what is at and below these; none: everything
	DryRun   bool     // place and stage nothing
	Jobs     int
	Verbose  bool
	OnNotice func(string)
}

// Finished is the result of Finish.
type Finished struct {
	*merge.Result
	Staged []string // slash paths below the root of the work tree
	Left   []error  // why stores still have conflicts
	Others []string // files with conflicts that are of no store
	Next   string   // the command that continues what stopped

	Skipped []string // files with conflicts that are not at and below the paths
}

// finisher is one call of Finish.
type finisher struct {
	*Repo
	reg   *formats.Registry
	o     FinishOptions
	op    worktree.Operation
	index *worktree.Revision
	files map[string]worktree.Sides // with conflicts
	bases []*worktree.Revision      // common ancestors
	sides [3]*worktree.Revision     // ours and theirs, at 1 and 2
	res   *Finished
}

// names of the folders of the sides.
var sideNames = [...]string{"base", "ours", "theirs"}

// Finish merges the stores that have conflicts in the index: what both sides of a merge,
// rebase, cherry-pick or stash have of them in git becomes what merge.Run makes of it. It
// replaces them in the work tree and stages them. A store is replaced as a whole, or stays.
func (r *Repo) Finish(reg *formats.Registry, o FinishOptions) (res *Finished, err error) {
	scratch.Sweep()
	f := &finisher{Repo: r, reg: reg, o: o, res: &Finished{Result: &merge.Result{Target: ".", DryRun: o.DryRun, Sessions: []merge.Session{}, Remarks: []string{}}}}
	if f.files, err = worktree.Unmerged(r.ctx, r.top); err != nil {
		return nil, err
	}
	f.op, err = worktree.Stopped(r.ctx, r.top)
	switch {
	case err == nil && len(f.files) == 0:
		err = &formats.Error{Err: errors.New("no file has a conflict"), Hint: "nothing is left to merge: " + f.op.Continue}
		if f.op.Name == "refs/stash" {
			err = &formats.Error{Err: worktree.ErrNone, Hint: "run it in a repository where git reports conflicts; `rehome merge A B OUT` merges folders"}
		}
		return nil, err
	case err != nil:
		return nil, &formats.Error{Err: err, Hint: "run it in a repository where git reports conflicts; `rehome merge A B OUT` merges folders"}
	}
	f.res.Sources, f.res.Next = []string{"HEAD", f.op.Name}, f.op.Continue
	if f.index, err = worktree.Index(r.ctx, r.top); err != nil {
		return nil, err
	}
	for i, rev := range append([]string{"", "HEAD", f.op.Theirs}, f.op.Bases...) {
		if rev == "" {
			continue
		}
		side, err := worktree.Open(r.ctx, r.top, rev)
		if err != nil {
			return nil, err
		}
		if i < len(f.sides) {
			f.sides[i] = side
		} else {
			f.bases = append(f.bases, side)
		}
	}
	wanted := map[string]bool{}
	for _, p := range o.Paths {
		at, err := filepath.Abs(p)
		if err == nil {
			at, err = r.below(at)
		}
		if err != nil {
			return nil, err
		}
		wanted[at] = true
	}
	units, done := f.units(), 0
	for _, u := range units {
		if len(wanted) > 0 && !slices.ContainsFunc(u.files, func(name string) bool {
			return wanted["."] || wanted[name] || worktree.Within(wanted, name)
		}) {
			f.res.Skipped = append(f.res.Skipped, u.files...)
			continue
		}
		done++
		if err := f.finish(u); err != nil {
			err = stage.Full(err, u.paths()[0], "free some space and run it again: none of it was changed")
			if cerr := r.ctx.Err(); cerr != nil {
				return f.res, cerr
			}
			f.res.Left = append(f.res.Left, err)
		}
	}
	if len(units) > 0 && done == 0 {
		return nil, &formats.Error{At: o.Paths[0], Err: errors.New("no store with a conflict is there"), Hint: "git status lists the conflicts"}
	}
	slices.Sort(f.res.Others)
	slices.Sort(f.res.Skipped)
	return f.res, nil
}

// unit is what is merged and placed at once: a store in a folder, or the files of a session.
type unit struct {
	folder   bool     // it is a store in a folder
	parent   string   // slash path of the folder that it is in
	entries  []string // its files and folders in there
	files    []string // those with conflicts
	sessions []merge.Session
	base     *worktree.Revision // nil if there is none, or several that differ in it
}

func (u *unit) paths() (out []string) {
	for _, e := range u.entries {
		out = append(out, path.Join(u.parent, e))
	}
	return out
}

// units returns what has conflicts, by path, and sets aside what can be no store.
func (f *finisher) units() []*unit {
	by := map[string]*unit{}
	var rest []string
	whole := f.index.Marked() && f.IsStore(f.reg, f.top)
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		at, _ := strings.CutSuffix(name, formats.SidecarSuffix)
		if whole || path.Dir(at) == "." && path.Ext(at) == ".ndjson" {
			at = "."
		} else {
			at = f.index.Store(at)
		}
		if at == "" {
			rest = append(rest, name)
			continue
		}
		u := &unit{parent: path.Dir(at), entries: []string{path.Base(at), path.Base(at) + formats.SidecarSuffix}}
		u.folder = f.index.ID(at) == "" && f.files[at] == (worktree.Sides{})
		if parent, id := sessionOf(at); id != "" && path.Ext(at) == ".jsonl" {
			u.parent, u.entries = parent, []string{id, id + ".jsonl", id + ".jsonl" + formats.SidecarSuffix}
		}
		key := path.Join(u.parent, u.entries[0])
		if by[key] == nil {
			by[key] = u
		}
		by[key].files = append(by[key].files, name)
	}
	for _, name := range rest {
		in := false
		for _, u := range by {
			for _, p := range u.paths() {
				if worktree.Within(map[string]bool{p: true}, name) {
					u.files, in = append(u.files, name), true
				}
			}
		}
		if !in {
			f.res.Others = append(f.res.Others, name)
		}
	}
	var out []*unit
	for _, key := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[key])
	}
	return out
}

// sessionOf returns the folder that the files of a session are in that are named by its
// id, ID.jsonl and ID/..., and the id; "" if a path names none.
func sessionOf(name string) (parent, id string) {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		if p = strings.TrimSuffix(p, ".jsonl"); formats.IsUUID(p) {
			return path.Clean("./" + strings.Join(parts[:i], "/")), p
		}
	}
	return "", ""
}

// maxRounds bounds how often a unit is merged again because forks of it exist already.
const maxRounds = 8

// finish merges a unit and places the result.
func (f *finisher) finish(u *unit) (err error) {
	if u.paths()[0] == "." {
		return &formats.Error{At: u.files[0], Err: errors.New("its store is the root of the repository, which cannot be replaced"), Hint: "extract both commits to folders, and run `rehome merge A B OUT`"}
	}
	for _, name := range u.files {
		if s := f.files[name]; !f.sides[1].Has(name, s.Ours) || !f.sides[2].Has(name, s.Theirs) {
			return &formats.Error{At: name, Err: fmt.Errorf("the conflict is not between HEAD and %s: the file was renamed, or partly resolved", f.op.Name), Hint: "resolve it by hand, then: " + shell.Command("git", "add", "--", name)}
		}
		if ext := path.Ext(name); ext == ".db" || ext == ".vscdb" {
			return &formats.Error{At: name, Err: errors.New("databases are not merged in git"), Hint: "keep one side: `" + shell.Command("git", "checkout", "--ours", "--", name) + "` (or --theirs); or keep archives in git: rehome convert --to archive"}
		}
	}
	dir, err := scratch.New("", "sides")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Remove()) }()
	staged, err := f.stage(u)
	if err != nil {
		return err
	}
	remove := sync.OnceValue(staged.Remove)
	defer func() { err = errors.Join(err, remove()) }()
	res, sides, out := (*merge.Result)(nil), "", ""
	for round := range maxRounds {
		sides = filepath.Join(dir.Path, fmt.Sprint(round))
		out = filepath.Join(staged.Tree, fmt.Sprint(round))
		res, err = f.merge(u, sides, out)
		if errors.Is(err, formats.ErrUnknown) {
			f.res.Others = append(f.res.Others, u.files...)
			return nil
		}
		if err != nil {
			return f.explain(err, sides, out)
		}
		if more, err := f.earlier(u, out); err != nil {
			return err
		} else if !more {
			break
		}
	}
	u.sessions = res.Sessions
	if err := f.keep(u, filepath.Join(staged.Tree, "kept"), out); err != nil {
		return err
	}
	if !f.o.DryRun {
		if err := f.place(u, out, remove); err != nil {
			return err
		}
	}
	for _, s := range res.Sessions {
		s.Store = path.Join(u.parent, s.Store)
		f.res.Sessions = append(f.res.Sessions, s)
	}
	for _, remark := range res.Remarks {
		for i, name := range sideNames {
			remark = strings.ReplaceAll(remark, filepath.Join(sides, name)+string(filepath.Separator), f.shownSide(i))
		}
		if !slices.Contains(f.res.Remarks, remark) {
			f.res.Remarks = append(f.res.Remarks, remark)
		}
	}
	return nil
}

// merge writes the sides of a unit to folders, and what becomes of them to out.
func (f *finisher) merge(u *unit, dir, out string) (*merge.Result, error) {
	var at [3]string
	u.base = f.base(u)
	for i, side := range []*worktree.Revision{u.base, f.sides[1], f.sides[2]} {
		if side == nil {
			continue
		}
		to := filepath.Join(dir, sideNames[i])
		if err := os.MkdirAll(to, 0o777); err != nil {
			return nil, err
		}
		some, err := side.Extract(to, u.paths()...)
		if err != nil {
			return nil, err
		}
		if some && i > 0 && u.folder && !f.IsStore(f.reg, filepath.Join(to, filepath.FromSlash(u.paths()[0]))) {
			return nil, formats.ErrUnknown // a folder that only has such a name in it
		}
		if some {
			at[i] = filepath.Join(to, filepath.FromSlash(u.parent))
		}
	}
	for i, other := range []int{2: 1, 1: 2} {
		if i > 0 && at[i] == "" && at[other] != "" { // removed on one side
			res := &merge.Result{Remarks: []string{path.Join(u.parent, u.entries[0]) + ": removed on one side, and kept because the other one has changed it"}}
			return res, os.CopyFS(out, os.DirFS(at[other]))
		}
	}
	res, err := merge.Run(f.ctx, f.reg, at[1:], out, merge.Options{Base: at[0], Jobs: f.o.Jobs, Verbose: f.o.Verbose, OnNotice: f.o.OnNotice})
	if err != nil {
		return nil, err
	}
	return res, lift(out, path.Base(u.parent))
}

// lift moves the files of a result up that are in the folder of their client, as they were.
func lift(out, client string) error {
	list, err := os.ReadDir(out)
	if err != nil || len(list) != 1 || list[0].Name() != client || !list[0].IsDir() {
		return err
	}
	if err := os.Rename(out, out+".lift"); err != nil {
		return err
	}
	return errors.Join(os.Rename(filepath.Join(out+".lift", client), out), os.Remove(out+".lift"))
}

// base returns the common ancestor of a unit. Of several, one would be the wrong one.
func (f *finisher) base(u *unit) *worktree.Revision {
	for _, b := range f.bases {
		for _, p := range u.paths() {
			for _, name := range append(b.Names(p), f.bases[0].Names(p)...) {
				if b.ID(name) != f.bases[0].ID(name) {
					return nil
				}
			}
		}
	}
	if len(f.bases) == 0 {
		return nil
	}
	return f.bases[0]
}

// earlier adds forks to a unit that an earlier merge has made, and that are merged, too.
func (f *finisher) earlier(u *unit, out string) (more bool, err error) {
	list, err := os.ReadDir(out)
	for _, e := range list {
		name := path.Join(u.parent, e.Name())
		known := slices.ContainsFunc(f.sides[1:], func(r *worktree.Revision) bool { return len(r.Names(name)) > 0 })
		if known && !slices.Contains(u.entries, e.Name()) {
			u.entries, more = append(u.entries, e.Name()), true
		}
	}
	return more, err
}

// explain names the store instead of where it was merged.
func (f *finisher) explain(err error, dir, out string) error {
	for i, name := range sideNames {
		err = formats.ReplacePath(err, filepath.Join(dir, name)+string(filepath.Separator), f.shownSide(i))
	}
	return formats.ReplacePath(err, filepath.Dir(out)+string(filepath.Separator), "")
}

// shownSide returns what is printed in place of the folder of a side.
func (f *finisher) shownSide(i int) string { return []string{"base", "HEAD", f.op.Name}[i] + ":" }

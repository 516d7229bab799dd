package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/sidecar"
	"rehome/convert/internal/stage"
	"rehome/formats"
)

// update brings an existing target up to date. Everything is staged and verified as
// for a new target, and then compared with what is there: only files that differ are
// replaced, all those of a run at once (see stage.Folder.Update). What is not known
// to be rehome's is left alone.
type update struct {
	*job
	base  string   // name of the target
	put   []string // files to place; paths here are slash paths below the folder of the target
	aside []string // files that are in the way, or go
}

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
	case o.Delete && (len(o.Sessions) > 0 || j.filtered()):
		return refuse("--delete cannot be combined with a selection of sessions", "omit the selection: what it leaves out would be deleted")
	}
	return nil
}

// beginUpdate takes the lock of the target, and finishes what a killed update began.
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
	if !j.opts.DryRun {
		if j.stage, err = stage.Claim(j.dest, j.notify.Say); err != nil {
			return err
		}
	}
	if j.dest.Exists() {
		j.update = &update{job: j, base: j.dest.Base()}
	}
	return nil
}

// place compares what is staged with the target, and moves what differs.
func (u *update) place(ctx context.Context, withSidecar bool) error {
	u.rep.Placed = false
	for i := range u.rep.Stores {
		if err := ctx.Err(); err != nil {
			return err
		}
		u.compareStore(i)
	}
	if err := u.failure(); err != nil {
		return err
	}
	if err := u.compareSidecar(withSidecar); err != nil {
		return err
	}
	if err := u.vanishedStores(ctx); err != nil {
		return err
	}
	if u.opts.DryRun || len(u.put)+len(u.aside) == 0 {
		return nil
	}
	if err := u.stage.Update(u.steps(), u.rename); err != nil {
		return err
	}
	u.rep.Placed = true
	return nil
}

// compareStore finds the files of a store that change. On an error the store stays
// as it is.
func (u *update) compareStore(i int) {
	rep := &u.rep.Stores[i]
	if rep.Status != Placed && rep.Status != Checked {
		return
	}
	c := &storeChanges{update: u}
	for _, name := range u.filesOf(i) {
		if err := c.compare(name); err != nil {
			rep.failSessions()
			rep.fail(err)
			u.omitted[i] = nil
			for _, name := range u.filesOf(i) {
				os.RemoveAll(u.staged(name))
			}
			return
		}
	}
	rep.Files, rep.Change = c.files, c.change()
	u.put, u.aside = append(u.put, c.put...), append(u.aside, c.aside...)
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

func (u *update) staged(name string) string {
	return filepath.Join(u.stage.Tree, filepath.FromSlash(name))
}

func (u *update) current(name string) string {
	return filepath.Join(u.dest.Dir, filepath.FromSlash(name))
}

// storeChanges are the changes of one store.
type storeChanges struct {
	*update
	put, aside []string
	files      []FileChange
	there      bool // some of it exists
}

// compare compares a staged file or folder with what the target has there.
func (c *storeChanges) compare(name string) error {
	staged, err := os.Lstat(c.staged(name))
	if err != nil {
		return err
	}
	if err := c.checkFolders(name); err != nil {
		return err
	}
	now, err := os.Lstat(c.current(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		now = nil
	case err != nil:
		return &formats.Error{At: c.current(name), Err: formats.Cause(err)}
	case now.Mode().Type() != staged.Mode().Type():
		return &formats.Error{At: c.current(name), Err: errors.New("not a " + kindOf(staged) + ", as the update needs here"), Hint: "move it away"}
	}
	if staged.IsDir() {
		list, err := os.ReadDir(c.staged(name))
		for _, e := range list {
			if err == nil {
				err = c.compare(path.Join(name, e.Name()))
			}
		}
		if err == nil && now != nil {
			err = c.vanishedFiles(name)
		}
		return err
	}
	if now == nil {
		c.add(name, Added)
		c.put = append(c.put, name)
		return nil
	}
	c.there = true
	same, err := stage.SameBytes(c.staged(name), c.current(name))
	if err != nil || same {
		return err
	}
	c.add(name, Updated)
	c.put, c.aside = append(c.put, name), append(c.aside, name)
	return nil
}

func kindOf(info os.FileInfo) string {
	if info.IsDir() {
		return "folder"
	}
	return "regular file"
}

// checkFolders returns an error if a folder above a path is a link, which could lead
// anywhere.
func (c *storeChanges) checkFolders(name string) error {
	for d := path.Dir(name); d != "."; d = path.Dir(d) {
		if info, err := os.Lstat(c.current(d)); err == nil && !info.IsDir() {
			return &formats.Error{At: c.current(d), Err: stage.ErrNotFolder, Hint: "move it away"}
		}
	}
	return nil
}

// vanishedFiles finds the files of a folder of the store that the source no longer
// makes.
func (c *storeChanges) vanishedFiles(folder string) error {
	return nil
}

func (c *storeChanges) add(name, change string) {
	rel := strings.TrimPrefix(strings.TrimPrefix(name, c.base), "/")
	if rel == "" {
		rel = "."
	}
	c.files = append(c.files, FileChange{Path: rel, Change: change})
}

// change returns what happens to the store as a whole.
func (c *storeChanges) change() string {
	switch {
	case !c.there && len(c.files) > 0:
		return Added
	case slices.ContainsFunc(c.files, func(f FileChange) bool { return f.Change != Kept }):
		return Updated
	}
	return Unchanged
}

// steps returns the renames: first what goes, then what comes. A folder that the
// target lacks is moved at once.
func (u *update) steps() (out []stage.Step) {
	for n, name := range u.aside {
		out = append(out, stage.Step{From: name, To: u.stage.Old(n)})
	}
	done := map[string]bool{}
	for _, name := range u.put {
		for d := name; d != "."; d = path.Dir(d) {
			if _, err := os.Lstat(u.current(path.Dir(d))); err == nil {
				name = d
				break
			}
		}
		if !done[name] {
			done[name] = true
			out = append(out, stage.Step{From: u.stage.Staged(name), To: name})
		}
	}
	return out
}

// compareSidecar compares the sidecar, which all stores share.
func (u *update) compareSidecar(some bool) error {
	name := filepath.Base(u.sidecar.To.Path())
	if !some {
		if u.sidecar.PreviousExists {
			u.aside = append(u.aside, filepath.Base(u.sidecar.Previous.Path()))
		}
		return nil
	}
	if u.sidecar.PreviousExists {
		old := filepath.Base(u.sidecar.Previous.Path())
		if same, err := stage.SameBytes(u.staged(name), u.current(old)); err != nil || same && old == name {
			return err
		}
		u.aside = append(u.aside, old)
	}
	u.put = append(u.put, name)
	u.rep.Sidecar = u.sidecar.To.Display
	return nil
}

// vanishedStores finds the stores of the target that are no longer in the source.
func (u *update) vanishedStores(ctx context.Context) error {
	return nil
}

// carrySidecar keeps the items of the stores of which the target keeps what it has.
func (u *update) carrySidecar() error {
	if !u.sidecar.PreviousExists || u.sidecar.Off {
		return nil
	}
	at := u.sidecar.Previous
	f, err := sidecar.Open(at.Path())
	if err != nil {
		return err
	}
	defer f.Close()
	items, err := sidecar.Read(f, at.Display)
	if err != nil {
		return fmt.Errorf("the sidecar of the target: %w", err)
	}
	for i, s := range u.rep.Stores {
		if u.omitted[i] == nil {
			u.omitted[i] = sidecar.Carried(s.Path, items)
		}
		delete(items, strings.TrimPrefix(s.Path, "."))
	}
	for _, rel := range slices.Sorted(maps.Keys(items)) {
		u.omitted = append(u.omitted, sidecar.Carried(rel, items))
	}
	return nil
}

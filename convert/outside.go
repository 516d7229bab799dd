package convert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/internal/fsx"
)

// outsideFolder is the folder of a store that its client keeps elsewhere. It is
// written and verified as part of the store, and only then moved out of it. Its
// content belongs to the client: existing entries are never written into.
type outsideFolder struct {
	name    string       // name of the folder in the store
	to      stage.Target // where the client looks for it
	replace bool
	say     func(string)

	stage  string // folder in which it is staged under the names of to.tail; "" if there is none
	placed bool
}

func newOutsideFolder(j *job, f *formats.Format) (*outsideFolder, error) {
	if f.Home == nil || f.Home.External == nil {
		return nil, nil
	}
	name, at := f.Home.External(j.opts.Home, j.opts.Cwd)
	to, err := stage.Resolve(at)
	if err != nil {
		return nil, err
	}
	return &outsideFolder{name: name, to: to, replace: j.opts.Replace, say: j.notify.Say}, stage.CheckDisjoint(j.src, to)
}

// checkFree returns early the error that placing would return late.
func (o *outsideFolder) checkFree(staged string) error {
	if o == nil {
		return nil
	}
	from := filepath.Join(staged, o.name)
	list, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if info, err := os.Stat(o.to.Path()); err == nil && !info.IsDir() {
		return &formats.Error{At: o.to.Display, Err: stage.ErrNotFolder}
	}
	for _, e := range list {
		if t := o.entry(e.Name()); !o.replace && t.Exists() && !fsx.SameTree(filepath.Join(from, e.Name()), t.Path()) {
			return o.existsError(t)
		}
	}
	return nil
}

func (o *outsideFolder) entry(name string) stage.Target {
	return stage.Target{Display: filepath.Join(o.to.Display, name), Dir: o.to.Path(), Tail: []string{name}}
}

func (o *outsideFolder) existsError(t stage.Target) error {
	return &formats.Error{At: t.Display, Err: formats.ErrExists,
		Hint: "pass --replace to keep the existing one as " + t.Base() + stage.BackupMark + "1, or pass a DST"}
}

// extract moves the folder out of the staged store. If folders above both are
// missing, it is staged in the same tree, so that renaming the topmost makes
// both appear.
func (o *outsideFolder) extract(s *stage.Folder, goal stage.Target) error {
	if o == nil {
		return nil
	}
	from := filepath.Join(s.StorePath(goal, "."), o.name)
	if _, err := os.Lstat(from); err != nil {
		return nil // the store does not have one
	}
	at := filepath.Join(s.Root, "outside")
	if o.to.Dir == goal.Dir && len(goal.Tail) > 1 && o.to.Tail[0] == goal.Tail[0] {
		at = s.Tree
	}
	to := filepath.Join(at, filepath.Join(o.to.Tail...))
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	o.stage = at
	return stage.SyncTree(s.Root)
}

// placeBefore places the folder before the first depth folders of goal, unless
// the rename of those includes it.
func (o *outsideFolder) placeBefore(m *stage.Renames, s *stage.Folder, goal stage.Target, depth int) error {
	if o == nil || o.stage == "" || o.placed {
		return nil
	}
	if depth < len(goal.Tail) && o.stage == s.Tree && len(o.to.Tail) >= depth && slices.Equal(o.to.Tail[:depth], goal.Tail[:depth]) {
		return nil
	}
	o.placed = true
	placed, err := m.PlaceAbove(o.stage, o.to, func(int) error { return nil })
	if placed || err != nil {
		return err
	}
	err = m.PlaceAs(filepath.Join(o.stage, filepath.Join(o.to.Tail...)), o.to)
	if err == nil {
		return stage.SyncFolder(filepath.Dir(o.to.Path()))
	}
	if !errors.Is(err, stage.ErrAppeared) {
		return err
	}
	if info, err := os.Stat(o.to.Path()); err != nil || !info.IsDir() {
		return &formats.Error{At: o.to.Path(), Err: stage.ErrNotFolder}
	}
	return o.merge(m)
}

// merge places the entries one by one in the client's existing folder.
func (o *outsideFolder) merge(m *stage.Renames) error {
	from := filepath.Join(o.stage, filepath.Join(o.to.Tail...))
	list, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range list {
		t, staged := o.entry(e.Name()), filepath.Join(from, e.Name())
		if t.Exists() {
			switch {
			case fsx.SameTree(staged, t.Path()):
				continue // left by an interrupted run, or never moved
			case !o.replace:
				return o.existsError(t)
			}
			kept, err := m.Backup(t)
			if err != nil {
				return err
			}
			o.say(fmt.Sprintf("%s: the previous one is kept as %s", t.Display, kept.Base()))
		}
		if err := m.Move(staged, t.Path()); errors.Is(err, fs.ErrExist) {
			return o.existsError(t)
		} else if err != nil {
			return &formats.Error{At: t.Display, Err: formats.Cause(err)}
		}
	}
	return stage.SyncFolder(o.to.Path())
}

// announce says where the folder was written.
func (o *outsideFolder) announce() {
	if o != nil && o.stage != "" {
		o.say(o.name + " written where the client looks for it: " + o.to.Display)
	}
}

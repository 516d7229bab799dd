package convert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rehome/formats"
)

// outsideFolder is the folder of a store that its client keeps elsewhere. It is
// written and verified as part of the store, and only then moved out of it. Its
// content belongs to the client: existing entries are never written into.
type outsideFolder struct {
	name    string // name of the folder in the store
	to      target // where the client looks for it
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
	to, err := resolve(at)
	if err != nil {
		return nil, err
	}
	return &outsideFolder{name: name, to: to, replace: j.opts.Replace, say: j.notify.Say}, checkDisjoint(j.src, to)
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
	if info, err := os.Stat(o.to.path()); err == nil && !info.IsDir() {
		return &formats.Error{At: o.to.display, Err: errNotFolder}
	}
	for _, e := range list {
		if t := o.entry(e.Name()); !o.replace && t.exists() && !sameTree(filepath.Join(from, e.Name()), t.path()) {
			return o.existsError(t)
		}
	}
	return nil
}

func (o *outsideFolder) entry(name string) target {
	return target{display: filepath.Join(o.to.display, name), dir: o.to.path(), tail: []string{name}}
}

func (o *outsideFolder) existsError(t target) error {
	return &formats.Error{At: t.display, Err: formats.ErrExists,
		Hint: "pass --replace to keep the existing one as " + t.base() + backupMark + "1, or pass a DST"}
}

// extract moves the folder out of the staged store. If folders above both are
// missing, it is staged in the same tree, so that renaming the topmost makes
// both appear.
func (o *outsideFolder) extract(s *staging, goal target) error {
	if o == nil {
		return nil
	}
	from := filepath.Join(s.path(goal, "."), o.name)
	if _, err := os.Lstat(from); err != nil {
		return nil // the store does not have one
	}
	stage := filepath.Join(s.Root, "outside")
	if o.to.dir == goal.dir && len(goal.tail) > 1 && o.to.tail[0] == goal.tail[0] {
		stage = s.tree
	}
	to := filepath.Join(stage, filepath.Join(o.to.tail...))
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	o.stage = stage
	return syncTree(s.Root)
}

// placeBefore places the folder before the first depth folders of goal, unless
// the rename of those includes it.
func (o *outsideFolder) placeBefore(m *renameLog, s *staging, goal target, depth int) error {
	if o == nil || o.stage == "" || o.placed {
		return nil
	}
	if depth < len(goal.tail) && o.stage == s.tree && len(o.to.tail) >= depth && slices.Equal(o.to.tail[:depth], goal.tail[:depth]) {
		return nil
	}
	o.placed = true
	for i := range o.to.tail {
		name := filepath.Join(o.to.tail[:i+1]...)
		to := filepath.Join(o.to.dir, name)
		err := m.move(filepath.Join(o.stage, name), to)
		if err == nil {
			return syncFolder(filepath.Dir(to))
		}
		if !errors.Is(err, fs.ErrExist) {
			return &formats.Error{At: to, Err: formats.Cause(err)}
		}
		if info, err := os.Stat(to); err != nil || !info.IsDir() {
			return &formats.Error{At: to, Err: errNotFolder}
		}
	}
	return o.merge(m)
}

// merge places the entries one by one in the client's existing folder.
func (o *outsideFolder) merge(m *renameLog) error {
	from := filepath.Join(o.stage, filepath.Join(o.to.tail...))
	list, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range list {
		t, staged := o.entry(e.Name()), filepath.Join(from, e.Name())
		if t.exists() {
			switch {
			case sameTree(staged, t.path()):
				continue // left by an interrupted run, or never moved
			case !o.replace:
				return o.existsError(t)
			}
			n, err := nextBackup(t)
			if err != nil {
				return err
			}
			if err := m.move(t.path(), t.beside(backupSuffix(n)).path()); err != nil {
				return &formats.Error{At: t.display, Op: "back up", Err: formats.Cause(err)}
			}
			o.say(fmt.Sprintf("%s: the previous one is kept as %s", t.display, t.base()+backupSuffix(n)))
		}
		if err := m.move(staged, t.path()); errors.Is(err, fs.ErrExist) {
			return o.existsError(t)
		} else if err != nil {
			return &formats.Error{At: t.display, Err: formats.Cause(err)}
		}
	}
	return syncFolder(o.to.path())
}

// announce says where the folder was written.
func (o *outsideFolder) announce() {
	if o != nil && o.stage != "" {
		o.say(o.name + " written where the client looks for it: " + o.to.display)
	}
}

// sameTree reports whether two files or folders have the same content.
func sameTree(a, b string) bool {
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}
	y, err := os.Lstat(b)
	if err != nil || x.Mode().Type() != y.Mode().Type() {
		return false
	}
	switch {
	case x.Mode().IsRegular():
		same, err := sameBytes(a, b)
		return same && err == nil
	case !x.IsDir():
		return false
	}
	left, err := os.ReadDir(a)
	if err != nil {
		return false
	}
	right, err := os.ReadDir(b)
	if err != nil || len(left) != len(right) {
		return false
	}
	for i, e := range left {
		if e.Name() != right[i].Name() || !sameTree(filepath.Join(a, e.Name()), filepath.Join(b, e.Name())) {
			return false
		}
	}
	return true
}

package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rehome/formats"
)

// outside is the folder of a store that its client keeps elsewhere. It is
// written and read again as part of the store, and only then taken out of it.
// What is in it is the client's by name: an entry that is there already is
// never written into.
type outside struct {
	name    string // of the folder inside the store
	to      target // where the client looks for it
	replace bool
	say     func(string)

	stage  string // below which it waits under the names of to.tail; "" if there is none
	placed bool
}

func newOutside(j *job, f *formats.Format) (*outside, error) {
	if f.ExternalDir == nil {
		return nil, nil
	}
	name, at := f.ExternalDir(j.o.Home, j.o.Cwd)
	to, err := resolve(at)
	if err != nil {
		return nil, err
	}
	return &outside{name: name, to: to, replace: j.o.Replace, say: j.talk.Say}, apart(j.src, to)
}

// free refuses early what could not be placed late.
func (o *outside) free(staged string) error {
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
		return &formats.Error{At: o.to.shown, Err: errNotFolder}
	}
	for _, e := range list {
		if t := o.entry(e.Name()); !o.replace && t.exists() && !sameTree(filepath.Join(from, e.Name()), t.path()) {
			return o.taken(t)
		}
	}
	return nil
}

func (o *outside) entry(name string) target {
	return target{shown: filepath.Join(o.to.shown, name), dir: o.to.path(), tail: []string{name}}
}

func (o *outside) taken(t target) error {
	return &formats.Error{At: t.shown, Err: formats.ErrExists,
		Hint: "pass --replace to keep the existing one as " + t.base() + backupMark + "1, or pass a DST"}
}

// takeOut moves the folder out of the staged store. Where folders above both
// are missing, it waits beside the store in the tree, so that the one rename of
// the topmost makes both appear.
func (o *outside) takeOut(s *staging, goal target) error {
	if o == nil {
		return nil
	}
	from := filepath.Join(s.path(goal, "."), o.name)
	if _, err := os.Lstat(from); err != nil {
		return nil // the store has none
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

// before places the folder ahead of the first depth folders of goal, unless
// the rename of those brings it along.
func (o *outside) before(m *moves, s *staging, goal target, depth int) error {
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
			return &formats.Error{At: to, Err: bare(err)}
		}
		if info, err := os.Stat(to); err != nil || !info.IsDir() {
			return &formats.Error{At: to, Err: errNotFolder}
		}
	}
	return o.merge(m)
}

// merge places entry by entry in the folder that the client has already.
func (o *outside) merge(m *moves) error {
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
				continue // a run that was stopped has left it, or it never went
			case !o.replace:
				return o.taken(t)
			}
			n, err := freeBackup(t)
			if err != nil {
				return err
			}
			if err := m.move(t.path(), t.beside(backupSuffix(n)).path()); err != nil {
				return &formats.Error{At: t.shown, Op: "back up", Err: bare(err)}
			}
			o.say(fmt.Sprintf("%s: the previous one is kept as %s", t.shown, t.base()+backupSuffix(n)))
		}
		if err := m.move(staged, t.path()); errors.Is(err, fs.ErrExist) {
			return o.taken(t)
		} else if err != nil {
			return &formats.Error{At: t.shown, Err: bare(err)}
		}
	}
	return syncFolder(o.to.path())
}

// tell says where the folder went.
func (o *outside) tell() {
	if o != nil && o.stage != "" {
		o.say(o.name + " placed where the client looks for it: " + o.to.shown)
	}
}

// sameTree reports whether two files or folders hold the same.
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
		return x.Size() == y.Size() && sameContent(a, b)
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

func sameContent(a, b string) bool {
	f, err := os.Open(a)
	if err != nil {
		return false
	}
	defer f.Close()
	g, err := os.Open(b)
	if err != nil {
		return false
	}
	defer g.Close()
	x, y := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(f, x)
		k, also := io.ReadFull(g, y)
		if n != k || !bytes.Equal(x[:n], y[:k]) || (err == nil) != (also == nil) {
			return false
		}
		if err != nil {
			return err == io.EOF || err == io.ErrUnexpectedEOF
		}
	}
}

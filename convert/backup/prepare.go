package backup

import (
	"errors"
	"os"
	"path/filepath"

	"rehome/convert/internal/stage"
	"rehome/convert/internal/walk"
	"rehome/convert/internal/worktree"
	"rehome/formats"
	"rehome/formats/clients"
)

// prepare checks where the backup goes, and opens the newest snapshot.
func (r *run) prepare() error {
	refuse := func(what, hint string) error {
		return &formats.Error{At: r.rep.Dir, Err: errors.New(what), Hint: hint}
	}
	if r.o.Machine.Home == "" {
		return refuse("the home folder is unknown", "set HOME")
	}
	if r.o.Keep < 0 {
		return refuse("the number of snapshots to keep must not be negative", "")
	}
	dest, err := stage.Resolve(r.rep.Dir)
	if err != nil {
		return err
	}
	if r.dir = dest.Path(); dest.Exists() {
		if r.dir, err = filepath.EvalSymlinks(r.dir); err != nil {
			return &formats.Error{At: r.rep.Dir, Err: formats.Cause(err)}
		}
	}
	if repo := worktree.Top(r.dir); repo != "" && r.o.WithoutSecrets {
		r.rep.Git = true
	} else if repo != "" {
		return refuse("inside the git work tree "+repo+", where keys and conversations would be committed", "name a folder outside of it, or pass --without-secrets")
	}
	for _, f := range r.reg.All() {
		if f.Home == nil {
			continue
		}
		for _, root := range f.Home.Roots(r.o.Machine) {
			if walk.AtOrBelow(r.dir, walk.ResolvedPath(root)) {
				return refuse("inside the folder of a client: "+root, "name a folder outside of it")
			}
		}
	}
	for _, c := range clients.Kept(r.reg) {
		for _, root := range c.Roots(r.o.Machine, nil) {
			if walk.AtOrBelow(r.dir, walk.ResolvedPath(root)) {
				return refuse("inside the folder of a client: "+root, "name a folder outside of it")
			}
		}
	}
	return r.openPrevious()
}

// openPrevious opens the newest snapshot that can be read. A folder with other things
// is not one of backups.
func (r *run) openPrevious() (err error) {
	if r.rep.Git {
		if exists(filepath.Join(r.dir, IndexName)) {
			r.prev, err = readIndex(r.dir)
		}
		r.prevDir = r.dir
		return err
	}
	names, err := Snapshots(r.dir)
	if err != nil {
		return err
	}
	for i := len(names) - 1; i >= 0; i-- {
		dir := filepath.Join(r.dir, names[i])
		ix, err := readIndex(dir)
		if err != nil {
			r.notify.Say(err.Error())
			continue
		}
		r.prev, r.prevDir = ix, dir
		r.oldMarks = readMarks(r.dir, dir)
		if ix.Secrets == r.o.WithoutSecrets {
			r.oldMarks = nil
		}
		return nil
	}
	if list, _ := os.ReadDir(r.dir); len(names) == 0 {
		for _, e := range list {
			if e.Name() != marksName && e.Name() != currentName && !formats.IsStaging(e.Name()) {
				return &formats.Error{At: r.rep.Dir, Err: errors.New("neither empty nor a folder of backups"), Hint: "name a new folder"}
			}
		}
	}
	return nil
}

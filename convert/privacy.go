package convert

import (
	"io/fs"
	"os"
	"path/filepath"

	"rehome/formats"
)

// What was said in a session is as private as the store that it was in: what
// the group and others may not do with a store they may not do with text of it
// either, whatever the umask says.

// shared are the permissions of the group and of others.
const shared fs.FileMode = 0o077

// closedTo are the shared permissions that a store does not give.
func closedTo(l *formats.Location) fs.FileMode {
	out := fs.FileMode(0)
	filepath.WalkDir(l.Path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		info, err := e.Info()
		switch {
		case err != nil:
		case e.IsDir():
			out |= ^info.Mode() & shared
		case info.Mode().IsRegular():
			out |= ^asFolder(info.Mode()) & shared
		}
		return nil
	})
	return out
}

// asFolder are the permissions of a folder that shows as much as a file does.
func asFolder(m fs.FileMode) fs.FileMode { return m | m&0o444>>2 }

// closeOff takes permissions from all that is at and below a path. A folder
// that may not be read may not be entered either.
func closeOff(root string, off fs.FileMode) error {
	if off == 0 {
		return nil
	}
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		less := info.Mode().Perm() &^ off
		if e.IsDir() {
			less &= ^(off & 0o044 >> 2)
		}
		if less == info.Mode().Perm() {
			return nil
		}
		return os.Chmod(path, less)
	})
}

// keepPrivate gives all that is staged the permissions of the stores that it
// was made of. What stands for several stores is as open as the most open one
// where it only leads to them, and as closed as the most closed one where it
// holds their words.
func (j *job) keepPrivate() error {
	every, any := shared, fs.FileMode(0)
	off := make([]fs.FileMode, len(j.found))
	for i, f := range j.found {
		if s := j.rep.Stores[i].Status; f.Loc == nil || s != Placed && len(j.finished[i]) == 0 {
			continue
		}
		off[i] = closedTo(f.Loc)
		every, any = every&off[i], any|off[i]
	}
	j.private = any
	goal := j.stage.path(j.goal, ".")
	info, err := os.Lstat(goal)
	if err != nil {
		return err
	}
	if !info.IsDir() || len(j.found) == 1 {
		every = any
	}
	if err := closeOff(j.stage.tree, every); err != nil {
		return err
	}
	for i := range j.found {
		for _, path := range j.madeOf(i) {
			if err := closeOff(path, off[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// madeOf are the staged files and folders that were made of one store alone.
func (j *job) madeOf(i int) (out []string) {
	rep := &j.rep.Stores[i]
	if j.rep.Lane != sessionLane {
		if rep.Status == Placed {
			out = append(out, j.stage.path(j.goal, rep.Path))
		}
		return out
	}
	for _, f := range j.finished[i] {
		if name := rep.Sessions[f.report].File; name != "" {
			out = append(out, filepath.Join(j.stage.path(j.goal, "."), filepath.FromSlash(name)))
		}
	}
	return out
}

package convert

import (
	"io/fs"
	"os"
	"path/filepath"

	"rehome/formats"
)

// A conversion of a store is as private as the store: what the group and others
// may not do with the store, they may not do with the result, whatever the
// umask.

// groupAndOthers are the permissions of the group and of others.
const groupAndOthers fs.FileMode = 0o077

// deniedBy returns the permissions of group and others that a store lacks.
func deniedBy(l *formats.Location) fs.FileMode {
	out := fs.FileMode(0)
	filepath.WalkDir(l.Path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		info, err := e.Info()
		switch {
		case err != nil:
		case e.IsDir():
			out |= ^info.Mode() & groupAndOthers
		case info.Mode().IsRegular():
			out |= ^folderMode(info.Mode()) & groupAndOthers
		}
		return nil
	})
	return out
}

// folderMode returns the permissions of a folder that is as readable as the
// file.
func folderMode(m fs.FileMode) fs.FileMode { return m | m&0o444>>2 }

// deny removes permissions from everything at and below a path. A folder that
// may not be read may not be entered either.
func deny(root string, off fs.FileMode) error {
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

// restrictPermissions gives everything that is staged the permissions of the
// stores it was made from. What stands for several stores has the permissions
// of the most open one if it only leads to them, and of the most private one if
// it holds their content.
func (j *job) restrictPermissions() error {
	every, any := groupAndOthers, fs.FileMode(0)
	off := make([]fs.FileMode, len(j.found))
	for i, f := range j.found {
		if s := j.rep.Stores[i].Status; f.Loc == nil || s != Placed && len(j.stagedSessions[i]) == 0 {
			continue
		}
		off[i] = deniedBy(f.Loc)
		every, any = every&off[i], any|off[i]
	}
	j.denied = any
	goal := j.stage.path(j.dest, ".")
	info, err := os.Lstat(goal)
	if err != nil {
		return err
	}
	if !info.IsDir() || len(j.found) == 1 {
		every = any
	}
	if err := deny(j.stage.tree, every); err != nil {
		return err
	}
	for i := range j.found {
		for _, path := range j.stagedPaths(i) {
			if err := deny(path, off[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// stagedPaths returns the staged files and folders that were made from one
// store alone.
func (j *job) stagedPaths(i int) (out []string) {
	rep := &j.rep.Stores[i]
	if j.rep.Lane != SessionConversion {
		if rep.Status == Placed {
			out = append(out, j.stage.path(j.dest, rep.Path))
		}
		return out
	}
	for _, f := range j.stagedSessions[i] {
		if name := rep.Sessions[f.report].File; name != "" {
			out = append(out, filepath.Join(j.stage.path(j.dest, "."), filepath.FromSlash(name)))
		}
	}
	return out
}

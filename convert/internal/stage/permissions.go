package stage

import (
	"io/fs"
	"os"
	"path/filepath"
)

// A conversion of a store is as private as the store: what the group and others
// may not do with the store, they may not do with the result, whatever the
// umask.

// GroupAndOthers are the permissions of the group and of others.
const GroupAndOthers fs.FileMode = 0o077

// DeniedBy returns the permissions of group and others that a store lacks.
func DeniedBy(path string) fs.FileMode {
	out := fs.FileMode(0)
	filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		info, err := e.Info()
		switch {
		case err != nil:
		case e.IsDir():
			out |= ^info.Mode() & GroupAndOthers
		case info.Mode().IsRegular():
			out |= ^folderMode(info.Mode()) & GroupAndOthers
		}
		return nil
	})
	return out
}

// folderMode returns the permissions of a folder that is as readable as the
// file.
func folderMode(m fs.FileMode) fs.FileMode { return m | m&0o444>>2 }

// Deny removes permissions from everything at and below a path. A folder that
// may not be read may not be entered either.
func Deny(root string, off fs.FileMode) error {
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

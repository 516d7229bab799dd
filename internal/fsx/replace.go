package fsx

import (
	"errors"
	"io/fs"
	"os"
)

// Overwrite replaces a file, or creates it, by way of another path: there is always the old
// file or the new one. Its content is on disk when it returns, its name is not.
func Overwrite(path, staged string, content []byte, mode fs.FileMode) error {
	err := os.WriteFile(staged, content, mode)
	if err == nil {
		err = SyncFile(staged)
	}
	if err == nil {
		err = os.Rename(staged, path)
	}
	return err
}

// Replace renames a file over another one, or a folder over another one, which is then
// at from. Folders change places in one step if the system can do that.
func Replace(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return os.Rename(from, to)
	}
	return swap(from, to)
}

// swapStepwise is for systems and disks that cannot exchange two folders. In between, the
// old folder is beside the new one.
func swapStepwise(from, to string) error {
	old := from + ".old"
	if err := os.Rename(to, old); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return errors.Join(err, os.Rename(old, to))
	}
	return os.Rename(old, from)
}

package fsx

import (
	"io/fs"
	"os"
)

// Move renames and never overwrites: if to exists, the error is fs.ErrExist.
// move does it in one step if the system can.
func Move(from, to string) error { return move(from, to) }

// moveStepwise is for systems and disks without such a rename. A file is
// linked, which fails if the name is taken. A folder cannot be linked, but
// renaming it over anything but an empty folder fails, too.
func moveStepwise(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() && os.Link(from, to) == nil {
		return os.Remove(from)
	}
	if _, err := os.Lstat(to); err == nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
	}
	return os.Rename(from, to)
}

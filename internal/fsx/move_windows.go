package fsx

import (
	"os"
	"syscall"
)

// move renames. Unlike os.Rename, MoveFile does not replace.
func move(from, to string) error {
	f, err := syscall.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	t, err := syscall.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	if err := syscall.MoveFile(f, t); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

func swap(from, to string) error { return swapStepwise(from, to) }

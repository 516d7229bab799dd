package fsx

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func move(from, to string) error {
	err := unix.RenamexNp(from, to, unix.RENAME_EXCL)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOTSUP):
		return moveStepwise(from, to)
	}
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
}

func swap(from, to string) error {
	err := unix.RenamexNp(from, to, unix.RENAME_SWAP)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOTSUP):
		return swapStepwise(from, to)
	}
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
}

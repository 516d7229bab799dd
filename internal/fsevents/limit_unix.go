//go:build !windows

package fsevents

import (
	"errors"
	"runtime"
	"syscall"
)

// filesOpened says whether a watch opens every file of the folder.
const filesOpened = runtime.GOOS != "linux"

// limitReached reports whether the system has no more watches or open files.
func limitReached(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

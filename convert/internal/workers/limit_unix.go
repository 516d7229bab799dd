//go:build !windows

package workers

import (
	"errors"
	"math"
	"syscall"
)

// fileLimit returns how many files this process may have open, 0 if unknown.
func fileLimit() int {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil || uint64(r.Cur) > math.MaxInt32 {
		return 0
	}
	return int(r.Cur)
}

// TooManyFiles reports whether an error says that the process, or the system,
// can open no more files.
func TooManyFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

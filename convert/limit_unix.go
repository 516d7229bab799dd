//go:build !windows

package convert

import (
	"errors"
	"math"
	"syscall"
)

// fileLimit is how many files this process may have open; 0 if nobody says.
func fileLimit() int {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil || uint64(r.Cur) > math.MaxInt32 {
		return 0
	}
	return int(r.Cur)
}

// filesUsedUp recognizes a process, or a system, that can open no more files.
func filesUsedUp(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

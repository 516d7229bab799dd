//go:build !windows

package stage

import (
	"errors"
	"syscall"

	"rehome/formats"
)

// DiskFull reports whether an error says that a disk, or a quota on it, is
// full.
func DiskFull(err error) bool {
	return errors.Is(err, formats.ErrFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

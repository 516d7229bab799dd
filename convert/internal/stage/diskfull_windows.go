package stage

import (
	"errors"
	"syscall"

	"rehome/formats"
)

// DiskFull reports whether an error is ERROR_HANDLE_DISK_FULL or
// ERROR_DISK_FULL.
func DiskFull(err error) bool {
	return errors.Is(err, formats.ErrFull) || errors.Is(err, syscall.Errno(39)) || errors.Is(err, syscall.Errno(112))
}

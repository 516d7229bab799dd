//go:build !windows

package convert

import (
	"errors"
	"syscall"
)

// diskFull reports whether an error says that a disk, or a quota on it, is
// full.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

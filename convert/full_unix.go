//go:build !windows

package convert

import (
	"errors"
	"syscall"
)

// diskFull recognizes a disk, or a share of it, that is used up.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

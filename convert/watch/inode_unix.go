//go:build !windows

package watch

import (
	"io/fs"
	"syscall"
)

// inode returns the number of a file, which tells it from another with its name.
func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}

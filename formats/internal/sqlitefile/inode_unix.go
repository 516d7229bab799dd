//go:build unix

package sqlitefile

import (
	"io/fs"
	"syscall"
)

// inode is the number by which the file system knows a file.
func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}

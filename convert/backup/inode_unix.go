//go:build unix

package backup

import (
	"io/fs"
	"syscall"
)

// inode returns the number of a file on its disk.
func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}

package fileid

import (
	"io/fs"
	"syscall"
)

func system(info fs.FileInfo) (inode uint64, status int64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino, s.Ctimespec.Nano()
	}
	return 0, 0
}

package write

import (
	"io/fs"
	"strconv"
	"syscall"
)

// salt returns what the client adds to the path of a folder to make its id: the inode.
func salt(i fs.FileInfo) string {
	s, ok := i.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return strconv.FormatUint(s.Ino, 10)
}

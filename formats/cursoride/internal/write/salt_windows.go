package write

import (
	"io/fs"
	"strconv"
	"syscall"
	"time"
)

// salt returns what the client adds to the path of a folder to make its id: when it was
// created.
func salt(i fs.FileInfo) string {
	s, ok := i.Sys().(*syscall.Win32FileAttributeData)
	if !ok {
		return ""
	}
	return strconv.FormatInt(s.CreationTime.Nanoseconds()/int64(time.Millisecond), 10)
}

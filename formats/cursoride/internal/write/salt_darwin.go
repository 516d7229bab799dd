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
	s, ok := i.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	at := time.Unix(s.Birthtimespec.Sec, s.Birthtimespec.Nsec)
	return strconv.FormatInt(at.Round(time.Millisecond).UnixMilli(), 10)
}

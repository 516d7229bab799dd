// Package fileid tells, without reading a file, whether it is the one that was there
// before.
package fileid

import (
	"io/fs"
	"time"
)

// ID is what tells a file from what it was before.
type ID struct {
	Size    int64
	Changed int64  // when its content was changed last, in nanoseconds of Unix time
	Inode   uint64 // its number on its disk; 0 where that is not known without opening it

	// Status is when anything of it was changed last: also its mode, its names, or the
	// time of its content, which a program can put back. A new one says that the file has
	// to be read, not that its content is new. 0 where it is not known without opening it.
	Status int64
}

// Of returns the ID of a file.
func Of(info fs.FileInfo) ID {
	inode, status := system(info)
	return ID{Size: info.Size(), Changed: info.ModTime().UnixNano(), Inode: inode, Status: status}
}

// Resolution is the coarsest resolution of the times of a file system. A file that
// changed more recently can change again and keep its ID.
const Resolution = 2 * time.Second

// Settled reports whether a change at a later time than now would change the ID of a
// file that changed last at a time, by the same clock.
func Settled(changed, now time.Time) bool { return now.Sub(changed) >= Resolution }

package fsevents

import "syscall"

const local = 0x1000 // MNT_LOCAL of <sys/mount.h>

// isRemote reports whether a folder is on a file system that others can change
// without an event here.
func isRemote(path string) bool {
	var s syscall.Statfs_t
	return syscall.Statfs(path, &s) == nil && s.Flags&local == 0
}

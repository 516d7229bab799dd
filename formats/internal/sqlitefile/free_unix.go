//go:build unix

package sqlitefile

import "golang.org/x/sys/unix"

// freeSpace is the room an ordinary user has left in a folder.
func freeSpace(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	free := uint64(s.Bavail) * uint64(s.Bsize)
	return int64(min(free, 1<<62)), nil
}

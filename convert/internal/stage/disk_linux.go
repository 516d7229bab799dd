package stage

import (
	"os"

	"golang.org/x/sys/unix"
)

// SyncDisk syncs the disk that path is on. It returns false if the system
// cannot.
func SyncDisk(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return true, err
	}
	defer f.Close()
	switch err := unix.Syncfs(int(f.Fd())); err {
	case nil:
		return true, nil
	case unix.ENOSYS:
		return false, nil
	default:
		return true, &os.PathError{Op: "sync", Path: path, Err: err}
	}
}

package fsx

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// SyncFile syncs the content of a file to disk.
func SyncFile(path string) error {
	// Windows flushes only files that are open for writing.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		if f, err = os.Open(path); err != nil {
			return err
		}
	}
	defer f.Close()
	return f.Sync()
}

// SyncFolder syncs the names in a folder to disk. Some disks cannot and need
// not do it.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

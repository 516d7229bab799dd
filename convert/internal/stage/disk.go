package stage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// FewFiles is the max number of files that are synced one by one. For more,
// where the system can, the whole disk is synced once, which is cheaper than
// hundreds of waits.
const FewFiles = 8

// SyncTree syncs everything below root to disk.
func SyncTree(root string) error {
	var files, dirs []string
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			dirs = append(dirs, p)
		case e.Type().IsRegular():
			files = append(files, p)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(files) > FewFiles {
		if done, err := SyncDisk(root); done {
			return err
		}
	}
	for _, p := range files {
		if err := SyncFile(p); err != nil {
			return err
		}
	}
	for _, p := range dirs {
		if err := SyncFolder(p); err != nil {
			return err
		}
	}
	return nil
}

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

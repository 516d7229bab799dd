package stage

import (
	"io/fs"
	"path/filepath"

	"rehome/internal/fsx"
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
func SyncFile(path string) error { return fsx.SyncFile(path) }

// SyncFolder syncs the names in a folder to disk.
func SyncFolder(path string) error { return fsx.SyncFolder(path) }

package walk

import (
	"io/fs"
	"os"
	"path/filepath"

	"rehome/formats"
)

// Size returns the size of a store on disk. What cannot be read counts as 0.
func Size(l *formats.Location) (n int64) {
	if !l.IsDir() {
		for _, side := range []string{"", "-wal"} {
			if info, err := os.Stat(l.Path + side); err == nil {
				n += info.Size()
			}
		}
		return n
	}
	filepath.WalkDir(l.Path, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// ResolvedPath is RealPath for paths that exist.
func ResolvedPath(path string) string {
	real, err := RealPath(path)
	if err != nil {
		return filepath.Clean(path)
	}
	return real
}

// RealPath returns an absolute path without links.
func RealPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// AtOrBelow reports whether a path is a folder or in it.
func AtOrBelow(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

package walk

import (
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/internal/fsx"
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
	return fsx.SizeOf(l.Path)
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

// RealAbove returns an absolute path without links, as far as it exists.
func RealAbove(path string) (string, error) {
	at, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		return real, nil
	}
	parent, err := RealAbove(filepath.Dir(at))
	if err != nil || filepath.Dir(at) == at {
		return at, err
	}
	return filepath.Join(parent, filepath.Base(at)), nil
}

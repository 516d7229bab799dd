package fsx

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// DigestTree returns the SHA-256 of a file, or one that tells the names and contents below
// a folder from all others.
func DigestTree(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().IsRegular() {
		return Digest(path)
	}
	sum := sha256.New()
	err = filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(path, at)
		if err = errors.Join(err, relErr); err != nil {
			return err
		}
		one := e.Type().String()
		if e.Type().IsRegular() {
			if one, err = Digest(at); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintf(sum, "%q %s\n", filepath.ToSlash(rel), one)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// SizeOf returns how many bytes a file, or the files below a folder, have. What cannot be read
// counts as 0.
func SizeOf(path string) (size int64) {
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}

// CopyTree copies a file or folder, with modes and times of modification, to a path that
// does not exist. If link is true, files get a second name instead, where they can. Symbolic
// links stay what they are.
func CopyTree(from, to string, link bool) error {
	err := filepath.WalkDir(from, func(at string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(from, at)
		if err = errors.Join(err, relErr); err != nil {
			return err
		}
		there := filepath.Join(to, rel)
		switch {
		case e.IsDir():
			return os.Mkdir(there, 0o700)
		case e.Type()&fs.ModeSymlink != 0:
			leadsTo, err := os.Readlink(at)
			if err != nil {
				return err
			}
			return os.Symlink(leadsTo, there)
		case !e.Type().IsRegular():
			return &fs.PathError{Op: "copy", Path: at, Err: errors.New("not a regular file")}
		case link && os.Link(at, there) == nil:
			return nil
		}
		return Copy(at, there, 0o600)
	})
	if err != nil {
		return err
	}
	return CopyAttributes(from, to)
}

// CopyAttributes gives a file, or what a folder has in common with another one, the modes
// and times of modification that it has there.
func CopyAttributes(from, to string) error {
	type entry struct {
		path string
		info fs.FileInfo
	}
	var all []entry
	err := filepath.WalkDir(to, func(at string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(to, at)
		if err = errors.Join(err, relErr); err != nil || e.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := os.Lstat(filepath.Join(from, rel))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if is, err := e.Info(); err == nil && info != nil && os.SameFile(is, info) {
			return nil // it has them, and its owner may be changing them
		}
		all = append(all, entry{at, info})
		return err
	})
	for _, e := range slices.Backward(all) { // a folder after what is in it
		if err == nil {
			err = os.Chmod(e.path, e.info.Mode().Perm())
		}
		if err == nil {
			err = os.Chtimes(e.path, e.info.ModTime(), e.info.ModTime())
		}
	}
	return err
}

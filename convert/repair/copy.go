package repair

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/internal/fsx"
)

// sideFiles are the endings of what SQLite keeps next to a database that is not closed.
func sideFiles() []string { return []string{"-wal", "-journal"} }

// copySource copies a file or a folder with the modes and times of its files. Links are
// copied as links.
func copySource(ctx context.Context, src, to string) error {
	info, err := os.Stat(src)
	if err != nil {
		return &formats.Error{At: src, Err: formats.Cause(err)}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if !info.IsDir() {
		if !info.Mode().IsRegular() {
			return &formats.Error{At: src, Err: errors.New("not a regular file or a folder")}
		}
		for _, side := range sideFiles() {
			if s, err := os.Lstat(src + side); err == nil && s.Size() > 0 {
				return &formats.Error{At: src + side, Err: errors.New("the database is in use, or its client did not close it: this file belongs to it"),
					Hint: "repair the folder that holds both, or quit the client"}
			}
		}
		return copyFile(src, to, info)
	}
	root, err := filepath.EvalSymlinks(src)
	if err != nil {
		return &formats.Error{At: src, Err: formats.Cause(err)}
	}
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		switch {
		case info.IsDir():
			return os.Mkdir(at, info.Mode().Perm()|0o700)
		case info.Mode().IsRegular():
			return copyFile(path, at, info)
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, at)
		}
		return &formats.Error{At: filepath.Join(src, rel), Err: errors.New("not a regular file, a folder or a link"), Hint: "move it away first"}
	})
}

// copyFile copies a file, which must not change meanwhile.
func copyFile(from, to string, was fs.FileInfo) error {
	if err := fsx.Copy(from, to, 0o600); err != nil {
		return err
	}
	is, err := os.Stat(from)
	if err != nil {
		return err
	}
	if is.Size() != was.Size() || !is.ModTime().Equal(was.ModTime()) {
		return formats.Changed("", from)
	}
	return errors.Join(os.Chmod(to, was.Mode().Perm()), os.Chtimes(to, was.ModTime(), was.ModTime()))
}

package stage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"rehome/formats"
)

// Target is a path at which something will be placed. It is resolved once, and
// used for every check and every rename, so that what was checked is what is
// used.
type Target struct {
	Display string   // as the user wrote it
	Dir     string   // the deepest existing folder above it, links resolved
	Tail    []string // the elements below dir; the last is its own name
}

// Base returns the name of the target itself.
func (t Target) Base() string { return t.Tail[len(t.Tail)-1] }

// Path returns the path of the target without links above it.
func (t Target) Path() string { return filepath.Join(append([]string{t.Dir}, t.Tail...)...) }

// Beside returns the target with a suffix, in the same folder.
func (t Target) Beside(suffix string) Target {
	tail := append([]string(nil), t.Tail...)
	tail[len(tail)-1] += suffix
	return Target{Display: t.Display + suffix, Dir: t.Dir, Tail: tail}
}

// Exists reports whether something has this name, even a dangling link.
func (t Target) Exists() bool {
	_, err := os.Lstat(t.Path())
	return err == nil
}

// Resolve resolves a path. It does not follow the last element: a link at the
// target is what is refused or backed up.
func Resolve(path string) (Target, error) {
	refuse := func(err error, hint string) (Target, error) {
		return Target{}, &formats.Error{At: path, Err: err, Hint: hint}
	}
	if path == "" {
		return refuse(errors.New("empty target name"), "")
	}
	rest, err := absolute(path)
	if err != nil {
		return refuse(err, "")
	}
	t := Target{Display: TrimSeparators(path)}
	for {
		dir, base := splitLast(rest)
		switch {
		case base == "":
			return refuse(errors.New("the target cannot be the root of a disk"), "pass a path inside it")
		case (base == "." || base == "..") && len(t.Tail) == 0:
			real, err := filepath.EvalSymlinks(rest)
			if err != nil {
				return refuse(formats.Cause(err), "")
			}
			t.Display, dir, base = real, filepath.Dir(real), filepath.Base(real)
			if dir == real {
				return refuse(errors.New("the target cannot be the root of a disk"), "pass a path inside it")
			}
		case base == "..":
			return refuse(fs.ErrNotExist, "the path uses .. after a folder that does not exist")
		case base == ".":
			rest = dir
			continue
		}
		t.Tail = append([]string{base}, t.Tail...)
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			t.Dir = real
			return t, t.checkFolder()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return refuse(formats.Cause(err), "")
		}
		rest = dir
	}
}

// checkFolder returns an error if the existing part cannot hold the rest.
func (t Target) checkFolder() error {
	info, err := os.Stat(t.Dir)
	if err == nil && !info.IsDir() {
		return &formats.Error{At: t.Dir, Err: ErrNotFolder}
	}
	if err != nil {
		return &formats.Error{At: t.Dir, Err: formats.Cause(err)}
	}
	first := filepath.Join(t.Dir, t.Tail[0])
	link, err := os.Lstat(first)
	if err == nil && len(t.Tail) > 1 && link.Mode()&fs.ModeSymlink != 0 {
		return &formats.Error{At: first, Err: errors.New("not a folder, but a dangling link")}
	}
	return nil
}

// absolute returns the absolute path without cleaning it: after a link, .. is
// the parent of what the link points to. Windows itself cleans paths.
func absolute(path string) (string, error) {
	if filepath.IsAbs(path) || runtime.GOOS == "windows" {
		if runtime.GOOS == "windows" {
			return filepath.Abs(path)
		}
		return path, nil
	}
	wd, err := os.Getwd()
	return wd + string(filepath.Separator) + path, err
}

// splitLast splits off the last element of a path without cleaning it.
func splitLast(path string) (dir, base string) {
	vol := filepath.VolumeName(path)
	p := path[len(vol):]
	for len(p) > 0 && os.IsPathSeparator(p[len(p)-1]) {
		p = p[:len(p)-1]
	}
	at := len(p)
	for at > 0 && !os.IsPathSeparator(p[at-1]) {
		at--
	}
	return vol + p[:at], p[at:]
}

// TrimSeparators returns the path without separators at its end, so that a
// suffix can be appended.
func TrimSeparators(path string) string {
	slash := func(r rune) bool { return r == '/' || r == filepath.Separator }
	if t := strings.TrimRightFunc(path, slash); t != "" {
		return t
	}
	return path
}

// ErrNotFolder is the error of a path where a folder is needed.
var ErrNotFolder = errors.New("not a folder")

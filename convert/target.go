package convert

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"rehome/formats"
)

// target is where something must appear. It is found out once and then used
// for every check and every rename, so that what was checked is what is used.
type target struct {
	shown string   // as people wrote it
	dir   string   // the deepest folder above it that exists, links resolved
	tail  []string // what is missing below dir; the last is its own name
}

func (t target) base() string { return t.tail[len(t.tail)-1] }

func (t target) path() string { return filepath.Join(append([]string{t.dir}, t.tail...)...) }

// beside is a target in the same folder under another name.
func (t target) beside(suffix string) target {
	tail := append([]string(nil), t.tail...)
	tail[len(tail)-1] += suffix
	return target{shown: t.shown + suffix, dir: t.dir, tail: tail}
}

// exists looks at the name itself: a dangling link is something, too.
func (t target) exists() bool {
	_, err := os.Lstat(t.path())
	return err == nil
}

// resolve finds out where a path leads. Its last element is not followed: a
// link that stands at the target is what gets refused or kept.
func resolve(path string) (target, error) {
	refuse := func(err error, hint string) (target, error) {
		return target{}, &formats.Error{At: path, Err: err, Hint: hint}
	}
	if path == "" {
		return refuse(errors.New("empty target name"), "")
	}
	rest, err := absolute(path)
	if err != nil {
		return refuse(err, "")
	}
	t := target{shown: trimmed(path)}
	for {
		dir, base := cut(rest)
		switch {
		case base == "":
			return refuse(errors.New("the root of a disk cannot be a target"), "pass a name below it")
		case (base == "." || base == "..") && len(t.tail) == 0:
			real, err := filepath.EvalSymlinks(rest)
			if err != nil {
				return refuse(bare(err), "")
			}
			t.shown, dir, base = real, filepath.Dir(real), filepath.Base(real)
			if dir == real {
				return refuse(errors.New("the root of a disk cannot be a target"), "pass a name below it")
			}
		case base == "..":
			return refuse(fs.ErrNotExist, "a folder before .. does not exist")
		case base == ".":
			rest = dir
			continue
		}
		t.tail = append([]string{base}, t.tail...)
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			t.dir = real
			return t, t.firm()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return refuse(bare(err), "")
		}
		rest = dir
	}
}

// firm makes sure that the part that exists can hold the rest.
func (t target) firm() error {
	info, err := os.Stat(t.dir)
	if err == nil && !info.IsDir() {
		return &formats.Error{At: t.dir, Err: errNotFolder}
	}
	if err != nil {
		return &formats.Error{At: t.dir, Err: bare(err)}
	}
	first := filepath.Join(t.dir, t.tail[0])
	if _, err := os.Lstat(first); err == nil && len(t.tail) > 1 {
		return &formats.Error{At: first, Err: errors.New("not a folder, but a dangling link")}
	}
	return nil
}

// absolute does not clean the path: after a link, .. is the parent of what
// the link leads to. Windows itself cleans.
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

// cut splits off the last element of a path and cleans nothing.
func cut(path string) (dir, base string) {
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

// trimmed is the path without separators at its end, so that a suffix makes
// a name beside it.
func trimmed(path string) string {
	slash := func(r rune) bool { return r == '/' || r == filepath.Separator }
	if t := strings.TrimRightFunc(path, slash); t != "" {
		return t
	}
	return path
}

// errNotFolder is the error of a path where a folder is needed.
var errNotFolder = errors.New("not a folder")

// bare strips the path that errors of the system repeat.
func bare(err error) error {
	if le := (*os.LinkError)(nil); errors.As(err, &le) {
		return le.Err
	}
	return formats.Cause(err)
}

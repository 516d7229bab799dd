package stage

import (
	"errors"
	"os"
	"path/filepath"

	"rehome/formats"
)

// ResolveNew resolves the path of a target that touches no source, and that does not exist
// unless it is to be replaced.
func ResolveNew(path string, replace bool, sources ...string) (Target, error) {
	t, err := Resolve(path)
	for _, src := range sources {
		if err == nil {
			err = CheckDisjoint(src, t)
		}
	}
	if err == nil && !replace && t.Exists() {
		err = t.ExistsError()
	}
	return t, err
}

// ExistsError returns the error of a target that exists.
func (t Target) ExistsError() error {
	hint := "choose another name, or pass --replace to keep the old one as " + t.Display + BackupMark + "1"
	return &formats.Error{At: t.Display, Err: formats.ErrExists, Hint: hint}
}

// CheckDisjoint returns an error if a target touches the source. Files are
// compared by identity, not by name, so it sees through links and disks that
// ignore case.
func CheckDisjoint(src string, t Target) error {
	refuse := func(what string) error {
		return &formats.Error{At: t.Display, Err: errors.New(what), Hint: "choose a target outside the source"}
	}
	from, err := os.Stat(src)
	if err != nil {
		return &formats.Error{At: src, Err: formats.Cause(err)}
	}
	real, err := filepath.EvalSymlinks(src)
	if err != nil {
		return &formats.Error{At: src, Err: formats.Cause(err)}
	}
	if real, err = filepath.Abs(real); err != nil {
		return &formats.Error{At: src, Err: err}
	}
	to, err := os.Stat(t.Path())
	if err == nil && os.SameFile(from, to) {
		return refuse("source and target are the same")
	}
	if IsInside(t.Path(), from) {
		return refuse("the target is inside the source")
	}
	if err == nil && IsInside(real, to) {
		return refuse("the source is inside the target")
	}
	for _, side := range []string{"-wal", "-shm", "-journal"} {
		if t.Path() == real+side {
			return refuse("SQLite uses this name for a log of the source")
		}
	}
	return nil
}

// IsInside reports whether info is one of the folders above path.
func IsInside(path string, info os.FileInfo) bool {
	for d := filepath.Dir(path); ; d = filepath.Dir(d) {
		if at, err := os.Stat(d); err == nil && os.SameFile(at, info) {
			return true
		}
		if d == filepath.Dir(d) {
			return false
		}
	}
}

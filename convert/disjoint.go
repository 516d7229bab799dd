package convert

import (
	"errors"
	"os"
	"path/filepath"

	"rehome/formats"
)

// checkDisjoint returns an error if a target touches the source. Files are
// compared by identity, not by name, so it sees through links and disks that
// ignore case.
func checkDisjoint(src string, t target) error {
	refuse := func(what string) error {
		return &formats.Error{At: t.display, Err: errors.New(what), Hint: "choose a target outside the source"}
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
	to, err := os.Stat(t.path())
	if err == nil && os.SameFile(from, to) {
		return refuse("source and target are the same")
	}
	if isInside(t.path(), from) {
		return refuse("the target is inside the source")
	}
	if err == nil && isInside(real, to) {
		return refuse("the source is inside the target")
	}
	for _, side := range []string{"-wal", "-shm", "-journal"} {
		if t.path() == real+side {
			return refuse("SQLite uses this name for a log of the source")
		}
	}
	return nil
}

// checkStoreDisjoint is checkDisjoint for a store outside of the path where the
// walk began: one found through a link, or the folder of the file that was
// named.
func checkStoreDisjoint(f Found, t target) error {
	at := f.Loc.Path
	if home := f.Detected[0].Format.Home; home != nil && home.StoreInside != nil && !f.Loc.IsDir() {
		if folder := home.StoreInside(f.Loc); folder != "" {
			return checkDisjoint(folder, t)
		}
	}
	if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return checkDisjoint(at, t)
	}
	return nil
}

// isInside reports whether info is one of the folders above path.
func isInside(path string, info os.FileInfo) bool {
	for d := filepath.Dir(path); ; d = filepath.Dir(d) {
		if at, err := os.Stat(d); err == nil && os.SameFile(at, info) {
			return true
		}
		if d == filepath.Dir(d) {
			return false
		}
	}
}

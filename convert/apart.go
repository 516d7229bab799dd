package convert

import (
	"errors"
	"os"
	"path/filepath"

	"rehome/formats"
)

// apart refuses a target that touches the source. Files are compared by
// identity, not by name, so links and a disk that ignores case are seen
// through.
func apart(src string, t target) error {
	refuse := func(what string) error {
		return &formats.Error{At: t.shown, Err: errors.New(what), Hint: "choose a target outside the source"}
	}
	from, err := os.Stat(src)
	if err != nil {
		return &formats.Error{At: src, Err: bare(err)}
	}
	real, err := filepath.EvalSymlinks(src)
	if err != nil {
		return &formats.Error{At: src, Err: bare(err)}
	}
	if real, err = filepath.Abs(real); err != nil {
		return &formats.Error{At: src, Err: err}
	}
	to, err := os.Stat(t.path())
	if err == nil && os.SameFile(from, to) {
		return refuse("source and target are the same")
	}
	if above(t.path(), from) {
		return refuse("the target is inside the source")
	}
	if err == nil && above(real, to) {
		return refuse("the source is inside the target")
	}
	for _, side := range []string{"-wal", "-shm", "-journal"} {
		if t.path() == real+side {
			return refuse("SQLite uses this name for a log of the source")
		}
	}
	return nil
}

// storeApart is apart for a store that lies elsewhere than where the walk
// began: it was found through a link, or is the folder of the file that was named.
func storeApart(f Found, t target) error {
	at := f.Loc.Path
	if within := f.Detected[0].Format.StoreInside; within != nil && !f.Loc.IsDir() {
		if folder := within(f.Loc); folder != "" {
			return apart(folder, t)
		}
	}
	if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return apart(at, t)
	}
	return nil
}

// above reports whether info is one of the folders above path.
func above(path string, info os.FileInfo) bool {
	for d := filepath.Dir(path); ; d = filepath.Dir(d) {
		if at, err := os.Stat(d); err == nil && os.SameFile(at, info) {
			return true
		}
		if d == filepath.Dir(d) {
			return false
		}
	}
}

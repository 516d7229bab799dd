package tables

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// Target is a folder or file to write, and the private folder beside it in which it is built.
type Target struct {
	Stage   *scratch.Dir
	dir     string // as it was given
	path    string
	taken   string // the hint if it exists
	replace bool
}

// NewTarget checks a target before anything is read, and creates the private folder, which the
// caller removes. taken is the hint if the target exists.
func NewTarget(src, dir, taken string, replace bool, say func(string)) (*Target, error) {
	failed := func(err error, hint string) error {
		return &formats.Error{At: dir, Err: formats.Cause(err), Hint: hint}
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, failed(err, "")
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil, failed(err, "create the folder that is to hold it")
	}
	path = filepath.Join(parent, filepath.Base(path))
	switch _, err := os.Lstat(path); {
	case err == nil && !replace:
		return nil, failed(formats.ErrExists, taken)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, failed(err, "")
	}
	if err := checkDisjoint(src, path); err != nil {
		return nil, failed(err, "choose a place outside of the source")
	}
	prefix := "." + strings.ToValidUTF8(filepath.Base(path)[:min(len(filepath.Base(path)), 190)], "") + formats.StagingMark
	scratch.SweepBeside(parent, prefix, func(root string, err error) {
		if say != nil && err != nil {
			say("could not remove what an interrupted run left: " + err.Error())
		}
	})
	stage, err := scratch.Make(parent, prefix)
	if err != nil {
		return nil, failed(err, "make the folder that is to hold it writable")
	}
	return &Target{stage, filepath.Clean(dir), path, taken, replace}, nil
}

// checkDisjoint returns an error if one of two paths is in the other.
func checkDisjoint(src, path string) error {
	from, err := filepath.Abs(src)
	if err == nil {
		from, err = filepath.EvalSymlinks(from)
	}
	if err != nil {
		return nil // reading it says why
	}
	for _, pair := range [][2]string{{from, path}, {path, from}} {
		outer, err := os.Stat(pair[0])
		for d := pair[1]; err == nil; d = filepath.Dir(d) {
			if at, err := os.Stat(d); err == nil && os.SameFile(at, outer) {
				return errors.New("source and target overlap")
			}
			if d == filepath.Dir(d) {
				break
			}
		}
	}
	return nil
}

// Place moves what was built to its place.
func (t *Target) Place(built string, rename func(from, to string) error) (backup string, err error) {
	if err := fsx.SyncFolder(built); err != nil {
		return "", err
	}
	if _, err := os.Lstat(t.path); err == nil && t.replace {
		for n := 1; ; n++ {
			backup = t.path + ".bak-" + strconv.Itoa(n)
			if err := rename(t.path, backup); err == nil {
				break
			} else if !errors.Is(err, fs.ErrExist) {
				return "", err
			}
		}
	}
	switch err := rename(built, t.path); {
	case err != nil && backup != "":
		return "", errors.Join(err, rename(backup, t.path))
	case errors.Is(err, fs.ErrExist):
		return "", &formats.Error{At: t.dir, Err: formats.ErrExists, Hint: t.taken}
	case err != nil:
		return "", err
	}
	if backup != "" {
		backup = t.dir + strings.TrimPrefix(backup, t.path)
	}
	return backup, fsx.SyncFolder(filepath.Dir(t.path))
}

// Named returns an error with the name of the target in place of the private folder's.
func (t *Target) Named(err error) error { return formats.ReplacePath(err, t.Stage.Path, t.dir) }

// restrict gives the tables, which hold content of all files of a folder, the
// permissions that all of these have.
func restrict(tables, of string) error {
	mode := fs.FileMode(0o666)
	err := filepath.WalkDir(of, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			mode &= info.Mode().Perm()
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		mode, err = 0o600, nil // no session
	}
	if err != nil {
		return err
	}
	for _, name := range Names() {
		if err := os.Chmod(filepath.Join(tables, name+Suffix), mode|0o600); err != nil {
			return err
		}
	}
	return os.Chmod(tables, mode|0o700|mode&0o444>>2)
}

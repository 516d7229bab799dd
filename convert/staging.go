package convert

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"rehome/formats"
	"rehome/internal/scratch"
)

// staging is a private folder beside the target, on the same disk, in which
// everything is built under its final name. It is called
// .NAME.rehome-0123456789abcdef, and its tree is renamed out of it.
type staging struct {
	*scratch.Dir
	tree, targetDir   string
	removed, vanished bool // removed by this run; no longer existed then
}

const stagingMark = formats.StagingMark

func isStaging(name string) bool { return formats.IsStaging(name) }

// stagingPrefix returns the prefix of the folder's name. It leaves room for the
// suffix in 255 bytes.
func stagingPrefix(base string) string {
	for len(base) > 200 || !utf8.ValidString(base) && len(base) > 190 {
		base = base[:len(base)-1]
	}
	return "." + base + stagingMark
}

// newStaging creates the folder.
func newStaging(t target) (*staging, error) {
	d, err := scratch.Make(t.dir, stagingPrefix(t.base()))
	switch {
	case errors.Is(err, scratch.ErrSwept):
		return nil, &formats.Error{At: t.dir, Err: formats.Cause(err), Hint: "run it again when the other runs have finished"}
	case err != nil:
		return nil, &formats.Error{At: t.dir, Op: "create a folder beside the target", Err: formats.Cause(err), Hint: "make the target's folder writable"}
	}
	return &staging{Dir: d, tree: d.Path, targetDir: t.dir}, nil
}

// newDryRunStaging creates the folder of a dry run. Nothing is renamed out of
// it, so it is among the temporary files and not beside the target.
func newDryRunStaging(t target) (*staging, error) {
	d, err := newTempFolder("dry-run")
	if err != nil {
		return nil, err
	}
	return &staging{Dir: d, tree: d.Path, targetDir: t.dir}, nil
}

// newTempFolder creates a private folder for a purpose among the system's
// temporary files.
func newTempFolder(purpose string) (*scratch.Dir, error) {
	d, err := scratch.New("", purpose)
	if err != nil {
		return nil, &formats.Error{At: os.TempDir(), Op: "create a folder for temporary files", Err: formats.Cause(err), Hint: "set TMPDIR to another folder"}
	}
	return d, nil
}

// gone reports whether something removed the folder during the run.
func (s *staging) gone() bool {
	if s.removed {
		return s.vanished
	}
	_, err := os.Lstat(s.tree)
	return errors.Is(err, os.ErrNotExist)
}

// path returns the path where the store found at rel is staged.
func (s *staging) path(t target, rel string) string {
	return filepath.Join(s.tree, filepath.Join(t.tail...), filepath.FromSlash(rel))
}

// drop removes a store from the tree, and the folders that were created for it
// alone. No other store may be written at the same time.
func (s *staging) drop(path string) error {
	if err := removeStore(path); err != nil {
		return err
	}
	for d := filepath.Dir(path); d != s.tree; d = filepath.Dir(d) {
		if os.Remove(d) != nil {
			break // another store is there
		}
	}
	return nil
}

// removeStore removes a staged store, complete or not, with the logs of a
// database that was not closed properly.
func removeStore(path string) error {
	for _, side := range []string{"", "-journal", "-wal", "-shm"} {
		if _, err := os.Lstat(path + side); err != nil {
			continue // nothing exists, or the name is too long
		}
		if err := os.RemoveAll(path + side); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes the folders of killed runs for the same target. Such a folder
// is in the nearest folder above the target that existed then, which is not
// always the nearest that exists now.
func sweep(t target, say func(string)) {
	reported := func(root string, err error) {
		if err != nil {
			say("could not remove what an interrupted run left: " + err.Error())
		} else {
			say("removed what an interrupted run left: " + root)
		}
	}
	for dir := t.dir; ; dir = filepath.Dir(dir) {
		scratch.SweepBeside(dir, stagingPrefix(t.base()), reported)
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// withTargetPath replaces the staging folder's path in an error by the
// target's.
func (s *staging) withTargetPath(err error) error { return &replacedPath{err, s.tree, s.targetDir} }

type replacedPath struct {
	error
	from, to string
}

func (e *replacedPath) Error() string { return strings.ReplaceAll(e.error.Error(), e.from, e.to) }

func (e *replacedPath) Unwrap() error { return e.error }

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
// everything is built under the names it will have: it is called
// .NAME.rehome-0123456789abcdef, and what is in its tree will be renamed out of
// it.
type staging struct {
	*scratch.Dir
	tree, home string
	over, lost bool // it was cleared away; it was not there any more then
}

const stagingMark = formats.StagingMark

func isStaging(name string) bool { return formats.IsStaging(name) }

// stagingPrefix leaves room for the suffix in a name of 255 bytes.
func stagingPrefix(base string) string {
	for len(base) > 200 || !utf8.ValidString(base) && len(base) > 190 {
		base = base[:len(base)-1]
	}
	return "." + base + stagingMark
}

// newStaging makes the folder.
func newStaging(t target) (*staging, error) {
	d, err := scratch.Make(t.dir, stagingPrefix(t.base()))
	switch {
	case errors.Is(err, scratch.ErrSwept):
		return nil, &formats.Error{At: t.dir, Err: bare(err), Hint: "run it again when the other runs have finished"}
	case err != nil:
		return nil, &formats.Error{At: t.dir, Op: "create a folder beside the target", Err: bare(err), Hint: "make the target's folder writable"}
	}
	return &staging{Dir: d, tree: d.Path, home: t.dir}, nil
}

// newScratch is the folder of a dry run. Nothing leaves it, so it lies with the
// other things that are nobody's, not beside the target.
func newScratch(t target) (*staging, error) {
	d, err := newFolder("dry-run")
	if err != nil {
		return nil, err
	}
	return &staging{Dir: d, tree: d.Path, home: t.dir}, nil
}

// newFolder is a private folder for a purpose, where the system keeps temporary
// files.
func newFolder(purpose string) (*scratch.Dir, error) {
	d, err := scratch.New("", purpose)
	if err != nil {
		return nil, &formats.Error{At: os.TempDir(), Op: "create a folder for temporary files", Err: bare(err), Hint: "set TMPDIR to another folder"}
	}
	return d, nil
}

// gone reports that somebody removed the folder under a living run.
func (s *staging) gone() bool {
	if s.over {
		return s.lost
	}
	_, err := os.Lstat(s.tree)
	return errors.Is(err, os.ErrNotExist)
}

// path is where the store found at rel is staged.
func (s *staging) path(t target, rel string) string {
	return filepath.Join(s.tree, filepath.Join(t.tail...), filepath.FromSlash(rel))
}

// drop takes a store out of the tree again, and the folders that were made
// for it alone. No other store may be on its way.
func (s *staging) drop(path string) error {
	if err := erase(path); err != nil {
		return err
	}
	for d := filepath.Dir(path); d != s.tree; d = filepath.Dir(d) {
		if os.Remove(d) != nil {
			break // another store lives there
		}
	}
	return nil
}

// erase removes a staged store, whole or half written, with what a database
// that was not closed in peace may have beside it.
func erase(path string) error {
	for _, side := range []string{"", "-journal", "-wal", "-shm"} {
		if _, err := os.Lstat(path + side); err != nil {
			continue // nothing is there, or could be: the name may be too long
		}
		if err := os.RemoveAll(path + side); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes the folders of runs for the same target that were killed. Such a
// folder lies in the nearest one above the target that was there then, which is
// not always the nearest that is there now.
func sweep(t target, say func(string)) {
	told := func(root string, err error) {
		if err != nil {
			say("could not remove what an interrupted run left: " + err.Error())
		} else {
			say("removed what an interrupted run left: " + root)
		}
	}
	for dir := t.dir; ; dir = filepath.Dir(dir) {
		scratch.SweepBeside(dir, stagingPrefix(t.base()), told)
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// reword puts the target's own name in the place of the staging folder's.
func (s *staging) reword(err error) error { return &reworded{err, s.tree, s.home} }

type reworded struct {
	error
	from, to string
}

func (e *reworded) Error() string { return strings.ReplaceAll(e.error.Error(), e.from, e.to) }

func (e *reworded) Unwrap() error { return e.error }

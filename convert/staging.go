package convert

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"rehome/formats"
)

// staging is a private folder beside the target, on the same disk, in which
// everything is built under the names it will have:
//
//	.NAME.rehome-0123456789abcdef/lock    held while the run lives
//	.NAME.rehome-0123456789abcdef/tree/…  what will be renamed out of it
type staging struct {
	root, tree, home string
	lock             *os.File
}

const (
	stagingMark = formats.StagingMark
	lockName    = "lock"
	treeName    = "tree"
)

// stagingTries bounds how often a folder may be swept away from under us.
const stagingTries = 8

func isStaging(name string) bool { return formats.Staging(name) }

// stagingPrefix leaves room for the suffix in a name of 255 bytes.
func stagingPrefix(base string) string {
	for len(base) > 200 || !utf8.ValidString(base) && len(base) > 190 {
		base = base[:len(base)-1]
	}
	return "." + base + stagingMark
}

// newStaging makes the folder, after sweeping up what a killed run for the
// same target left.
func newStaging(t target, say func(string)) (*staging, error) {
	sweep(t, say)
	for range stagingTries {
		var r [8]byte
		rand.Read(r[:])
		s := &staging{root: filepath.Join(t.dir, stagingPrefix(t.base())+hex.EncodeToString(r[:])), home: t.dir}
		s.tree = filepath.Join(s.root, treeName)
		ok, err := s.open()
		if err != nil {
			return nil, &formats.Error{At: t.dir, Op: "make a folder beside the target", Err: bare(err), Hint: "the target's folder must be writable"}
		}
		if ok {
			return s, nil
		}
	}
	return nil, &formats.Error{At: t.dir, Err: errors.New("other runs keep sweeping the staging folder away"), Hint: "try again when they are done"}
}

// newScratch is the folder of a dry run. Nothing leaves it, so it lies with the
// other things that are nobody's, not beside the target.
func newScratch(t target) (*staging, error) {
	root, err := os.MkdirTemp("", "rehome-dry-run-")
	if err != nil {
		return nil, &formats.Error{At: os.TempDir(), Op: "make a folder for the dry run", Err: bare(err), Hint: "name another with TMPDIR"}
	}
	s := &staging{root: root, tree: filepath.Join(root, treeName), home: t.dir}
	if err := os.Mkdir(s.tree, 0o777); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	return s, nil
}

// open makes the folder and takes its lock; false if another run took the
// still unlocked folder for a dead one and swept it.
func (s *staging) open() (bool, error) {
	if err := os.Mkdir(s.root, 0o700); err != nil {
		return false, err
	}
	lock, held, err := takeLock(filepath.Join(s.root, lockName), true)
	if errors.Is(err, fs.ErrNotExist) || held {
		return false, nil
	}
	if err != nil {
		os.Remove(s.root)
		return false, err
	}
	mine, err := lock.Stat()
	if err == nil {
		there, e := os.Lstat(lock.Name())
		if e != nil || !os.SameFile(mine, there) {
			lock.Close()
			return false, nil
		}
		err = os.Mkdir(s.tree, 0o777)
	}
	s.lock = lock
	if err != nil {
		return false, errors.Join(err, s.remove())
	}
	return true, nil
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
		if err := os.RemoveAll(path + side); err != nil {
			return err
		}
	}
	return nil
}

// remove takes the folder away. The tree goes first, while the lock still
// tells others to keep off; what is left then may be swept by anybody.
func (s *staging) remove() error {
	err := os.RemoveAll(s.tree)
	if s.lock != nil {
		s.lock.Close()
	}
	if err != nil {
		return err
	}
	if err := os.RemoveAll(s.root); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sweep removes the folders of runs for the same target that were killed: a
// living run holds its lock.
func sweep(t target, say func(string)) {
	mine := regexp.MustCompile("^" + regexp.QuoteMeta(stagingPrefix(t.base())) + "[0-9a-f]{16}$")
	list, err := os.ReadDir(t.dir)
	if err != nil {
		return
	}
	for _, e := range list {
		if !e.IsDir() || !mine.MatchString(e.Name()) {
			continue
		}
		root := filepath.Join(t.dir, e.Name())
		switch swept, err := sweepOne(root); {
		case err != nil:
			say("left by an interrupted run, could not be removed: " + err.Error())
		case swept:
			say("removed what an interrupted run had left: " + root)
		}
	}
}

func sweepOne(root string) (bool, error) {
	if !locksWork {
		return false, errors.New(root + ": whether its run still lives cannot be seen on this system")
	}
	lock, held, err := takeLock(filepath.Join(root, lockName), false)
	switch {
	case held:
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
		// Killed between its first two steps, or just about to take the
		// second: an empty folder may go, its maker copes.
		return os.Remove(root) == nil, nil
	case err != nil:
		return false, err
	}
	s := &staging{root: root, tree: filepath.Join(root, treeName), lock: lock}
	return true, s.remove()
}

// reword puts the target's own name in the place of the staging folder's.
func (s *staging) reword(err error) error { return &reworded{err, s.tree, s.home} }

type reworded struct {
	error
	from, to string
}

func (e *reworded) Error() string { return strings.ReplaceAll(e.error.Error(), e.from, e.to) }

func (e *reworded) Unwrap() error { return e.error }

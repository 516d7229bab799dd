// Package scratch makes the private folders and files in which work is done
// that nobody is to see: copies of databases in use, targets before they have
// their names, what comes through a pipe. They hold keys and whole
// conversations, so that none may outlive its run for long. A run that is
// killed cannot remove its own; the next one of the same user does:
//
//	PREFIX0123456789abcdef/lock  held while the run lives
//	PREFIX0123456789abcdef/tree  what was asked for
package scratch

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	lockName = "lock"
	treeName = "tree"
	digits   = 16 // of the random end of a name
	tries    = 8  // bounds how often a folder may be swept away from under us
)

// mark is what the names of scratch folders in the system's folder for
// temporary files begin with.
const mark = "rehome-"

// ErrSwept ends an attempt to make a folder that other runs keep removing.
var ErrSwept = errors.New("other runs keep sweeping it away")

// Dir is a folder that a later run removes if this one cannot.
type Dir struct {
	Root string // the folder with the lock
	Path string // the folder in it that is to be used
	lock *os.File

	claimed bool
}

// New makes a folder for a purpose in parent, or where the system keeps
// temporary files if that is "".
func New(parent, purpose string) (*Dir, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	return Make(parent, mark+purpose+"-")
}

// Make makes a folder in parent whose name begins with prefix.
func Make(parent, prefix string) (*Dir, error) {
	for range tries {
		d := &Dir{Root: filepath.Join(parent, prefix+random())}
		d.Path = filepath.Join(d.Root, treeName)
		if ok, err := d.open(); ok || err != nil {
			return d, err
		}
	}
	return nil, &fs.PathError{Op: "make", Path: parent, Err: ErrSwept}
}

// random returns the end of a name that nobody else has.
func random() string {
	var r [digits / 2]byte
	rand.Read(r[:])
	return hex.EncodeToString(r[:])
}

// open makes the folder and takes its lock; false if another run took the
// still unlocked folder for a dead one and swept it.
func (d *Dir) open() (bool, error) {
	if err := os.Mkdir(d.Root, 0o700); err != nil {
		return false, err
	}
	lock, held, err := takeLock(filepath.Join(d.Root, lockName), true)
	if errors.Is(err, fs.ErrNotExist) || held {
		return false, nil
	}
	if err != nil {
		os.Remove(d.Root)
		return false, err
	}
	ours, err := lock.Stat()
	if err == nil {
		there, e := os.Lstat(lock.Name())
		if e != nil || !os.SameFile(ours, there) {
			lock.Close()
			return false, nil
		}
		err = os.Mkdir(d.Path, 0o777)
	}
	d.lock = lock
	if err != nil {
		return false, errors.Join(err, d.Remove())
	}
	return true, nil
}

// Remove takes the folder away with all that is in it. That goes first, while
// the lock still tells others to keep off; what is left then may be swept by
// anybody. The lock loses its name before it is given up: a run that is just
// making the folder, and waits for the lock, sees that it is too late. A nil Dir
// has nothing to remove.
func (d *Dir) Remove() error {
	if d == nil {
		return nil
	}
	if d.claimed {
		d.release()
	}
	err := d.Empty()
	if d.lock != nil {
		if namesGo && err == nil {
			os.Remove(filepath.Join(d.Root, lockName))
		}
		d.lock.Close()
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(d.Root)
}

// Empty removes everything in the folder but its lock. A folder without a lock is
// swept only if it is empty.
func (d *Dir) Empty() error {
	list, err := os.ReadDir(d.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range list {
		if e.Name() != lockName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(d.Root, e.Name())))
		}
	}
	return err
}

// File is a file that has no name any more where the system allows that: it
// goes with the process. Elsewhere it lies in a folder of its own.
type File struct {
	*os.File
	dir *Dir
}

// NewFile makes a file for a purpose where the system keeps temporary files.
func NewFile(purpose string) (*File, error) {
	d, err := New("", purpose)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(d.Path, "file"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, errors.Join(err, d.Remove())
	}
	if !namesGo {
		return &File{f, d}, nil
	}
	if err := d.Remove(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &File{f, nil}, nil
}

// Close lets go of the file, and removes it where it still has a name.
func (f *File) Close() error { return errors.Join(f.File.Close(), f.dir.Remove()) }

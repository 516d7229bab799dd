package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrHeld is the error of a folder that another run has claimed.
var ErrHeld = errors.New("claimed by another run")

// claimed ends the name of a folder that only one run at a time can have.
const claimed = "update"

// Claim makes the folder parent/prefix+"update" and locks it. Unlike Make, it
// takes over the folder that a killed run left, with everything in it.
func Claim(parent, prefix string) (*Dir, error) {
	d := &Dir{Root: filepath.Join(parent, prefix+claimed), claimed: true}
	d.Path = filepath.Join(d.Root, treeName)
	for range tries {
		if err := os.Mkdir(d.Root, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		ok, err := d.claim()
		if ok || err != nil {
			return d, err
		}
	}
	return nil, &fs.PathError{Op: "make", Path: parent, Err: ErrSwept}
}

// claim locks the folder; false if another run removed it meanwhile.
func (d *Dir) claim() (bool, error) {
	info, err := os.Lstat(d.Root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir() || !mine(info):
		return false, &fs.PathError{Op: "make", Path: d.Root, Err: fs.ErrExist}
	}
	at := filepath.Join(d.Root, lockName)
	lock, held, err := takeLock(at, false)
	if errors.Is(err, fs.ErrNotExist) {
		lock, held, err = takeLock(at, true)
	}
	switch {
	case held:
		return false, ErrHeld
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist):
		return false, nil // it is being removed, or another run was faster
	case err != nil:
		return false, err
	}
	ours, err := lock.Stat()
	there, gone := os.Lstat(at)
	if err != nil || gone != nil || !os.SameFile(ours, there) {
		lock.Close()
		return false, err
	}
	d.lock = lock
	return true, nil
}

// release gives a claimed folder a name that nobody claims, so that it can be
// removed while others wait for it. Where an open file holds the name of its
// folder, it is removed under the name it has.
func (d *Dir) release() {
	to := strings.TrimSuffix(d.Root, claimed) + random()
	if os.Rename(d.Root, to) == nil {
		d.Root, d.Path = to, filepath.Join(to, treeName)
	}
}

// Unlock leaves the folder to the next run that claims it.
func (d *Dir) Unlock() error { return d.lock.Close() }

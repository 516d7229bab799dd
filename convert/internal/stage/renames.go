package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/internal/fsx"
)

// ErrAppeared is the error of a name that was free when the run began.
var ErrAppeared = fmt.Errorf("%w: created by another program during the run", formats.ErrExists)

const (
	BackupMark = ".bak-"
	maxBackups = 9999
)

// Backup returns the first name for a backup of t that neither a backup nor a sidecar
// of one has.
func (t Target) Backup() (Target, error) {
	for n := 1; n <= maxBackups; n++ {
		b := t.Beside(fmt.Sprintf("%s%d", BackupMark, n))
		if !b.Exists() && !b.Beside(formats.SidecarSuffix).Exists() && !b.Beside(formats.OldSidecarSuffix).Exists() {
			return b, nil
		}
	}
	return Target{}, &formats.Error{At: t.Display, Err: fmt.Errorf("it already has %d backups", maxBackups), Hint: "delete some of them"}
}

// BackupOf returns the name of which this is a backup by rehome, "" if it is
// not. Without the original beside it, a backup is a store like any other.
func BackupOf(name string) string {
	at := strings.LastIndex(name, BackupMark)
	if at < 1 {
		return ""
	}
	if n, err := strconv.Atoi(name[at+len(BackupMark):]); err != nil || n < 1 || n > maxBackups {
		return ""
	}
	return name[:at]
}

// Renames records renames so that they can be undone.
type Renames struct {
	Rename func(from, to string) error
	done   [][2]string
}

// Move renames, and records that.
func (m *Renames) Move(from, to string) error {
	err := m.Rename(from, to)
	if err == nil {
		m.done = append(m.done, [2]string{from, to})
	}
	return err
}

// Place makes a target appear with one rename, and returns where what it replaces is kept. If
// it fails, all renames are undone.
func (m *Renames) Place(tree string, t Target, replace bool) (kept string, err error) {
	defer func() {
		if err != nil {
			kept, err = "", errors.Join(err, m.Undo())
		}
	}()
	if replace && t.Exists() {
		to, err := m.Backup(t)
		if err != nil {
			return "", err
		}
		kept = to.Display
	}
	placed, err := m.PlaceAbove(tree, t, func(int) error { return nil })
	if placed || err != nil {
		return kept, err
	}
	if err := m.PlaceAs(filepath.Join(tree, filepath.Join(t.Tail...)), t); err != nil {
		return "", err
	}
	return kept, SyncFolder(filepath.Dir(t.Path()))
}

// PlaceAbove renames the topmost of the folders above a target that were missing, with
// everything in it, so that no folder has to be created first and removed after a failure. If
// another program has created that folder in the meantime, the next one below it is renamed.
// It calls before with how many elements of the target each rename would place. It returns
// false if the target itself is left to be placed.
func (m *Renames) PlaceAbove(tree string, t Target, before func(depth int) error) (placed bool, err error) {
	for i := range len(t.Tail) - 1 {
		if err := before(i + 1); err != nil {
			return false, err
		}
		name := filepath.Join(t.Tail[:i+1]...)
		to := filepath.Join(t.Dir, name)
		err := m.Move(filepath.Join(tree, name), to)
		if err == nil {
			return true, SyncFolder(filepath.Dir(to))
		}
		if !errors.Is(err, fs.ErrExist) {
			return false, &formats.Error{At: to, Err: formats.Cause(err)}
		}
		if info, err := os.Lstat(to); err != nil || !info.IsDir() {
			return false, &formats.Error{At: to, Err: ErrNotFolder}
		}
	}
	return false, nil
}

// PlaceAs renames what is staged to a target, whose folder exists. Its name was free when the
// run began.
func (m *Renames) PlaceAs(staged string, t Target) error {
	switch err := m.Move(staged, t.Path()); {
	case errors.Is(err, fs.ErrExist):
		return &formats.Error{At: t.Display, Err: ErrAppeared, Hint: "it was not touched: choose another name, or move it away"}
	case err != nil:
		return &formats.Error{At: t.Display, Err: formats.Cause(err)}
	}
	return nil
}

// Backup renames what is at a target to the first free name for backups, which it returns.
func (m *Renames) Backup(t Target) (Target, error) {
	to, err := t.Backup()
	if err != nil {
		return to, err
	}
	return to, m.BackupAs(t, to)
}

// BackupAs renames what is at a target to a name for backups.
func (m *Renames) BackupAs(t, to Target) error {
	if err := m.Move(t.Path(), to.Path()); err != nil {
		return &formats.Error{At: t.Display, Op: "back up", Err: formats.Cause(err)}
	}
	return nil
}

// Undo undoes all renames, last to first.
func (m *Renames) Undo() error {
	var errs []error
	for i := len(m.done) - 1; i >= 0; i-- {
		from, to := m.done[i][0], m.done[i][1]
		if err := fsx.Move(to, from); err != nil {
			errs = append(errs, &formats.Error{At: to, Op: "restore", Err: formats.Cause(err), Hint: "move it to " + from})
		}
	}
	return errors.Join(errs...)
}

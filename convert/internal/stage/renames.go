package stage

import (
	"errors"
	"fmt"
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

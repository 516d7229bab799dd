package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"rehome/formats"
)

// refuseExisting returns early the error that the last rename would return
// late.
func (j *job) refuseExisting() error {
	if j.opts.Replace {
		return nil
	}
	if j.dest.exists() {
		return j.existsError(j.dest)
	}
	if j.sidecar.previousExists {
		return &formats.Error{At: j.sidecar.previous.display, Err: fmt.Errorf("%w: the sidecar of an earlier target", formats.ErrExists),
			Hint: "move it away, or pass --replace to keep it under another name"}
	}
	return nil
}

func (j *job) existsError(t target) error {
	hint := "choose another name, or pass --replace to keep the old one as " + t.display + backupMark + "1"
	if j.clientPlace {
		hint = "the client already has sessions of this folder: pass --replace to keep them as " + filepath.Base(t.display) + backupMark + "1, or pass a DST"
	}
	return &formats.Error{At: t.display, Err: formats.ErrExists, Hint: hint}
}

// commit syncs the staged tree to disk and renames it.
func (j *job) commit(ctx context.Context) error {
	j.notify.begin(syncing, "", 0)
	if err := j.restrictPermissions(); err != nil {
		return err
	}
	if err := j.outside.extract(j.stage, j.dest); err != nil {
		return err
	}
	at, apartFrom, err := j.sidecarStage()
	if err != nil {
		return err
	}
	if apartFrom != nil {
		defer j.removeStaging(apartFrom)
	}
	some, err := j.stageSidecar(at)
	if err != nil {
		return err
	}
	if some {
		if err := errors.Join(deny(at, j.denied), syncFile(at), syncFolder(filepath.Dir(at))); err != nil {
			return err
		}
	}
	if len(j.found) > 1 || j.rep.Lane == SessionConversion { // a single store was synced while it was read again
		if err := syncTree(j.stage.tree); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m := &renameLog{rename: j.rename}
	if !some {
		at = ""
	}
	if err := j.place(m, at); err != nil {
		return errors.Join(err, m.undo())
	}
	j.rep.Placed = true
	j.outside.announce()
	return nil
}

// sidecarStage returns the path where the sidecar is written before it is
// placed: in the tree beside the target, or in a staging folder beside the file
// that the user named.
func (j *job) sidecarStage() (string, *staging, error) {
	if !j.sidecar.named {
		return filepath.Join(j.stage.tree, filepath.Join(j.sidecar.to.tail...)), nil, nil
	}
	s, err := newStaging(j.sidecar.to)
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(s.tree, j.sidecar.to.base()), s, nil
}

// place renames. If folders above the target are missing, the topmost is
// renamed with everything in it, so that no folder has to be created first and
// removed after a failure. If another program has created that folder in the
// meantime, the next one below it is renamed.
func (j *job) place(m *renameLog, sidecar string) error {
	if j.sidecar.named && sidecar != "" {
		if err := j.placeNamed(m, sidecar); err != nil {
			return err
		}
		sidecar = ""
	}
	last := len(j.dest.tail) - 1
	for i := range last {
		if err := j.outside.placeBefore(m, j.stage, j.dest, i+1); err != nil {
			return err
		}
		name := filepath.Join(j.dest.tail[:i+1]...)
		to := filepath.Join(j.dest.dir, name)
		err := m.move(filepath.Join(j.stage.tree, name), to)
		if err == nil {
			if sidecar != "" {
				j.rep.Sidecar = j.sidecar.to.display
			}
			return syncFolder(filepath.Dir(to))
		}
		if !errors.Is(err, fs.ErrExist) {
			return &formats.Error{At: to, Err: formats.Cause(err)}
		}
		if info, err := os.Lstat(to); err != nil || !info.IsDir() {
			return &formats.Error{At: to, Err: errNotFolder}
		}
	}
	if err := j.outside.placeBefore(m, j.stage, j.dest, last+1); err != nil {
		return err
	}
	return j.placeTarget(m, sidecar)
}

// placeNamed places the sidecar at the path that the user named.
func (j *job) placeNamed(m *renameLog, staged string) error {
	t := j.sidecar.to
	if t.exists() {
		if !j.opts.Replace {
			return j.existsError(t)
		}
		n, err := nextBackup(t)
		if err != nil {
			return err
		}
		if err := m.move(t.path(), t.beside(backupSuffix(n)).path()); err != nil {
			return err
		}
	}
	if err := m.move(staged, t.path()); err != nil {
		return err
	}
	j.rep.Sidecar = t.display
	return syncFolder(filepath.Dir(t.path()))
}

// placeTarget ends with the one rename that makes the target appear. Before it,
// there is the old target, or only its backup.
func (j *job) placeTarget(m *renameLog, sidecar string) error {
	if err := j.backup(m); err != nil {
		return err
	}
	if sidecar != "" {
		if err := m.move(sidecar, j.sidecar.to.path()); err != nil {
			return j.placeError(j.sidecar.to, err)
		}
		j.rep.Sidecar = j.sidecar.to.display
	}
	staged := filepath.Join(j.stage.tree, filepath.Join(j.dest.tail...))
	if err := m.move(staged, j.dest.path()); err != nil {
		return j.placeError(j.dest, err)
	}
	return syncFolder(filepath.Dir(j.dest.path()))
}

// placeError returns the error of a rename, if the name was free when the run
// began.
func (j *job) placeError(t target, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return &formats.Error{At: t.display, Err: errAppeared, Hint: "it was not touched: choose another name, or move it away"}
	}
	return &formats.Error{At: t.display, Err: formats.Cause(err)}
}

// errAppeared is the error of a name that was free when the run began.
var errAppeared = fmt.Errorf("%w: created by another program during the run", formats.ErrExists)

const (
	backupMark = ".bak-"
	maxBackups = 9999
)

func backupSuffix(n int) string { return fmt.Sprintf("%s%d", backupMark, n) }

// nextBackup returns the first number without a backup of t or a sidecar of
// one.
func nextBackup(t target) (int, error) {
	for n := 1; n <= maxBackups; n++ {
		b := t.beside(backupSuffix(n))
		if !b.exists() && !b.beside(formats.SidecarSuffix).exists() && !b.beside(formats.OldSidecarSuffix).exists() {
			return n, nil
		}
	}
	return 0, &formats.Error{At: t.display, Err: fmt.Errorf("it already has %d backups", maxBackups), Hint: "delete some of them"}
}

// backup renames an existing target, and its sidecar in the same way, so that
// the two stay together.
func (j *job) backup(m *renameLog) error {
	if !j.opts.Replace {
		return nil
	}
	there, old := j.dest.exists(), j.sidecar.previous.exists()
	if !there && !old {
		return nil
	}
	n, err := nextBackup(j.dest)
	if err != nil {
		return err
	}
	to := j.dest.beside(backupSuffix(n))
	if there {
		if err := m.move(j.dest.path(), to.path()); err != nil {
			return &formats.Error{At: j.dest.display, Op: "back up the old target", Err: formats.Cause(err)}
		}
		j.rep.Backup = to.display
	}
	if old {
		if err := m.move(j.sidecar.previous.path(), to.beside(formats.SidecarSuffix).path()); err != nil {
			return &formats.Error{At: j.sidecar.previous.display, Op: "back up the old sidecar", Err: formats.Cause(err)}
		}
	}
	return nil
}

// renameLog records renames so that they can be undone.
type renameLog struct {
	rename func(from, to string) error
	done   [][2]string
}

func (m *renameLog) move(from, to string) error {
	err := m.rename(from, to)
	if err == nil {
		m.done = append(m.done, [2]string{from, to})
	}
	return err
}

// undo undoes all renames, last to first.
func (m *renameLog) undo() error {
	var errs []error
	for i := len(m.done) - 1; i >= 0; i-- {
		from, to := m.done[i][0], m.done[i][1]
		if err := moveNew(to, from); err != nil {
			errs = append(errs, &formats.Error{At: to, Op: "restore", Err: formats.Cause(err), Hint: "move it to " + from})
		}
	}
	return errors.Join(errs...)
}

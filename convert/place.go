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

// refuseExisting says early what the last rename would say late.
func (j *job) refuseExisting() error {
	if j.o.Replace {
		return nil
	}
	if j.goal.exists() {
		return j.taken(j.goal)
	}
	if j.sidecar.oldThere {
		return &formats.Error{At: j.sidecar.old.shown, Err: fmt.Errorf("%w: the sidecar of an earlier target", formats.ErrExists),
			Hint: "move it away, or pass --replace to keep it under another name"}
	}
	return nil
}

func (j *job) taken(t target) error {
	hint := "choose another name, or pass --replace to keep the old one as " + t.shown + backupMark + "1"
	if j.own {
		hint = "the client already has sessions of this folder: pass --replace to keep them as " + filepath.Base(t.shown) + backupMark + "1, or pass a DST"
	}
	return &formats.Error{At: t.shown, Err: formats.ErrExists, Hint: hint}
}

// settle brings the staged tree to the disk and then to its name.
func (j *job) settle(ctx context.Context) error {
	j.talk.enter(syncing, "", 0)
	if err := j.keepPrivate(); err != nil {
		return err
	}
	if err := j.out.takeOut(j.stage, j.goal); err != nil {
		return err
	}
	at, apartFrom, err := j.sidecarStage()
	if err != nil {
		return err
	}
	if apartFrom != nil {
		defer j.clear(apartFrom)
	}
	some, err := j.stageSidecar(at)
	if err != nil {
		return err
	}
	if some {
		if err := errors.Join(closeOff(at, j.private), syncFile(at), syncFolder(filepath.Dir(at))); err != nil {
			return err
		}
	}
	if len(j.found) > 1 || j.rep.Lane == sessionLane { // a store that is alone was synced while it was read again
		if err := syncTree(j.stage.tree); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m := &moves{rename: j.rename}
	if !some {
		at = ""
	}
	if err := j.place(m, at); err != nil {
		return errors.Join(err, m.back())
	}
	j.rep.Placed = true
	j.out.tell()
	return nil
}

// sidecarStage is where the sidecar is written before it is placed: in the
// tree, beside the target, or in a staging folder beside a named file.
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

// place renames. With folders missing above the target, the topmost of them
// is renamed with everything in it, so that nothing has to be made first and
// unmade after a failure. Should somebody else have made it meanwhile, what
// is in it goes one step deeper.
func (j *job) place(m *moves, sidecar string) error {
	if j.sidecar.named && sidecar != "" {
		if err := j.placeNamed(m, sidecar); err != nil {
			return err
		}
		sidecar = ""
	}
	last := len(j.goal.tail) - 1
	for i := range last {
		if err := j.out.before(m, j.stage, j.goal, i+1); err != nil {
			return err
		}
		name := filepath.Join(j.goal.tail[:i+1]...)
		to := filepath.Join(j.goal.dir, name)
		err := m.move(filepath.Join(j.stage.tree, name), to)
		if err == nil {
			if sidecar != "" {
				j.rep.Sidecar = j.sidecar.to.shown
			}
			return syncFolder(filepath.Dir(to))
		}
		if !errors.Is(err, fs.ErrExist) {
			return &formats.Error{At: to, Err: bare(err)}
		}
		if info, err := os.Lstat(to); err != nil || !info.IsDir() {
			return &formats.Error{At: to, Err: errNotFolder}
		}
	}
	if err := j.out.before(m, j.stage, j.goal, last+1); err != nil {
		return err
	}
	return j.placeAt(m, sidecar)
}

// placeNamed places the sidecar in the file that the user named for it.
func (j *job) placeNamed(m *moves, staged string) error {
	t := j.sidecar.to
	if t.exists() {
		if !j.o.Replace {
			return j.taken(t)
		}
		n, err := freeBackup(t)
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
	j.rep.Sidecar = t.shown
	return syncFolder(filepath.Dir(t.path()))
}

// placeAt ends with the one rename that makes the target appear. Before it
// there is the old target, or its backup beside nothing.
func (j *job) placeAt(m *moves, sidecar string) error {
	if err := j.backup(m); err != nil {
		return err
	}
	if sidecar != "" {
		if err := m.move(sidecar, j.sidecar.to.path()); err != nil {
			return j.late(j.sidecar.to, err)
		}
		j.rep.Sidecar = j.sidecar.to.shown
	}
	staged := filepath.Join(j.stage.tree, filepath.Join(j.goal.tail...))
	if err := m.move(staged, j.goal.path()); err != nil {
		return j.late(j.goal, err)
	}
	return syncFolder(filepath.Dir(j.goal.path()))
}

// late words the refusal of a name that was free when the run began.
func (j *job) late(t target, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return &formats.Error{At: t.shown, Err: errAppeared, Hint: "it was not touched: choose another name, or move it away"}
	}
	return &formats.Error{At: t.shown, Err: bare(err)}
}

// errAppeared is the error of a name that was free when the run began.
var errAppeared = fmt.Errorf("%w: created by another program during the run", formats.ErrExists)

const (
	backupMark  = ".bak-"
	mostBackups = 9999
)

func backupSuffix(n int) string { return fmt.Sprintf("%s%d", backupMark, n) }

// freeBackup returns the first number that no backup of t has yet, nor a
// sidecar of one.
func freeBackup(t target) (int, error) {
	for n := 1; n <= mostBackups; n++ {
		b := t.beside(backupSuffix(n))
		if !b.exists() && !b.beside(formats.SidecarSuffix).exists() && !b.beside(formats.OldSidecarSuffix).exists() {
			return n, nil
		}
	}
	return 0, &formats.Error{At: t.shown, Err: fmt.Errorf("it already has %d backups", mostBackups), Hint: "delete some of them"}
}

// backup moves what stands at the target aside, and its sidecar with it under
// a name that keeps the two together.
func (j *job) backup(m *moves) error {
	if !j.o.Replace {
		return nil
	}
	there, old := j.goal.exists(), j.sidecar.old.exists()
	if !there && !old {
		return nil
	}
	n, err := freeBackup(j.goal)
	if err != nil {
		return err
	}
	to := j.goal.beside(backupSuffix(n))
	if there {
		if err := m.move(j.goal.path(), to.path()); err != nil {
			return &formats.Error{At: j.goal.shown, Op: "back up the old target", Err: bare(err)}
		}
		j.rep.Backup = to.shown
	}
	if old {
		if err := m.move(j.sidecar.old.path(), to.beside(formats.SidecarSuffix).path()); err != nil {
			return &formats.Error{At: j.sidecar.old.shown, Op: "back up the old sidecar", Err: bare(err)}
		}
	}
	return nil
}

// moves remembers renames so that they can be undone.
type moves struct {
	rename func(from, to string) error
	made   [][2]string
}

func (m *moves) move(from, to string) error {
	err := m.rename(from, to)
	if err == nil {
		m.made = append(m.made, [2]string{from, to})
	}
	return err
}

// back undoes everything, the last first.
func (m *moves) back() error {
	var errs []error
	for i := len(m.made) - 1; i >= 0; i-- {
		from, to := m.made[i][0], m.made[i][1]
		if err := moveNew(to, from); err != nil {
			errs = append(errs, &formats.Error{At: to, Op: "restore", Err: bare(err), Hint: "move it to " + from})
		}
	}
	return errors.Join(errs...)
}

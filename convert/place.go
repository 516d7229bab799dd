package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"rehome/convert/internal/notify"
	"rehome/convert/internal/sidecar"
	"rehome/convert/internal/stage"
	"rehome/formats"
)

// refuseExisting returns early the error that the last rename would return
// late.
func (j *job) refuseExisting() error {
	if j.opts.Replace || j.update != nil {
		return nil
	}
	if j.dest.Exists() {
		return j.existsError(j.dest)
	}
	if j.sidecar.PreviousExists {
		return &formats.Error{At: j.sidecar.Previous.Display, Err: fmt.Errorf("%w: the sidecar of an earlier target", formats.ErrExists),
			Hint: "move it away, or pass --replace to keep it under another name"}
	}
	return nil
}

func (j *job) existsError(t stage.Target) error {
	hint := "choose another name, or pass --replace to keep the old one as " + t.Display + stage.BackupMark + "1"
	if j.clientPlace {
		hint = "the client already has sessions of this folder: pass --replace to keep them as " + filepath.Base(t.Display) + stage.BackupMark + "1, or pass a DST"
	}
	return &formats.Error{At: t.Display, Err: formats.ErrExists, Hint: hint}
}

// commit syncs the staged tree to disk and renames it.
func (j *job) commit(ctx context.Context) error {
	j.notify.Begin(notify.Syncing, "", 0)
	denied, err := j.restrictPermissions()
	if err != nil {
		return err
	}
	if err := j.outside.extract(j.stage, j.dest); err != nil {
		return err
	}
	if j.update != nil {
		if err := j.update.compareStores(ctx); err != nil {
			return err
		}
	}
	at, apartFrom, err := j.sidecarStage()
	if err != nil {
		return err
	}
	if apartFrom != nil {
		defer j.removeStaging(apartFrom)
	}
	some, err := sidecar.Write(at, j.omitted)
	if err != nil {
		return err
	}
	if some {
		if err := errors.Join(stage.Deny(at, denied), stage.SyncFile(at), stage.SyncFolder(filepath.Dir(at))); err != nil {
			return err
		}
	}
	if len(j.found) > 1 || j.rep.Lane == SessionConversion { // a single store was synced while it was read again
		if err := stage.SyncTree(j.stage.Tree); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if j.update != nil && (j.update.exists || j.opts.DryRun) {
		return j.update.place(ctx, some)
	}
	m := &stage.Renames{Rename: j.rename}
	if !some {
		at = ""
	} else if j.update != nil {
		if err := j.update.rememberFiles(ctx, "", path.Join(j.sidecar.To.Tail...)); err != nil {
			return err
		}
	}
	if err := j.rememberText(ctx, some); err != nil {
		return err
	}
	j.update.save()
	if err := j.place(m, at); err != nil {
		return errors.Join(err, m.Undo())
	}
	j.rep.Placed = true
	j.outside.announce()
	return nil
}

// sidecarStage returns the path where the sidecar is written before it is
// placed: in the tree beside the target, or in a staging folder beside the file
// that the user named.
func (j *job) sidecarStage() (string, *stage.Folder, error) {
	if !j.sidecar.Named {
		return filepath.Join(j.stage.Tree, filepath.Join(j.sidecar.To.Tail...)), nil, nil
	}
	s, err := stage.New(j.sidecar.To)
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(s.Tree, j.sidecar.To.Base()), s, nil
}

// place renames. If folders above the target are missing, the topmost is
// renamed with everything in it, so that no folder has to be created first and
// removed after a failure. If another program has created that folder in the
// meantime, the next one below it is renamed.
func (j *job) place(m *stage.Renames, sidecar string) error {
	if j.sidecar.Named && sidecar != "" {
		if err := j.placeNamed(m, sidecar); err != nil {
			return err
		}
		sidecar = ""
	}
	last := len(j.dest.Tail) - 1
	for i := range last {
		if err := j.outside.placeBefore(m, j.stage, j.dest, i+1); err != nil {
			return err
		}
		name := filepath.Join(j.dest.Tail[:i+1]...)
		to := filepath.Join(j.dest.Dir, name)
		err := m.Move(filepath.Join(j.stage.Tree, name), to)
		if err == nil {
			if sidecar != "" {
				j.rep.Sidecar = j.sidecar.To.Display
			}
			return stage.SyncFolder(filepath.Dir(to))
		}
		if !errors.Is(err, fs.ErrExist) {
			return &formats.Error{At: to, Err: formats.Cause(err)}
		}
		if info, err := os.Lstat(to); err != nil || !info.IsDir() {
			return &formats.Error{At: to, Err: stage.ErrNotFolder}
		}
	}
	if err := j.outside.placeBefore(m, j.stage, j.dest, last+1); err != nil {
		return err
	}
	return j.placeTarget(m, sidecar)
}

// placeNamed places the sidecar at the path that the user named.
func (j *job) placeNamed(m *stage.Renames, staged string) error {
	t := j.sidecar.To
	if t.Exists() {
		if !j.opts.Replace {
			return j.existsError(t)
		}
		kept, err := t.Backup()
		if err != nil {
			return err
		}
		if err := m.Move(t.Path(), kept.Path()); err != nil {
			return err
		}
	}
	if err := m.Move(staged, t.Path()); err != nil {
		return err
	}
	j.rep.Sidecar = t.Display
	return stage.SyncFolder(filepath.Dir(t.Path()))
}

// placeTarget ends with the one rename that makes the target appear. Before it,
// there is the old target, or only its backup.
func (j *job) placeTarget(m *stage.Renames, sidecar string) error {
	if err := j.backup(m); err != nil {
		return err
	}
	if sidecar != "" {
		if err := m.Move(sidecar, j.sidecar.To.Path()); err != nil {
			return j.placeError(j.sidecar.To, err)
		}
		j.rep.Sidecar = j.sidecar.To.Display
	}
	staged := filepath.Join(j.stage.Tree, filepath.Join(j.dest.Tail...))
	if err := m.Move(staged, j.dest.Path()); err != nil {
		return j.placeError(j.dest, err)
	}
	return stage.SyncFolder(filepath.Dir(j.dest.Path()))
}

// placeError returns the error of a rename, if the name was free when the run
// began.
func (j *job) placeError(t stage.Target, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return &formats.Error{At: t.Display, Err: stage.ErrAppeared, Hint: "it was not touched: choose another name, or move it away"}
	}
	return &formats.Error{At: t.Display, Err: formats.Cause(err)}
}

// backup renames an existing target, and its sidecar in the same way, so that
// the two stay together.
func (j *job) backup(m *stage.Renames) error {
	if !j.opts.Replace {
		return nil
	}
	there, old := j.dest.Exists(), j.sidecar.Previous.Exists()
	if !there && !old {
		return nil
	}
	to, err := j.dest.Backup()
	if err != nil {
		return err
	}
	if there {
		if err := m.Move(j.dest.Path(), to.Path()); err != nil {
			return &formats.Error{At: j.dest.Display, Op: "back up the old target", Err: formats.Cause(err)}
		}
		j.rep.Backup = to.Display
	}
	if old {
		if err := m.Move(j.sidecar.Previous.Path(), to.Beside(formats.SidecarSuffix).Path()); err != nil {
			return &formats.Error{At: j.sidecar.Previous.Display, Op: "back up the old sidecar", Err: formats.Cause(err)}
		}
	}
	return nil
}

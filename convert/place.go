package convert

import (
	"context"
	"errors"
	"fmt"
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
	if !j.clientPlace {
		return t.ExistsError()
	}
	hint := "the client already has sessions of this folder: pass --replace to keep them as " + filepath.Base(t.Display) + stage.BackupMark + "1, or pass a DST"
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

// place renames, see stage.Renames.PlaceAbove.
func (j *job) place(m *stage.Renames, sidecar string) error {
	if j.sidecar.Named && sidecar != "" {
		if err := j.placeNamed(m, sidecar); err != nil {
			return err
		}
		sidecar = ""
	}
	before := func(depth int) error { return j.outside.placeBefore(m, j.stage, j.dest, depth) }
	placed, err := m.PlaceAbove(j.stage.Tree, j.dest, before)
	if err == nil && !placed {
		if err = before(len(j.dest.Tail)); err == nil {
			err = j.placeTarget(m, sidecar)
		}
	}
	if err == nil && sidecar != "" {
		j.rep.Sidecar = j.sidecar.To.Display
	}
	return err
}

// placeNamed places the sidecar at the path that the user named.
func (j *job) placeNamed(m *stage.Renames, staged string) error {
	t := j.sidecar.To
	if t.Exists() {
		if !j.opts.Replace {
			return j.existsError(t)
		}
		if _, err := m.Backup(t); err != nil {
			return err
		}
	}
	if err := m.PlaceAs(staged, t); err != nil {
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
		if err := m.PlaceAs(sidecar, j.sidecar.To); err != nil {
			return err
		}
	}
	if err := m.PlaceAs(filepath.Join(j.stage.Tree, filepath.Join(j.dest.Tail...)), j.dest); err != nil {
		return err
	}
	return stage.SyncFolder(filepath.Dir(j.dest.Path()))
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
	if err == nil && there {
		if err = m.BackupAs(j.dest, to); err == nil {
			j.rep.Backup = to.Display
		}
	}
	if err == nil && old {
		err = m.BackupAs(j.sidecar.Previous, to.Beside(formats.SidecarSuffix))
	}
	return err
}

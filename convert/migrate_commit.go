package convert

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/internal/fsx"
)

// commitFiles renames the staged files, the session's own last. If one fails,
// all are undone: new files are removed, and replaced ones restored.
func (m *migration) commitFiles(ctx context.Context, todo []fileMove) (status string, err error) {
	status = Same // another run may have placed the same file in the meantime
	var done []fileMove
	for i, p := range todo {
		if i > 0 && i == len(todo)-1 {
			err = m.syncFolders() // what the session refers to exists before it does
		}
		moved := false
		if err == nil {
			moved, err = m.commitFile(ctx, p)
		}
		if err != nil {
			for i := len(done) - 1; i >= 0; i-- {
				err = errors.Join(err, m.undo(done[i]))
			}
			return "", err
		}
		switch {
		case !moved:
			continue
		case p.replaces:
			status = Updated
		case status == Same:
			status = Placed
		}
		done = append(done, p)
	}
	return status, nil
}

// undo undoes commitFile.
func (m *migration) undo(p fileMove) error {
	if !p.replaces {
		return os.RemoveAll(p.path)
	}
	was := p.backupPath()
	if p.folder {
		was = p.staged
	}
	if err := fsx.Replace(was, p.path); err != nil {
		return &formats.Error{At: p.path, Op: "restore", Err: formats.Cause(err), Hint: "this file was an older state of the session: migrate the session again with --update"}
	}
	return nil
}

// backupPath returns the path where the old file is kept that is replaced.
func (p *fileMove) backupPath() string { return p.staged + ".was" }

// commitFile renames one staged file, unless it already exists with the same content.
func (m *migration) commitFile(ctx context.Context, p fileMove) (moved bool, err error) {
	dir := filepath.Dir(p.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, blocked(p.path, err)
	}
	if !m.synced {
		if err := stage.SyncTree(p.staged); err != nil {
			return false, err
		}
	}
	moved = true
	if p.replaces {
		err = m.replace(ctx, p)
	} else if err = m.rename.create(p.staged, p.path); errors.Is(err, fs.ErrExist) {
		moved = false
		if p.companion || fsx.SameTree(p.staged, p.path) {
			err = nil
		} else {
			err = &formats.Error{At: p.path, Err: stage.ErrAppeared, Hint: "it was not touched: run migrate again"}
		}
	} else if err != nil {
		err = blocked(p.path, err)
	}
	if err != nil {
		return false, err
	}
	m.unsynced[dir] = true
	return moved, nil
}

// replace overwrites an older state of a file or folder, which is kept until all the
// others have been renamed.
func (m *migration) replace(ctx context.Context, p fileMove) error {
	info, err := os.Lstat(p.path)
	if err == nil && !p.companion {
		var was formats.Standing
		if was, err = m.was(ctx, &p, info); err == nil { // the client may have continued it in the meantime
			err = m.mayReplace(&p, was)
		}
	}
	if err != nil {
		return err
	}
	if p.folder {
		return m.rename.replace(p.staged, p.path)
	}
	if err := linkOrCopy(p.path, p.backupPath()); err != nil {
		return err
	}
	return m.rename.replace(p.staged, p.path)
}

// syncFolders syncs the folders with new names to disk.
func (m *migration) syncFolders() error {
	var errs []error
	for _, dir := range slices.Sorted(maps.Keys(m.unsynced)) {
		errs = append(errs, stage.SyncFolder(dir))
	}
	clear(m.unsynced)
	return errors.Join(errs...)
}

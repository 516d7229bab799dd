package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rehome/convert/internal/filetx"
	"rehome/convert/internal/stage"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/internal/fsx"
)

// filesUndo undoes what a record says of files.
type filesUndo struct {
	to  *formats.Format
	dir string // of the record
}

// fileStep makes a file as it was.
type fileStep struct {
	undo.File
	do func(undo.File) error // nil: it is
}

// run makes the file as it was, and removes what a killed run left beside it.
func (s *fileStep) run() error {
	if s.do != nil {
		return s.do(s.File)
	}
	if at, err := stage.Resolve(s.Path); err == nil && (s.Folder || s.Before != "") {
		stage.Sweep(func(string) {}, at)
	}
	return nil
}

// undoFiles makes the files of each session as they were, if all of them are as they were
// written, and removes the folders that were created for them, if nothing else is there.
func undoFiles(ctx context.Context, reg *formats.Registry, folder undo.Folder, r *undo.Record, out *UndoReport) error {
	if len(r.Files) == 0 {
		return nil
	}
	to := reg.Lookup(r.Format) // copies of files need none
	if r.Moved == nil {
		var err error
		to, err = findFormat(reg, r, func(w *formats.Writer) bool {
			return w.State != nil || !slices.ContainsFunc(r.Files, func(f undo.File) bool { return f.Folder })
		})
		if err != nil {
			return err
		}
	}
	u := &filesUndo{to: to, dir: folder.Saved(r).Dir}
	for _, family := range slices.Backward(r.Families()) {
		steps, kept, err := u.plan(ctx, family)
		if err != nil {
			return err
		}
		if out.Kept = append(out.Kept, kept...); len(kept) > 0 {
			continue
		}
		for _, s := range steps {
			if !out.DryRun {
				if err := s.run(); err != nil {
					return &formats.Error{At: s.Path, Op: "undo", Err: formats.Cause(err)}
				}
			}
			out.Restored = append(out.Restored, s.Path)
		}
	}
	if !out.DryRun {
		filetx.RemoveEmpty(r.Folders)
	}
	return nil
}

// plan returns what to do with the files of a session, its own first: without that, the
// client does not look for the others. It also returns which of them cannot be undone.
func (u *filesUndo) plan(ctx context.Context, family []undo.File) (steps []fileStep, kept []UndoKept, err error) {
	for _, f := range slices.Backward(family) {
		do, why, err := u.judge(ctx, &f)
		if err != nil {
			return nil, nil, &formats.Error{At: f.Path, Err: formats.Cause(err)}
		}
		if why != "" {
			kept = append(kept, UndoKept{f.Path, why})
		}
		steps = append(steps, fileStep{f, do})
	}
	return steps, kept, nil
}

// judge returns what makes a file as it was, or why nothing can. A link is followed, unless
// the file is to be removed.
func (u *filesUndo) judge(ctx context.Context, f *undo.File) (do func(undo.File) error, kept string, err error) {
	info, err := os.Lstat(f.Path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 && f.Before != "" {
		if f.Path, err = filepath.EvalSymlinks(f.Path); err == nil {
			info, err = os.Lstat(f.Path)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.Before == "":
		return nil, "", nil
	case errors.Is(err, fs.ErrNotExist) && f.After == "":
		return u.bringBack, "", nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, "it no longer exists", nil
	case err != nil:
		return nil, "", err
	case info.IsDir() != f.Folder || !f.Folder && !info.Mode().IsRegular():
		return nil, changedSince, nil
	}
	var is string
	if f.Tree {
		is, err = fsx.DigestTree(f.Path)
	} else {
		is, err = stateOf(ctx, u.to, f.Path, f.Folder)
	}
	switch {
	case err != nil:
		return nil, "", err
	case f.Before != "" && is == f.Before:
		return nil, "", nil
	case is != f.After:
		return nil, changedSince, nil
	}
	if f.Folder && u.to != nil && u.to.Writer != nil && u.to.Writer.Unmodified != nil {
		if _, err := u.to.Writer.Unmodified(ctx, f.Path); errors.Is(err, formats.ErrBusy) {
			return nil, "in use: the client has it open", nil
		}
	}
	switch {
	case f.Before == "":
		return removeWritten, "", nil
	case f.Kept != "":
		if _, err := os.Lstat(filepath.Join(u.dir, f.Kept)); err == nil {
			return u.restore, "", nil
		}
	case !f.Folder:
		sum := sha256.New()
		if err := copyStart(sum, f.Path, f.Size); err != nil {
			return nil, "", err
		}
		if hex.EncodeToString(sum.Sum(nil)) == f.Before {
			return cutAppended, "", nil
		}
	}
	return nil, "its earlier state was not kept", nil
}

// stateOf returns what tells a file, or the conversation in a folder, from all others.
func stateOf(ctx context.Context, f *formats.Format, path string, folder bool) (string, error) {
	if folder {
		return f.Writer.State(ctx, path)
	}
	return fsx.Digest(path)
}

const changedSince = "changed since, by its client or a later migration"

// copyStart copies the first bytes of a file.
func copyStart(to io.Writer, path string, size int64) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.CopyN(to, in, size)
	return err
}

// removeWritten removes a file or a folder.
func removeWritten(f undo.File) error {
	if !f.Folder {
		return errors.Join(os.Remove(f.Path), stage.SyncFolder(filepath.Dir(f.Path)))
	}
	return replaceBeside(f, func(staged string) error { return os.Rename(f.Path, staged) })
}

// restore puts the old file or folder back.
func (u *filesUndo) restore(f undo.File) error {
	kept := filepath.Join(u.dir, f.Kept)
	return replaceBeside(f, func(staged string) error {
		err := fsx.CopyTree(kept, staged, false)
		if err == nil {
			err = stage.SyncTree(staged)
		}
		if err == nil {
			err = fsx.Replace(staged, f.Path)
		}
		return err
	})
}

// bringBack puts back what was removed.
func (u *filesUndo) bringBack(f undo.File) error {
	return replaceBeside(f, func(staged string) error {
		err := fsx.CopyTree(filepath.Join(u.dir, f.Kept), staged, false)
		if err == nil {
			err = stage.SyncTree(staged)
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(f.Path), 0o700)
		}
		if err == nil {
			err = fsx.Move(staged, f.Path)
		}
		return err
	})
}

// cutAppended takes away the lines that were appended to a file.
func cutAppended(f undo.File) error {
	return replaceBeside(f, func(staged string) error {
		info, err := os.Stat(f.Path)
		if err != nil {
			return err
		}
		out, err := os.OpenFile(staged, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		err = copyStart(out, f.Path, f.Size)
		if err = errors.Join(err, out.Chmod(info.Mode().Perm()), out.Sync(), out.Close()); err == nil {
			err = os.Rename(staged, f.Path)
		}
		return err
	})
}

// replaceBeside changes the name of a file with the help of a path in a private folder
// beside it.
func replaceBeside(f undo.File, change func(staged string) error) error {
	staged, remove, err := stageBeside(f.Path)
	if err != nil {
		return err
	}
	if err = change(staged); err == nil {
		err = stage.SyncFolder(filepath.Dir(f.Path))
	}
	return errors.Join(err, remove())
}

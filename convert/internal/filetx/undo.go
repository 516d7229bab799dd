package filetx

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rehome/convert/internal/stage"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/internal/fsx"
)

// Undoer undoes what a record says of files.
type Undoer struct {
	Dir    string                             // of the record
	State  func(f *undo.File) (string, error) // of a file or folder that is no File.Tree
	InUse  func(folder string) bool           // whether its client has it open; may be nil
	Taken  func(f *undo.File) (bool, error)   // whether its client has what was appended elsewhere, too; may be nil
	DryRun bool
}

// Undo makes the files of each session as they were, if all of them are as they were written,
// and removes the folders that were created for them, if nothing else is there.
func (u *Undoer) Undo(r *undo.Record) (done []formats.Undone, err error) {
	for _, family := range slices.Backward(r.Families()) {
		steps, kept, err := u.plan(family)
		if err != nil {
			return done, err
		}
		if done = append(done, kept...); len(kept) > 0 {
			continue
		}
		for _, s := range steps {
			if !u.DryRun {
				if err := s.run(); err != nil {
					return done, &formats.Error{At: s.Path, Op: "undo", Err: formats.Cause(err)}
				}
			}
			done = append(done, formats.Undone{Key: s.Path})
		}
	}
	if !u.DryRun {
		RemoveEmpty(r.Folders)
	}
	return done, nil
}

// plan returns what to do with the files of a session, its own first: without that, the
// client does not look for the others. It also returns which of them cannot be undone.
func (u *Undoer) plan(family []undo.File) (steps []undoStep, kept []formats.Undone, err error) {
	for _, f := range slices.Backward(family) {
		do, why, err := u.judge(&f)
		if err != nil {
			return nil, nil, &formats.Error{At: f.Path, Err: formats.Cause(err)}
		}
		if why != "" {
			kept = append(kept, formats.Undone{Key: f.Path, Kept: why})
		}
		steps = append(steps, undoStep{f, do})
	}
	return steps, kept, nil
}

// undoStep makes a file as it was.
type undoStep struct {
	undo.File
	do func(undo.File) error // nil: it is
}

// run makes the file as it was, and removes what a killed run left beside it.
func (s *undoStep) run() error {
	if s.do != nil {
		return s.do(s.File)
	}
	if at, err := stage.Resolve(s.Path); err == nil && (s.Folder || s.Before != "") {
		stage.Sweep(func(string) {}, at)
	}
	return nil
}

// judge returns what makes a file as it was, or why nothing can. A link is followed, unless
// the file is to be removed.
func (u *Undoer) judge(f *undo.File) (do func(undo.File) error, kept string, err error) {
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
		return u.restore, "", nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, "it no longer exists", nil
	case err != nil:
		return nil, "", err
	case info.IsDir() != f.Folder || !f.Folder && !info.Mode().IsRegular():
		return nil, ChangedSince, nil
	}
	var is string
	if f.Tree {
		is, err = fsx.DigestTree(f.Path)
	} else {
		is, err = u.State(f)
	}
	switch {
	case err != nil:
		return nil, "", err
	case f.Before != "" && is == f.Before:
		return nil, "", nil
	case is != f.After:
		return nil, ChangedSince, nil
	}
	if f.Folder && u.InUse != nil && u.InUse(f.Path) {
		return nil, "in use: the client has it open", nil
	}
	switch {
	case f.Before == "":
		return removeWritten, "", nil
	case f.Kept != "":
		if _, err := os.Lstat(filepath.Join(u.Dir, f.Kept)); err == nil {
			return u.restore, "", nil
		}
	case !f.Folder:
		sum := sha256.New()
		if err := copyStart(sum, f.Path, f.Size); err != nil {
			return nil, "", err
		}
		if hex.EncodeToString(sum.Sum(nil)) != f.Before {
			break
		}
		if u.Taken != nil {
			if is, err := u.Taken(f); err != nil || is {
				return nil, "its client has opened it, and shows what was added from a database of its own", err
			}
		}
		return cutAppended, "", nil
	}
	return nil, "its earlier state was not kept", nil
}

// ChangedSince says why what was written stays.
const ChangedSince = "changed since, by its client or a later migration"

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

// restore puts back what was replaced or removed.
func (u *Undoer) restore(f undo.File) error {
	return replaceBeside(f, func(staged string) error {
		if err := fsx.CopyTree(filepath.Join(u.Dir, f.Kept), staged, false); err != nil {
			return err
		}
		return (&Tx{}).Do([]*Step{{File: f, Staged: staged, Replaces: f.After != ""}})
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
		if err := errors.Join(copyStart(out, f.Path, f.Size), out.Chmod(info.Mode().Perm()), out.Close()); err != nil {
			return err
		}
		return (&Tx{}).Do([]*Step{{File: f, Staged: staged, Replaces: true}})
	})
}

// replaceBeside changes the name of a file with the help of a path in a private folder
// beside it.
func replaceBeside(f undo.File, change func(staged string) error) error {
	staged, remove, err := stage.Beside(f.Path)
	if err != nil {
		return err
	}
	if err = change(staged); err == nil {
		err = stage.SyncFolder(filepath.Dir(f.Path))
	}
	return errors.Join(err, remove())
}

package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"rehome/convert/internal/stage"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/internal/fsx"
)

// maxKept is how many bytes of replaced files an undo record keeps.
const maxKept = 256 << 20

// moved reports whether a file was renamed for a family.
func (p *plannedFamily) moved() bool { return p.rep.Status == Placed || p.rep.Status == Updated }

// record writes the undo record of what will be renamed. It is nil if there is nothing to
// rename, or no folder for records.
func (m *migration) record(ctx context.Context, plans []*plannedFamily) (*undo.Log, error) {
	plans = slices.DeleteFunc(slices.Clone(plans), func(p *plannedFamily) bool { return len(p.todo) == 0 || p.err != nil })
	if len(plans) == 0 || m.o.DryRun || m.o.UndoDir == "" {
		return nil, nil
	}
	first := &plans[0].rep
	r := undo.Record{Made: m.o.now(), Format: m.to.Name, Store: first.File, Session: first.Session, Title: first.Title}
	if len(plans) > 1 {
		r.Store = filepath.Join(m.o.Dir, m.to.Home.Folder)
	}
	log, err := undo.Folder{Dir: m.o.UndoDir}.Begin(r)
	if err != nil {
		return nil, err
	}
	for _, p := range plans {
		if err == nil {
			err = m.recordFamily(ctx, log, p)
		}
	}
	if err == nil {
		m.recordCopies(log, plans...)
		err = log.Save(nil)
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return log, nil
}

// recordCopies records from which sessions others are made. Without that they are known by
// their ids, as far as no earlier copy is missing.
func (m *migration) recordCopies(log *undo.Log, plans ...*plannedFamily) {
	var list []undo.Copy
	for _, p := range plans {
		list = append(list, undo.Copy{Format: m.to.Name, Session: p.rep.Session, Of: p.rep.ID})
	}
	if err := log.Copied(list); err != nil {
		m.notify.Say("cannot record which session this is a copy of: " + err.Error())
	}
}

// recordFamily adds the files of a family to a record, and keeps those that they replace.
func (m *migration) recordFamily(ctx context.Context, log *undo.Log, p *plannedFamily) error {
	for _, f := range p.todo {
		u := undo.File{Path: f.path, Folder: f.folder}
		if f.path != p.rep.File {
			u.Of = p.rep.File
		}
		var err error
		if u.After, err = stateOf(ctx, m.to, f.staged, f.folder); err != nil {
			return err
		}
		if f.replaces {
			if err := m.keepOld(ctx, log, &u); err != nil {
				return err
			}
		}
		for dir := filepath.Dir(f.path); !slices.Contains(log.Record.Folders, dir); dir = filepath.Dir(dir) {
			if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
				break
			}
			log.Record.Folders = append(log.Record.Folders, dir)
		}
		log.Record.Files = append(log.Record.Files, u)
	}
	slices.Sort(log.Record.Folders)
	return nil
}

// removeEmpty removes the folders that nothing is in, of a list with the outermost first.
func removeEmpty(folders []string) {
	for _, dir := range slices.Backward(folders) {
		_ = os.Remove(dir) // unless something is there
	}
}

// stateOf returns what tells a file, or the conversation in a folder, from all others.
func stateOf(ctx context.Context, f *formats.Format, path string, folder bool) (string, error) {
	if folder {
		return f.Writer.State(ctx, path)
	}
	return fsx.Digest(path)
}

// keepOld puts the old file or folder into the record, unless it is too large.
func (m *migration) keepOld(ctx context.Context, log *undo.Log, u *undo.File) error {
	dir, err := log.Dir()
	if err != nil {
		return err
	}
	size, err := sizeOf(dir, u.Path)
	if err != nil {
		return err
	}
	if size > maxKept {
		m.notify.Say(fmt.Sprintf("%s: its earlier state is too large to keep; rehome undo cannot restore it", u.Path))
		u.Before, err = stateOf(ctx, m.to, u.Path, u.Folder)
		return err
	}
	u.Kept = "old-" + strconv.Itoa(len(log.Record.Files)+1)
	kept := filepath.Join(dir, u.Kept)
	if u.Folder {
		if err = copyFolder(u.Path, kept); err == nil {
			err = stage.SyncTree(kept)
		}
	} else {
		err = linkOrCopy(u.Path, kept)
	}
	if err == nil {
		u.Before, err = stateOf(ctx, m.to, kept, u.Folder)
	}
	return err
}

// linkOrCopy gives a file a second name, or makes a copy where it cannot have one.
func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	return copyPrivate(from, to)
}

// copyPrivate makes a private copy of a file, with its time of modification.
func copyPrivate(from, to string) error {
	info, err := os.Stat(from)
	if err == nil {
		err = fsx.Copy(from, to, 0o600)
	}
	if err == nil {
		err = os.Chtimes(to, info.ModTime(), info.ModTime())
	}
	return err
}

// copyFolder makes a private copy of a folder.
func copyFolder(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(to, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.Chmod(path, 0o700)
		case e.Type().IsRegular():
			return os.Chmod(path, 0o600)
		}
		return nil
	})
}

// sizeOf returns how many bytes all files below several paths have.
func sizeOf(paths ...string) (size int64, err error) {
	for _, path := range paths {
		err = errors.Join(err, filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			if err == nil {
				size += info.Size()
			}
			return err
		}))
	}
	return size, err
}

// conclude takes what was not renamed out of a record, which goes away if nothing was.
func (m *migration) conclude(log *undo.Log, plans []*plannedFamily) error {
	moved := map[string]*Migrated{}
	for _, p := range plans {
		if p.moved() {
			moved[p.rep.File] = &p.rep
		}
	}
	r := &log.Record
	all := len(r.Files)
	r.Files = slices.DeleteFunc(r.Files, func(f undo.File) bool { return moved[f.Family()] == nil })
	switch len(r.Files) {
	case all:
		return nil
	case 0:
		removeEmpty(r.Folders)
		return undo.Folder{Dir: m.o.UndoDir}.Remove(r.ID)
	}
	first := moved[r.Files[0].Family()]
	r.Session, r.Title = first.Session, first.Title
	return log.Rewrite()
}

package filetx

import (
	"errors"
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

// Begin writes the undo record of steps, with what they replace or remove. Whoever calls it
// calls End.
func (t *Tx) Begin(folder undo.Folder, r undo.Record, steps []*Step) error {
	log, err := folder.Begin(r)
	if err != nil {
		return err
	}
	for _, s := range steps {
		if err == nil {
			err = t.record(log, s)
		}
	}
	slices.Sort(log.Record.Folders)
	if err == nil {
		err = log.Save(nil)
	}
	if err != nil {
		return errors.Join(err, log.Close())
	}
	t.Log, t.folder, t.steps = log, folder, steps
	return nil
}

// record adds a step to the record.
func (t *Tx) record(log *undo.Log, s *Step) (err error) {
	r := &log.Record
	if s.Staged != "" {
		if s.After, err = s.state(s.Staged); err != nil {
			return err
		}
	}
	if s.Replaces && !s.Appended {
		if err := t.keep(log, s); err != nil {
			return err
		}
	}
	for dir := filepath.Dir(s.Path); !slices.Contains(r.Folders, dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		r.Folders = append(r.Folders, dir)
	}
	r.Files = append(r.Files, s.File)
	return nil
}

func (s *Step) state(path string) (string, error) {
	if s.State == nil {
		return fsx.DigestTree(path)
	}
	return s.State(path)
}

// keep puts what a step replaces or removes into the record, unless it is too large.
func (t *Tx) keep(log *undo.Log, s *Step) error {
	dir, err := log.Dir()
	if err != nil {
		return err
	}
	at := s.Path
	if t.MaxKept > 0 && fsx.SizeOf(dir)+fsx.SizeOf(s.Path) > t.MaxKept {
		t.Say(s.Path + ": its earlier state is too large to keep; rehome undo cannot restore it")
	} else {
		s.Kept = "old-" + strconv.Itoa(len(log.Record.Files)+1)
		at = filepath.Join(dir, s.Kept)
		link := !s.Folder || s.Staged == "" // a client writes into a folder until it is replaced
		if err := errors.Join(fsx.CopyTree(s.Path, at, link), stage.SyncTree(at)); err != nil {
			return err
		}
	}
	is, err := s.state(at)
	if err == nil && s.Before != "" && is != s.Before {
		err = formats.Changed("", s.Path)
	}
	s.Before = is
	return err
}

// End takes the steps that were not made out of the record, which goes away if none was: then
// its ID is 0. If amend is not nil, it completes the record.
func (t *Tx) End(amend func(*undo.Record)) error {
	err := t.sync()
	if t.Log == nil {
		return err
	}
	r := &t.Log.Record
	all, done := len(r.Files), map[string]bool{}
	for _, s := range t.steps {
		done[s.Path] = s.Done
	}
	r.Files = slices.DeleteFunc(r.Files, func(f undo.File) bool { return !done[f.Path] })
	switch {
	case len(r.Files) == 0 && all > 0:
		RemoveEmpty(r.Folders)
		err = errors.Join(err, t.folder.Remove(r.ID))
		r.ID = 0
	case amend != nil:
		amend(r)
		err = errors.Join(err, t.Log.Rewrite())
	case len(r.Files) < all:
		err = errors.Join(err, t.Log.Rewrite())
	}
	return errors.Join(err, t.Log.Close())
}

// RemoveEmpty removes the folders in which there is nothing, of a list with the outermost
// first.
func RemoveEmpty(folders []string) {
	for _, dir := range slices.Backward(folders) {
		_ = os.Remove(dir) // unless something is there
	}
}

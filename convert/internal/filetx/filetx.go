// Package filetx changes the files of a client in transactions. It puts what was staged in
// its place, over what is there or not, and removes what is to go.
//
// An undo record of all steps, with what they replace or remove, is on disk before the first
// one is made: it is the journal, from which a killed run is undone. The steps of a family,
// such as a session with its subagents, are made in their order. If one fails, those before it
// are taken back.
package filetx

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"rehome/convert/internal/stage"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/internal/fsx"
)

// Step puts a staged file or folder in its place, or removes what is there.
type Step struct {
	undo.File // Begin sets After and Kept, and Before unless it must be a certain state

	Staged   string                            // path of what is placed; "" = what is there is removed
	Replaces bool                              // something is there
	Appended bool                              // which is the first Size bytes of what is staged, so it is not kept
	Optional bool                              // if another program places a file there meanwhile, that one stays
	State    func(path string) (string, error) // what Before and After are; nil = fsx.DigestTree
	Ready    func() error                      // called right before; its error stops the step; may be nil

	Done bool // it was made

	removed string // where what it removes is until its family is complete
	cleanup func() error
}

// Tx is a transaction.
type Tx struct {
	Move, Replace func(from, to string) error // nil = those of package fsx
	Synced        bool                        // everything staged is on disk
	MaxKept       int64                       // max bytes of replaced files that the record keeps; 0 = no limit
	Say           func(string)                // told what is not kept; may be nil without MaxKept

	Log      *undo.Log // nil = there is no record
	folder   undo.Folder
	steps    []*Step
	unsynced map[string]bool // folders in which names changed
}

// Do makes the steps of a family in their order. Before the last one, the others are on disk.
func (t *Tx) Do(family []*Step) error {
	for i, s := range family {
		last := i == len(family)-1
		var err error
		if i > 0 && last {
			err = t.sync()
		}
		if err == nil {
			err = t.do(s, last)
		}
		if err != nil {
			for _, s := range slices.Backward(family[:i+1]) {
				err = errors.Join(err, s.takeBack())
			}
			return err
		}
	}
	var err error
	for _, s := range family {
		err = errors.Join(err, s.complete())
	}
	return err
}

// do makes a step. Nothing can fail after the last one, so what it replaces is not put aside.
func (t *Tx) do(s *Step, last bool) error {
	if s.Ready != nil {
		if err := s.Ready(); err != nil {
			return err
		}
	}
	if s.Staged == "" {
		return s.remove()
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		return Blocked(s.Path, err)
	}
	if !t.Synced {
		if err := stage.SyncTree(s.Staged); err != nil {
			return err
		}
	}
	if s.Replaces && !s.Folder && !last {
		if err := fsx.CopyTree(s.Path, s.aside(), true); err != nil {
			return err
		}
	}
	if err := t.rename(s); err != nil || !s.Done {
		return err
	}
	t.changed(s.Path)
	return nil
}

// rename gives what is staged its name.
func (t *Tx) rename(s *Step) error {
	if s.Replaces {
		if err := or(t.Replace, fsx.Replace)(s.Staged, s.Path); err != nil {
			return Blocked(s.Path, err)
		}
		s.Done = true
		return nil
	}
	err := or(t.Move, fsx.Move)(s.Staged, s.Path)
	switch {
	case err == nil:
		s.Done = true
		return nil
	case !errors.Is(err, fs.ErrExist):
		return Blocked(s.Path, err)
	case s.Optional || fsx.SameTree(s.Staged, s.Path):
		return nil
	}
	return &formats.Error{At: s.Path, Err: stage.ErrAppeared, Hint: "it was not touched: run it again"}
}

func or(f, otherwise func(from, to string) error) func(from, to string) error {
	if f == nil {
		return otherwise
	}
	return f
}

// aside is where a file that is replaced stays until its family is complete. A folder changes
// places with the staged one.
func (s *Step) aside() string {
	if s.Folder {
		return s.Staged
	}
	return s.Staged + ".was"
}

// remove makes a file or folder vanish at once. It is kept aside until its family is complete.
func (s *Step) remove() error {
	aside, cleanup, err := stage.Beside(s.Path)
	if err != nil {
		return err
	}
	if err := os.Rename(s.Path, aside); err != nil {
		return errors.Join(s.notRemoved(err), cleanup())
	}
	s.Done, s.removed, s.cleanup = true, aside, cleanup
	return stage.SyncFolder(filepath.Dir(s.Path))
}

func (s *Step) notRemoved(err error) error {
	return &formats.Error{At: s.Path, Op: "remove", Err: formats.Cause(err), Hint: "the rest stays: run it again"}
}

// complete deletes what a step removed, and its folder if nothing is left in it.
func (s *Step) complete() error {
	if s.cleanup == nil {
		return nil
	}
	err := s.cleanup()
	s.cleanup = nil
	if err != nil {
		return s.notRemoved(err)
	}
	_ = os.Remove(filepath.Dir(s.Path)) // unless something is there
	return nil
}

// takeBack undoes a step.
func (s *Step) takeBack() error {
	if !s.Done {
		return nil
	}
	var err error
	switch {
	case s.Staged == "":
		err = fsx.Move(s.removed, s.Path)
	case s.Replaces:
		err = fsx.Replace(s.aside(), s.Path)
	default:
		err = os.RemoveAll(s.Path)
	}
	if err != nil {
		return &formats.Error{At: s.Path, Op: "restore", Err: formats.Cause(err), Hint: "run `rehome undo`"}
	}
	s.Done = false
	if s.cleanup != nil {
		return s.cleanup()
	}
	return nil
}

func (t *Tx) changed(path string) {
	if t.unsynced == nil {
		t.unsynced = map[string]bool{}
	}
	t.unsynced[filepath.Dir(path)] = true
}

// sync syncs the folders in which names changed to disk.
func (t *Tx) sync() error {
	var errs []error
	for _, dir := range slices.Sorted(maps.Keys(t.unsynced)) {
		errs = append(errs, stage.SyncFolder(dir))
	}
	clear(t.unsynced)
	return errors.Join(errs...)
}

// CheckFolders returns an error if a file is where a path needs a folder.
func CheckFolders(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return &formats.Error{At: dir, Err: stage.ErrNotFolder, Hint: "move this file away: the client needs a folder there"}
		}
		if err == nil || dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// Blocked returns why nothing can be written at a path.
func Blocked(path string, err error) error {
	if why := CheckFolders(path); why != nil {
		return why
	}
	return &formats.Error{At: path, Err: formats.Cause(err), Hint: "make this path writable, and try again"}
}

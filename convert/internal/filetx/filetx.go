// Package filetx changes the files of a client in transactions. It puts what was staged in
// its place, over what is there or not, and removes what is to go.
//
// An undo record of all steps, with what they replace or remove, is on disk before the first
// one is made: it is the journal, from which a killed run is undone. The steps of a family,
// such as a session with its subagents, are made in their order. If one fails, the files and
// folders that those before it placed are taken back.
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
			for _, s := range slices.Backward(family[:i]) {
				err = errors.Join(err, s.takeBack())
			}
			return err
		}
	}
	return nil
}

// do makes a step. Nothing can fail after the last one, so what it replaces is not put aside.
func (t *Tx) do(s *Step, last bool) error {
	if s.Ready != nil {
		if err := s.Ready(); err != nil {
			return err
		}
	}
	if s.Staged == "" {
		return t.remove(s)
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

// remove makes a file or folder vanish at once.
func (t *Tx) remove(s *Step) error {
	at, err := stage.Resolve(s.Path)
	if err != nil {
		return err
	}
	stage.Sweep(func(string) {}, at)
	private, err := stage.New(at)
	if err != nil {
		return err
	}
	if err = os.Rename(s.Path, filepath.Join(private.Tree, "old")); err == nil {
		s.Done = true
		err = stage.SyncFolder(filepath.Dir(s.Path))
	}
	if err = errors.Join(err, private.Remove()); err != nil {
		return &formats.Error{At: s.Path, Op: "remove", Err: formats.Cause(err), Hint: "the rest stays: run it again"}
	}
	_ = os.Remove(filepath.Dir(s.Path)) // unless something is there
	return nil
}

// takeBack undoes a step, unless it removed something: that is in the record.
func (s *Step) takeBack() error {
	if !s.Done || s.Staged == "" {
		return nil
	}
	var err error
	if s.Replaces {
		err = fsx.Replace(s.aside(), s.Path)
	} else {
		err = os.RemoveAll(s.Path)
	}
	if err != nil {
		return &formats.Error{At: s.Path, Op: "restore", Err: formats.Cause(err), Hint: "run `rehome undo`"}
	}
	s.Done = false
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

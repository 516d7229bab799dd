package mv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rehome/convert/internal/filetx"
	"rehome/convert/internal/stage"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/fsx"
)

// Remove removes the originals of what Move copied, as far as they are as they were then
// and their copies exist. They are kept in an undo record.
func Remove(ctx context.Context, reg *formats.Registry, o Options) (*Report, error) {
	mv, out, err := o.folders()
	if err != nil {
		return nil, err
	}
	out.Remove = true
	folder := undo.Folder{Dir: o.UndoDir}
	list, err := folder.List()
	if err != nil {
		return nil, err
	}
	x := &remover{Options: &o, out: out, seen: map[string]bool{}}
	for i := range list {
		r := &list[i]
		if r.Moved == nil || !r.Moved.Placed || r.Moved.New != mv.New || !slices.Contains(append(mv.Old, out.Old), r.Moved.Old) {
			continue
		}
		f := reg.Lookup(r.Format)
		if f == nil || !o.wants(f) {
			continue
		}
		if x.found = true; r.Refiled > 0 {
			if slices.ContainsFunc(out.Left, func(l Left) bool { return l.Path == r.Store }) {
				continue // a killed run left a record, too
			}
			out.Left = append(out.Left, Left{Client: clientOf(f), Path: r.Store, Why: fmt.Sprintf("its sessions were changed in place, so there are no originals; sessions: %d", r.Refiled)})
			continue
		}
		if err := x.record(ctx, folder, f, r); err != nil {
			return out, err
		}
	}
	if !x.found {
		return out, &formats.Error{At: out.Old, Err: errors.New("no sessions of this folder were moved to " + out.New), Hint: "run `rehome mv OLD NEW` first: only what it copied is removed"}
	}
	return out, nil
}

type remover struct {
	*Options
	out   *Report
	found bool
	seen  map[string]bool // paths of originals
}

// record removes the originals that one record of a move names.
func (x *remover) record(ctx context.Context, folder undo.Folder, f *formats.Format, of *undo.Record) (err error) {
	var todo []undo.Source
	for _, s := range of.Moved.Sources {
		if at, err := stage.Resolve(s.Path); err == nil && !x.DryRun {
			stage.Sweep(x.say, at)
		}
	}
	for _, family := range of.Moved.Families() {
		own := family[len(family)-1]
		if x.seen[own.Path] {
			continue
		}
		x.seen[own.Path] = true
		family = slices.DeleteFunc(slices.Clone(family), func(s undo.Source) bool { // removed already
			_, err := os.Lstat(s.Path)
			return errors.Is(err, fs.ErrNotExist)
		})
		if len(family) == 0 {
			if !x.DryRun {
				_ = os.Remove(filepath.Dir(own.Path)) // a killed run did not come to that
			}
			continue
		}
		s := Session{Client: clientOf(f), ID: own.ID, Title: own.Title, From: own.Path, To: own.To, Status: Planned}
		if err := removable(ctx, f, family); err != nil {
			s.fail(err)
		} else {
			todo = append(todo, family...)
		}
		x.out.Sessions = append(x.out.Sessions, s)
	}
	if x.DryRun || len(todo) == 0 {
		return nil
	}
	return x.remove(ctx, folder, f, todo, undo.Record{Made: undo.Made(x.Now), Format: f.Name, Store: of.Store, Session: of.Session, Title: of.Title,
		Moved: &undo.Moved{Old: of.Moved.Old, New: of.Moved.New, Removed: true, Sources: todo}})
}

// removable returns why the originals of a session stay, nil if they need not.
func removable(ctx context.Context, f *formats.Format, family []undo.Source) error {
	for _, s := range family {
		if err := unchanged(f, s); err != nil {
			return err
		}
		if err := holds(ctx, f, s); err != nil {
			return &formats.Error{At: s.To, Err: formats.Cause(err), Hint: "the original stays: run `rehome mv OLD NEW` again, or compare the two with `rehome diff`"}
		}
	}
	return nil
}

// unchanged returns an error if an original is not as it was when it was copied, or in use.
func unchanged(f *formats.Format, s undo.Source) error {
	if f.Mover != nil && f.Mover.InUse != nil {
		err := filepath.WalkDir(s.Path, func(at string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				err = f.Mover.InUse(at)
			}
			return err
		})
		if errors.Is(err, formats.ErrBusy) {
			return err
		}
	}
	now, err := fsx.DigestTree(s.Path)
	if err == nil && now != s.Digest {
		err = errors.New("changed since it was copied")
	}
	if err != nil {
		return &formats.Error{At: s.Path, Err: formats.Cause(err), Hint: "it stays: somebody continued it at the old place"}
	}
	return nil
}

// holds returns an error unless the copy of an original has each of its sessions, with as
// many messages or more: people have continued it since.
func holds(ctx context.Context, f *formats.Format, s undo.Source) error {
	was, err := os.Lstat(s.Path)
	if err != nil {
		return err
	}
	is, err := os.Stat(s.To)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the copy is no longer there")
	case err != nil:
		return err
	case is.IsDir() != was.IsDir() || was.Size() > 0 && is.Size() == 0 && !is.IsDir():
		return errors.New("the copy is no longer what it was")
	case s.ID == "" || s.Of != "" || f.Sessions == nil:
		return nil
	}
	old, err := messages(ctx, f, s.Path)
	if err != nil {
		return err
	}
	now, err := messages(ctx, f, s.To)
	for id, n := range old {
		if err == nil && now[id] < n {
			err = fmt.Errorf("the copy of session %s has fewer messages than the original: %d of %d", id, now[id], n)
		}
	}
	return err
}

// messages counts the messages of each session of a store, as far as they can be read.
func messages(ctx context.Context, f *formats.Format, path string) (map[string]int, error) {
	l, err := formats.Locate(path)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for s, err := range f.Sessions.Decode(ctx, l, formats.FullView(1), session.Selection{History: true}) {
		if err != nil {
			continue // what cannot be read in both is not compared
		}
		if out[s.ID] += 0; s.Messages == nil {
			continue
		}
		for _, err := range s.Messages {
			if err == nil {
				out[s.ID]++
			}
		}
	}
	return out, ctx.Err()
}

// remove removes originals after an undo record with all of them is on disk, the session's own
// file first: without that, its client does not look for the others.
func (x *remover) remove(ctx context.Context, folder undo.Folder, f *formats.Format, todo []undo.Source, r undo.Record) (err error) {
	tx, of, all := &filetx.Tx{}, map[string][]*filetx.Step{}, []*filetx.Step(nil)
	for _, family := range (&undo.Moved{Sources: todo}).Families() {
		own := family[len(family)-1].Path
		for _, s := range family {
			info, err := os.Lstat(s.Path)
			if err != nil {
				return err
			}
			step := &filetx.Step{File: undo.File{Path: s.Path, Folder: info.IsDir(), Tree: true, Before: s.Digest}, Replaces: true}
			step.Ready = func() error { return errors.Join(ctx.Err(), unchanged(f, s)) } // since it was kept
			if s.Path != own {
				step.Of = own
			}
			all, of[own] = append(all, step), append([]*filetx.Step{step}, of[own]...)
		}
	}
	err = ctx.Err()
	if err == nil {
		err = tx.Begin(folder, r, all)
	}
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, tx.End(nil))
		if id := tx.Log.Record.ID; id != 0 {
			x.out.Undo = append(x.out.Undo, id)
		}
	}()
	for i := range x.out.Sessions {
		s := &x.out.Sessions[i]
		if steps := of[s.From]; s.Status == Planned && len(steps) > 0 {
			if err := tx.Do(steps); err != nil {
				return err
			}
			s.Status = Removed
		}
	}
	return nil
}

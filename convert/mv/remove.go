package mv

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
	for _, family := range families(of.Moved.Sources) {
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
	log, err := folder.Begin(undo.Record{Made: x.now(), Format: f.Name, Store: of.Store, Session: of.Session, Title: of.Title,
		Moved: &undo.Moved{Old: of.Moved.Old, New: of.Moved.New, Removed: true}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for _, family := range families(todo) {
		for _, s := range family {
			if err := errors.Join(ctx.Err(), keep(log, s, family[len(family)-1].Path)); err != nil {
				return err
			}
		}
	}
	if err := log.Save(nil); err != nil {
		return err
	}
	x.out.Undo = append(x.out.Undo, log.Record.ID)
	return x.remove(ctx, f, todo)
}

// families splits the originals into those of each session.
func families(list []undo.Source) (out [][]undo.Source) {
	for i, s := range list {
		if i == 0 || s.Family() != list[i-1].Family() {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], s)
	}
	return out
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

// keep puts an original of the session at a path into the undo record.
func keep(log *undo.Log, s undo.Source, of string) error {
	dir, err := log.Dir()
	if err != nil {
		return err
	}
	info, err := os.Lstat(s.Path)
	if err != nil {
		return err
	}
	r := &log.Record
	f := undo.File{Path: s.Path, Folder: info.IsDir(), Tree: true, Before: s.Digest, Kept: "old-" + strconv.Itoa(len(r.Files)+1)}
	if of != s.Path {
		f.Of = of
	}
	kept := filepath.Join(dir, f.Kept)
	if err := fsx.CopyTree(s.Path, kept, true); err != nil {
		return err
	}
	if now, err := fsx.DigestTree(kept); err != nil || now != s.Digest {
		return errors.Join(err, formats.Changed("", s.Path))
	}
	r.Files, r.Moved.Sources = append(r.Files, f), append(r.Moved.Sources, s)
	return stage.SyncTree(kept)
}

// remove removes originals that were kept, the session's own file first: without that, its
// client does not look for the others.
func (x *remover) remove(ctx context.Context, f *formats.Format, todo []undo.Source) error {
	for _, family := range families(todo) {
		for _, s := range slices.Backward(family) {
			if err := errors.Join(ctx.Err(), unchanged(f, s)); err != nil {
				return err // since it was kept
			}
			if err := removeTree(s.Path); err != nil {
				return &formats.Error{At: s.Path, Op: "remove", Err: formats.Cause(err), Hint: "the rest stays: run it again"}
			}
			_ = os.Remove(filepath.Dir(s.Path)) // unless something is there
		}
		own := family[len(family)-1]
		for i := range x.out.Sessions {
			if s := &x.out.Sessions[i]; s.From == own.Path {
				s.Status = Removed
			}
		}
	}
	return nil
}

// removeTree removes a file or folder, which vanishes at once.
func removeTree(path string) error {
	at, err := stage.Resolve(path)
	if err != nil {
		return err
	}
	stage.Sweep(func(string) {}, at)
	s, err := stage.New(at)
	if err != nil {
		return err
	}
	err = os.Rename(path, filepath.Join(s.Tree, "old"))
	if err == nil {
		err = stage.SyncFolder(filepath.Dir(path))
	}
	return errors.Join(err, s.Remove())
}

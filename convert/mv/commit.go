package mv

import (
	"context"
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

// commit puts the copies in their places, after an undo record of them is on disk. A store
// to which agents are added has a record of its own.
func (m *mover) commit(ctx context.Context) error {
	var todo []*family
	for _, f := range m.families {
		unknown := func(p *piece) bool { return !p.known && !p.adds } // Remove goes by the records
		if f.err == nil && (f.Status == Planned || slices.ContainsFunc(f.pieces, unknown)) {
			todo = append(todo, f)
		}
	}
	if m.DryRun || len(todo) == 0 {
		return nil
	}
	for _, s := range m.staging {
		if err := stage.SyncTree(s.Tree); err != nil {
			return err
		}
	}
	adds := func(f *family) bool { return f.pieces[0].adds }
	for _, f := range todo {
		if adds(f) {
			if f.err = m.merge(ctx, f); f.err == nil {
				f.Status = Moved
			}
		}
	}
	if todo = slices.DeleteFunc(todo, adds); len(todo) == 0 {
		return nil
	}
	return m.placeAll(ctx, todo)
}

// merge adds the agents of a store to the one at the new place.
func (m *mover) merge(ctx context.Context, f *family) (err error) {
	p := f.pieces[0]
	if err := p.unchanged(); err != nil {
		return err
	}
	r := m.record([]*family{f})
	r.Store, r.Files, r.Folders = p.To, nil, nil
	log, err := undo.Folder{Dir: m.UndoDir}.Begin(r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	_, err = m.add(ctx, p, log)
	if log.Saved {
		m.out.Undo = append(m.out.Undo, log.Record.ID)
		if log.Record.Moved.Placed = err == nil; err == nil {
			err = log.Rewrite()
		}
	}
	return err
}

// placeAll renames the copies of families into their places.
func (m *mover) placeAll(ctx context.Context, todo []*family) (err error) {
	log, err := undo.Folder{Dir: m.UndoDir}.Begin(m.record(todo))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for i := range log.Record.Files {
		if err := keepChanged(log, &log.Record.Files[i]); err != nil {
			return err
		}
	}
	if err := log.Save(nil); err != nil {
		return err
	}
	if len(log.Record.Files) > 0 {
		m.out.Undo = append(m.out.Undo, log.Record.ID)
	}
	for _, f := range todo {
		if f.err = ctx.Err(); f.err == nil {
			f.err = f.place()
		}
		if f.err == nil && f.Status == Planned {
			f.Status = Moved
		}
	}
	return m.conclude(log, todo)
}

// keepChanged puts a file that is changed in place into the record.
func keepChanged(log *undo.Log, f *undo.File) error {
	if f.Before == "" {
		return nil
	}
	dir, err := log.Dir()
	if err != nil {
		return err
	}
	f.Kept = "old-" + strconv.Itoa(slices.IndexFunc(log.Record.Files, func(o undo.File) bool { return o.Path == f.Path }))
	return fsx.CopyTree(f.Path, filepath.Join(dir, f.Kept), true)
}

// record returns the undo record of what will be put in its place.
func (m *mover) record(todo []*family) undo.Record {
	first := todo[0]
	r := undo.Record{Made: m.now(), Format: m.f.Name, Store: first.pieces[0].Root, Session: first.name(), Title: first.Title,
		Moved: &undo.Moved{Old: m.out.Old, New: m.out.New}}
	for _, f := range todo {
		for _, p := range f.pieces {
			after, _ := fsx.DigestTree(p.staged) // "" is never undone
			if p.InPlace && p.there {
				continue
			}
			if p.InPlace {
				r.Files = append(r.Files, undo.File{Path: p.To, Of: p.Of, Folder: p.Folder, Tree: true, Before: p.digest, After: after})
				continue
			}
			r.Moved.Sources = append(r.Moved.Sources, undo.Source{Path: p.From, Digest: p.digest, To: p.To, Of: p.Of, ID: p.ID, Title: f.Title})
			if p.there {
				continue
			}
			r.Files = append(r.Files, undo.File{Path: p.To, Of: p.Of, Folder: p.Folder, Tree: true, After: after})
			for dir := filepath.Dir(p.To); !slices.Contains(r.Folders, dir); dir = filepath.Dir(dir) {
				if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
					break
				}
				r.Folders = append(r.Folders, dir)
			}
		}
	}
	slices.Sort(r.Folders)
	return r
}

// name returns what a family is called.
func (s *Session) name() string {
	if s.ID != "" {
		return s.ID
	}
	return filepath.Base(s.From)
}

// replace puts a copy over its original, which is kept at was.
func (p *piece) replace() error {
	if !p.Folder { // folders change places
		if err := fsx.CopyTree(p.To, p.was(), true); err != nil {
			return err
		}
	}
	return fsx.Replace(p.staged, p.To)
}

// was returns the path of the original that replace put a copy over.
func (p *piece) was() string {
	if p.Folder {
		return p.staged
	}
	return p.staged + ".was"
}

// place renames the copies of a family, its own last. If one fails, the others are taken back.
func (f *family) place() error {
	var err error
	var done []*piece
	for _, p := range f.pieces {
		if p.there {
			continue
		}
		if err = p.unchanged(); err == nil {
			err = os.MkdirAll(filepath.Dir(p.To), 0o700)
		}
		if err == nil && p.InPlace {
			err = p.replace()
		} else if err == nil {
			err = fsx.Move(p.staged, p.To)
		}
		if err != nil {
			break
		}
		done = append(done, p)
		if err = stage.SyncFolder(filepath.Dir(p.To)); err != nil {
			break
		}
	}
	if err == nil {
		return nil
	}
	for _, p := range slices.Backward(done) {
		if p.InPlace {
			err = errors.Join(err, fsx.Replace(p.was(), p.To))
		} else {
			err = errors.Join(err, os.RemoveAll(p.To))
		}
	}
	if full := full(err); stage.DiskFull(err) {
		return full
	}
	return &formats.Error{At: f.To, Err: formats.Cause(err), Hint: "it was not moved: make this path writable, and try again"}
}

// conclude takes what was not put in its place out of the record.
func (m *mover) conclude(log *undo.Log, todo []*family) error {
	failed := map[string]bool{}
	for _, f := range todo {
		failed[f.To] = f.err != nil
	}
	r := &log.Record
	before := len(r.Files)
	r.Files = slices.DeleteFunc(r.Files, func(f undo.File) bool { return failed[f.Family()] })
	r.Moved.Sources = slices.DeleteFunc(r.Moved.Sources, func(s undo.Source) bool { return failed[s.Family()] })
	r.Moved.Placed = true
	if len(r.Files) == 0 && before > 0 {
		for _, dir := range slices.Backward(r.Folders) {
			_ = os.Remove(dir) // unless something is there
		}
		m.out.Undo = m.out.Undo[:len(m.out.Undo)-1]
		return undo.Folder{Dir: m.UndoDir}.Remove(r.ID)
	}
	return log.Rewrite()
}

package mv

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"rehome/convert/internal/filetx"
	"rehome/convert/internal/stage"
	"rehome/convert/internal/undo"
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
	r.Store = p.To
	log, err := undo.Folder{Dir: m.UndoDir}.Begin(r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	_, err = m.add(ctx, p, log)
	if !log.Saved {
		return err
	}
	if err != nil {
		err = errors.Join(err, log.TakeBack(ctx, m.f.Writer.Into.Undo))
	} else {
		log.Record.Moved.Placed = true
		err = log.Rewrite()
	}
	if log.Record.ID != 0 {
		m.out.Undo = append(m.out.Undo, log.Record.ID)
	}
	return err
}

// placeAll renames the copies of families into their places.
func (m *mover) placeAll(ctx context.Context, todo []*family) error {
	tx, before := &filetx.Tx{Synced: true}, len(m.out.Undo)
	of, all := map[*family][]*filetx.Step{}, []*filetx.Step(nil)
	for _, f := range todo {
		of[f] = f.steps()
		all = append(all, of[f]...)
	}
	if err := tx.Begin(undo.Folder{Dir: m.UndoDir}, m.record(todo), all); err != nil {
		return err
	}
	if len(all) > 0 {
		m.out.Undo = append(m.out.Undo, tx.Log.Record.ID)
	}
	failed := map[string]bool{}
	for _, f := range todo {
		if f.err = ctx.Err(); f.err == nil {
			f.err = full(tx.Do(of[f]))
		}
		if f.err == nil && f.Status == Planned {
			f.Status = Moved
		}
		failed[f.To] = f.err != nil
	}
	err := tx.End(func(r *undo.Record) {
		r.Moved.Sources = slices.DeleteFunc(r.Moved.Sources, func(s undo.Source) bool { return failed[s.Family()] })
		r.Moved.Placed = true
	})
	if tx.Log.Record.ID == 0 { // nothing was put in its place
		m.out.Undo = m.out.Undo[:before]
	}
	return err
}

// steps puts the copies of a family in their places, its own last.
func (f *family) steps() (out []*filetx.Step) {
	for _, p := range f.pieces {
		if p.there {
			continue
		}
		s := &filetx.Step{File: undo.File{Path: p.To, Of: p.Of, Folder: p.Folder, Tree: true}, Staged: p.staged, Ready: p.unchanged}
		if p.InPlace {
			s.Replaces, s.Before = true, p.digest
		}
		out = append(out, s)
	}
	return out
}

// record returns the undo record of what will be put in its place.
func (m *mover) record(todo []*family) undo.Record {
	first := todo[0]
	r := undo.Record{Made: undo.Made(m.Now), Format: m.f.Name, Store: first.pieces[0].Root, Session: first.name(), Title: first.Title,
		Moved: &undo.Moved{Old: m.out.Old, New: m.out.New}}
	for _, f := range todo {
		for _, p := range f.pieces {
			if !p.InPlace {
				r.Moved.Sources = append(r.Moved.Sources, undo.Source{Path: p.From, Digest: p.digest, To: p.To, Of: p.Of, ID: p.ID, Title: f.Title})
			}
		}
	}
	return r
}

// name returns what a family is called.
func (s *Session) name() string {
	if s.ID != "" {
		return s.ID
	}
	return filepath.Base(s.From)
}

package convert

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// extend adds what is new to the original in the store that its client uses. It reads the
// store again, and undoes what it cannot verify.
func (b *bringing) extend(ctx context.Context) (err error) {
	in := newInput(b.reg, b.original.Path, b.o.Dir, Options{DryRun: b.o.DryRun, Jobs: 1, OnNotice: b.o.OnNotice}, b.o.Folders)
	m := &migration{input: in, o: b.o, to: b.to}
	at, err := m.stagingTarget()
	if err != nil {
		return err
	}
	if err := m.newStage(at); err != nil {
		return err
	}
	defer m.removeStaging(m.stage)
	a := formats.Addition{From: filepath.Join(m.stage.Root, "draft"), To: b.original.Path, DryRun: b.o.DryRun}
	if a.Root, err = b.draft(ctx, a.From); err != nil {
		return err
	}
	if b.to.Writer.Join != nil {
		draft := a.From
		a.From += ".store"
		losses, err := m.createFrom(ctx, draft, a.From)
		if err != nil {
			return err
		}
		b.rep.Losses = loss.Merge(b.rep.Losses, losses)
	}
	if b.o.DryRun {
		b.rep.Status = Checked
		return b.to.Writer.Into.Extend(ctx, a)
	}
	log, err := undo.Folder{Dir: b.o.UndoDir}.Begin(undo.Record{Made: undo.Made(b.o.Now), Format: b.to.Name, Store: b.original.Path, Session: b.original.ID, Title: b.rep.Title})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	defer func() { m.takeBack(ctx, log, &b.rep, &err) }()
	a.Log = log
	if err := b.to.Writer.Into.Extend(ctx, a); err != nil {
		return err
	}
	b.rep.Status = Updated
	return b.verify(ctx, b.original)
}

// draft writes what is new as turns of the original, after its own state. It returns the
// root of that.
func (b *bringing) draft(ctx context.Context, path string) (root string, err error) {
	var drafts []*formats.Draft
	err = b.pass(ctx, b.original, func(s *session.Session) error {
		build := formats.SessionBuild{Path: path, Continues: &formats.Continuation{ID: b.original.ID, Turns: len(b.was.prompts) + b.was.beside, Graph: s.Graph}}
		if s.Graph != nil {
			id, _, err := s.Graph.Copy(ctx, nil)
			if err != nil {
				return err
			}
			root = fmt.Sprintf("%x", id)
		}
		return b.write(ctx, b.to.Writer.New(), func(*session.Session, *session.Head) (formats.SessionBuild, error) { return build, nil }, func(d *formats.Draft, _ formats.SessionBuild) error {
			drafts = append(drafts, d)
			return nil
		})
	}, func(*session.Session) error { return nil })
	b.rep.Losses = append(b.rep.Losses, b.losses.Groups()...)
	for _, d := range drafts {
		if err == nil && !d.Within {
			err = d.Verify(ctx)
		}
	}
	return root, err
}

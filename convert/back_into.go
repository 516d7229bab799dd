package convert

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// extend adds the turns after the first ones to the original, where its client keeps many
// sessions in a store. It reads the store again, and undoes what it cannot verify.
func (b *bringing) extend(ctx context.Context, common int, is outlined) (err error) {
	in := newInput(b.reg, b.original.Path, b.o.Dir, Options{DryRun: b.o.DryRun, Jobs: 1, OnNotice: b.o.OnNotice})
	m := &migration{input: in, o: b.o, to: b.to}
	at, err := m.stagingTarget()
	if err != nil {
		return err
	}
	if err := m.newStage(at); err != nil {
		return err
	}
	defer m.removeStaging(m.stage)
	draft := filepath.Join(m.stage.Root, "draft")
	if err := b.draft(ctx, draft, common); err != nil {
		return err
	}
	from := draft + ".store"
	losses, err := m.createFrom(ctx, draft, from)
	if err != nil {
		return err
	}
	b.rep.Losses = loss.Merge(b.rep.Losses, losses)
	a := formats.Addition{From: from, To: b.original.Path, Append: true, DryRun: b.o.DryRun}
	if b.o.DryRun {
		b.rep.Status = Checked
		_, err := b.to.Writer.Into.Add(ctx, a)
		return err
	}
	log, err := undo.Folder{Dir: b.o.UndoDir}.Begin(undo.Record{Made: b.now(), Format: b.to.Name, Store: b.original.Path, Session: b.original.ID, Title: b.rep.Title})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	defer func() { m.takeBack(ctx, log, &b.rep, &err) }()
	a.Log = log
	if _, err := b.to.Writer.Into.Add(ctx, a); err != nil {
		return err
	}
	b.rep.Status = Updated
	now, err := b.outline(ctx, b.original)
	if err == nil && !slices.Equal(now.prompts, is.prompts) {
		err = &formats.Error{Format: b.to.Name, Op: "verify", At: b.original.Path, Err: fmt.Errorf("%d turns were read back instead of %d", len(now.prompts), len(is.prompts)), Hint: bugHint}
	}
	return err
}

// draft writes the turns after the first ones as those of the original.
func (b *bringing) draft(ctx context.Context, path string, common int) error {
	sink := b.to.Writer.New()
	var d *formats.Draft
	var added outlined
	err := b.each(ctx, b.from, func(s *session.Session) (err error) {
		rest := *s
		rest.Files, rest.Todos, rest.Messages = nil, nil, b.after(s.Messages, common, &added)
		d, err = sink.Put(ctx, &rest, formats.SessionBuild{
			Path: path, Cwd: b.rep.Cwd, DropThinking: b.o.DropThinking, FullHistory: b.o.FullHistory, OnLoss: b.losses.Add,
			Continues: &formats.Continuation{ID: b.original.ID, Turns: common},
		})
		if family, ok := sink.(formats.FamilySink); ok && err == nil {
			err = family.Finish(ctx)
		}
		return err
	})
	b.rep.Losses = append(b.rep.Losses, b.losses.Groups()...)
	if err != nil {
		return err
	}
	return d.Verify(ctx)
}

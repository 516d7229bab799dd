package convert

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rehome/convert/internal/filetx"
	"rehome/convert/internal/stage"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/fsx"
)

// appended are the staged files of a session to which turns were appended: in the folder
// of its file, and named like it.
type appended struct {
	*bringing
	main   string
	before string // digest of the original
	size   int64  // of the original
	drafts []*formats.Draft
	steps  []*filetx.Step // for new files
}

// append appends what is new to a copy of the original, verifies it, and puts it in place
// of the original.
func (b *bringing) append(ctx context.Context) (err error) {
	a := &appended{bringing: b}
	var remove func() error
	if a.main, remove, err = stage.Beside(b.original.Path); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if a.before, a.size, err = copyHashed(b.original.Path, a.main); err != nil {
		return &formats.Error{At: b.original.Path, Err: formats.Cause(err)}
	}
	if err := b.write(ctx, b.to.Writer.New(), a.build, a.done); err != nil {
		return err
	}
	b.rep.Losses = append(b.rep.Losses, b.losses.Groups()...)
	for _, d := range a.drafts {
		if err := d.Verify(ctx); err != nil {
			return err
		}
	}
	if err := b.verify(ctx, BackSource{Path: a.main, Format: b.original.Format, ID: b.original.ID}); err != nil {
		return err
	}
	if b.o.DryRun {
		b.rep.Status = Checked
		return nil
	}
	return a.replace()
}

// build says where to write a session: a subagent to a new file in the side folder.
func (a *appended) build(s *session.Session, root *session.Head) (formats.SessionBuild, error) {
	o := formats.SessionBuild{Path: a.main, Continues: &formats.Continuation{ID: a.original.ID, Turns: len(a.was.prompts)}}
	if root == nil {
		return o, nil
	}
	up, head := a.to.Writer.Path(root), fileHead(&s.Head, root)
	rel := strings.TrimPrefix(a.to.Writer.Path(&head), strings.TrimSuffix(up, filepath.Ext(up)))
	o.Path = strings.TrimSuffix(a.main, filepath.Ext(a.main)) + filepath.FromSlash(rel)
	return o, os.MkdirAll(filepath.Dir(o.Path), 0o700)
}

// done keeps what was written of a subagent. The file that names it comes before its own.
func (a *appended) done(d *formats.Draft, o formats.SessionBuild) error {
	a.drafts = append(a.drafts, d)
	if o.Path == a.main {
		return nil
	}
	staged := []string{o.Path}
	if d.Companion != "" {
		companion := strings.TrimSuffix(o.Path, filepath.Ext(o.Path)) + d.Companion
		if err := os.Rename(o.Path+d.Companion, companion); err != nil {
			return err
		}
		staged = []string{companion, o.Path}
	}
	for _, p := range staged {
		rel, err := filepath.Rel(filepath.Dir(a.main), p)
		if err != nil {
			return err
		}
		path := filepath.Join(filepath.Dir(a.original.Path), rel)
		switch _, err := os.Lstat(path); {
		case err == nil && fsx.SameTree(p, path):
			continue // an earlier run was killed
		case !errors.Is(err, fs.ErrNotExist):
			return &formats.Error{At: path, Err: formats.ErrExists, Hint: "move it away and try again"}
		}
		a.steps = append(a.steps, &filetx.Step{File: undo.File{Path: path, Of: a.original.Path}, Staged: p})
	}
	return nil
}

// replace puts the new files in their places, and last the staged file in that of the
// original, unless that has changed.
func (a *appended) replace() error {
	path := a.original.Path
	info, err := os.Stat(path)
	if err == nil {
		err = os.Chmod(a.main, info.Mode().Perm())
	}
	if err != nil {
		return err
	}
	main := &filetx.Step{File: undo.File{Path: path, Size: a.size, Before: a.before}, Staged: a.main, Replaces: true, Appended: true}
	main.Ready = func() error {
		is, err := fsx.Digest(path)
		if err == nil && is != a.before {
			err = formats.Changed(a.to.Name, path)
		}
		return err
	}
	tx, steps := &filetx.Tx{}, append(a.steps, main)
	r := undo.Record{Made: undo.Made(a.o.Now), Format: a.to.Name, Store: path, Session: a.original.ID, Title: a.rep.Title}
	if err := tx.Begin(undo.Folder{Dir: a.o.UndoDir}, r, steps); err != nil {
		return err
	}
	if err = tx.Do(steps); err == nil {
		a.rep.Status, a.rep.Undo = Updated, tx.Log.Record.ID
	}
	return errors.Join(err, tx.End(nil))
}

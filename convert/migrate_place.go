package convert

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rehome/convert/internal/filetx"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/fsx"
)

// fileMove puts a staged file or folder of a session in its place.
type fileMove struct {
	*filetx.Step
	of *migratedSession
}

// plannedFamily is a family, and what to rename for it.
type plannedFamily struct {
	*sessionFamily
	rep  Migrated
	todo []*filetx.Step // subagents before the session itself: once that exists, everything does
	same bool           // the session's own file is there already
	err  error
}

// moves returns where the files of a family go, the session's own last.
func (m *migration) moves(ctx context.Context, f *sessionFamily) (all []fileMove) {
	at := m.path(f.root.placement.root)
	for _, r := range append(slices.Clone(f.children), f.root) {
		if r.err != nil || r.Draft.Within {
			continue
		}
		p := fileMove{&filetx.Step{File: undo.File{Path: at, Folder: m.to.Writer.Folders}, Staged: r.Path}, r}
		if p.Folder {
			p.State = func(path string) (string, error) { return m.to.Writer.State(ctx, path) }
		}
		if r != f.root {
			h := fileHead(&r.Head, f.root.placement.root)
			p.Path, p.Of = m.path(&h), at
		}
		all = append(all, p)
	}
	return all
}

func filePaths(all []fileMove) (out []string) {
	for _, f := range all {
		out = append(out, f.Path)
	}
	return out
}

// plan finds out what to rename for a family. What an earlier family is about to write is
// written first: it may be the same session.
func (m *migration) plan(ctx context.Context, p *plannedFamily) error {
	root := p.root.placement.root
	p.rep.File, p.rep.Session = m.path(root), m.to.Writer.ID(root)
	if m.to.Home.Import != nil {
		p.rep.Imports = []string{p.rep.File}
	}
	if p.root.placement.inPlace && m.o.Redact != nil {
		return &formats.Error{At: p.rep.File, Err: errors.New("already in its place: migrate does not redact the client's own sessions"), Hint: "write a redacted copy: `rehome redact SRC DST`"}
	}
	inside := p.rep.File
	if m.adds() {
		inside = filepath.Join(inside, "file")
	}
	if err := filetx.CheckFolders(inside); err != nil {
		return err
	}
	if p.root.placement.inPlace || m.adds() {
		return nil
	}
	all := m.moves(ctx, p.sessionFamily)
	if p.rep.Imports != nil {
		p.rep.Imports = filePaths(all)
	}
	if slices.ContainsFunc(all, func(f fileMove) bool { return m.planned[f.Path] }) {
		if err := m.flush(ctx); err != nil {
			return err
		}
	}
	for _, f := range all {
		var err error
		if p.same, err = m.compare(ctx, f); err != nil {
			return err
		}
		if err := m.setAttributes(f.of); err != nil {
			return err
		}
		if ext := f.of.Draft.Companion; ext != "" {
			beside, err := companionMove(f, ext)
			if err != nil {
				return err
			}
			p.todo = append(p.todo, beside...)
		}
		if !p.same {
			p.todo = append(p.todo, f.Step)
		}
	}
	for _, f := range p.todo {
		m.planned[f.Path] = true
	}
	return nil
}

// place places a family, and says what became of it.
func (m *migration) place(ctx context.Context, p *plannedFamily, tx *filetx.Tx) (string, error) {
	switch {
	case p.err != nil:
		return "", p.err
	case m.adds():
		return m.placeInto(ctx, p)
	case len(p.todo) == 0:
		return Same, nil
	case m.o.DryRun:
		return Checked, nil
	}
	if err := tx.Do(p.todo); err != nil {
		return "", err
	}
	status := Same // another run may have placed the same files in the meantime
	for _, s := range p.todo {
		switch {
		case s.Done && s.Replaces:
			status = Updated
		case s.Done && status == Same:
			status = Placed
		}
	}
	if p.same {
		status = Updated
	}
	return status, nil
}

// companionMove returns the move of the companion of a file, if it is to be moved. An
// existing one stays, unless the file itself is overwritten: the client keeps its own.
func companionMove(of fileMove, ext string) ([]*filetx.Step, error) {
	p := &filetx.Step{File: undo.File{Path: companionPath(of.Path, ext), Of: of.Family()}, Staged: of.Staged + ext, Optional: true}
	was, err := os.ReadFile(p.Path)
	if err != nil {
		return []*filetx.Step{p}, nil
	}
	p.Replaces = true
	content, err := os.ReadFile(p.Staged)
	if err != nil || !of.Replaces || bytes.Equal(was, content) {
		return nil, err
	}
	return []*filetx.Step{p}, nil
}

// setAttributes sets the modes and times of staged files as the client does: it
// would continue the newest file.
func (m *migration) setAttributes(r *migratedSession) error {
	return filepath.WalkDir(r.Path, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.Chmod(path, 0o700)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		last := info.ModTime() // set by the codec, if nothing else is known
		for _, at := range []session.Stamp{r.Created, r.Updated, r.placement.lastMoment} {
			if at.Known() {
				last = at.Time()
			}
		}
		return os.Chtimes(path, time.Time{}, m.to.Home.ShownTime(last, time.Now()))
	})
}

// compare compares a staged file or folder with the one at its path.
func (m *migration) compare(ctx context.Context, p fileMove) (same bool, err error) {
	if same, err = m.hasImported(ctx, p); same || err != nil {
		return same, err
	}
	info, err := os.Lstat(p.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, filetx.Blocked(p.Path, err)
	}
	if fsx.SameTree(p.Staged, p.Path) {
		return true, nil
	}
	if state := m.to.Writer.State; state != nil && info.IsDir() {
		ours, err := state(ctx, p.Staged)
		if err != nil {
			return false, err
		}
		if is, err := state(ctx, p.Path); err != nil || ours != "" && is == ours {
			return err == nil, err
		}
	}
	p.Replaces = true
	was, err := m.was(ctx, p, info)
	if err != nil || was == formats.Same {
		return was == formats.Same, err
	}
	p.Ready = func() error { // the client may have continued it in the meantime
		info, err := os.Lstat(p.Path)
		if err != nil {
			return err
		}
		was, err := m.was(ctx, p, info)
		if err != nil {
			return err
		}
		return m.mayReplace(p, was)
	}
	return false, m.mayReplace(p, was)
}

// was says what is at the path of a staged file or folder.
func (m *migration) was(ctx context.Context, p fileMove, info fs.FileInfo) (formats.Standing, error) {
	if info.IsDir() != p.Folder || !p.Folder && !info.Mode().IsRegular() || m.to.Writer.Unmodified == nil {
		return formats.Foreign, nil
	}
	if ours, err := m.to.Writer.Unmodified(ctx, p.Path); ours || err != nil {
		return formats.Older, err
	}
	return m.standing(ctx, p, place{format: m.to, path: p.Path})
}

// mayReplace returns an error unless rehome wrote all that was said in a file or folder.
func (m *migration) mayReplace(p fileMove, was formats.Standing) error {
	if was == formats.Older && m.o.Update {
		return nil
	}
	return existsAs(was, &formats.Error{At: p.Path})
}

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

	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/fsx"
)

// fileMove is a staged file, or folder, and its final path.
type fileMove struct {
	of           *migratedSession
	staged, path string
	folder       bool // see formats.Writer.Folders
	replaces     bool // it replaces one that rehome wrote
	companion    bool // it is the companion of a session's file
}

// plannedFamily is a family, and what to rename for it.
type plannedFamily struct {
	*sessionFamily
	rep  Migrated
	todo []fileMove // subagents before the session itself: once that exists, everything does
	same bool       // the session's own file is there already
	err  error
}

// moves returns where the files of a family go, the session's own last.
func (m *migration) moves(f *sessionFamily) (all []fileMove) {
	at := m.path(f.root.placement.root)
	for _, r := range append(slices.Clone(f.children), f.root) {
		if r.err != nil || r.Draft.Within {
			continue
		}
		p := fileMove{of: r, staged: r.Path, path: at, folder: m.to.Writer.Folders}
		if r != f.root {
			h := fileHead(&r.Head, f.root.placement.root)
			p.path = m.path(&h)
		}
		all = append(all, p)
	}
	return all
}

// plan finds out what to rename for a family. What an earlier family is about to write is
// written first: it may be the same session.
func (m *migration) plan(ctx context.Context, p *plannedFamily) error {
	root := p.root.placement.root
	p.rep.File, p.rep.Session = m.path(root), m.to.Writer.ID(root)
	if p.root.placement.inPlace && m.o.Redact != nil {
		return &formats.Error{At: p.rep.File, Err: errors.New("already in its place: migrate does not redact the client's own sessions"), Hint: "write a redacted copy: `rehome redact SRC DST`"}
	}
	inside := p.rep.File
	if m.adds() {
		inside = filepath.Join(inside, "file")
	}
	if err := checkFolders(inside); err != nil {
		return err
	}
	if p.root.placement.inPlace || m.adds() {
		return nil
	}
	all := m.moves(p.sessionFamily)
	if slices.ContainsFunc(all, func(f fileMove) bool { return m.planned[f.path] }) {
		if err := m.flush(ctx); err != nil {
			return err
		}
	}
	for _, f := range all {
		var err error
		if p.same, err = m.compare(ctx, &f); err != nil {
			return err
		}
		if err := m.setAttributes(f.of); err != nil {
			return err
		}
		if ext := f.of.Draft.Companion; ext != "" {
			beside, err := companionMove(&f, ext)
			if err != nil {
				return err
			}
			p.todo = append(p.todo, beside...)
		}
		if !p.same {
			p.todo = append(p.todo, f)
		}
	}
	for _, f := range p.todo {
		m.planned[f.path] = true
	}
	return nil
}

// place places a family, and says what became of it.
func (m *migration) place(ctx context.Context, p *plannedFamily) (string, error) {
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
	status, err := m.commitFiles(ctx, p.todo)
	if err == nil && p.same {
		status = Updated
	}
	return status, err
}

// checkFolders returns an error if a file is where a path needs a folder.
func checkFolders(path string) error {
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

// blocked returns why nothing can be written at a path.
func blocked(path string, err error) error {
	if why := checkFolders(path); why != nil {
		return why
	}
	return &formats.Error{At: path, Err: formats.Cause(err), Hint: "make this path writable, and try again"}
}

// companionMove returns the move of the companion of a file, if it is to be moved. An
// existing one stays, unless the file itself is overwritten: the client keeps its own.
func companionMove(of *fileMove, ext string) ([]fileMove, error) {
	p := fileMove{of: of.of, staged: of.staged + ext, path: companionPath(of.path, ext), companion: true}
	was, err := os.ReadFile(p.path)
	if err != nil {
		return []fileMove{p}, nil
	}
	p.replaces = true
	content, err := os.ReadFile(p.staged)
	if err != nil || !of.replaces || bytes.Equal(was, content) {
		return nil, err
	}
	return []fileMove{p}, nil
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
func (m *migration) compare(ctx context.Context, p *fileMove) (same bool, err error) {
	info, err := os.Lstat(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, blocked(p.path, err)
	}
	if fsx.SameTree(p.staged, p.path) {
		return true, nil
	}
	if state := m.to.Writer.State; state != nil && info.IsDir() {
		ours, err := state(ctx, p.staged)
		if err != nil {
			return false, err
		}
		if is, err := state(ctx, p.path); err != nil || ours != "" && is == ours {
			return err == nil, err
		}
	}
	p.replaces = true
	was, err := m.was(ctx, p, info)
	if err != nil || was == formats.Same {
		return was == formats.Same, err
	}
	return false, m.mayReplace(p, was)
}

// was says what is at the path of a staged file or folder.
func (m *migration) was(ctx context.Context, p *fileMove, info fs.FileInfo) (formats.Standing, error) {
	if info.IsDir() != p.folder || !p.folder && !info.Mode().IsRegular() || m.to.Writer.Unmodified == nil {
		return formats.Foreign, nil
	}
	if ours, err := m.to.Writer.Unmodified(ctx, p.path); ours || err != nil {
		return formats.Older, err
	}
	return m.standing(ctx, p)
}

// mayReplace returns an error unless rehome wrote all that was said in a file or folder.
func (m *migration) mayReplace(p *fileMove, was formats.Standing) error {
	if was == formats.Older && m.o.Update {
		return nil
	}
	return existsAs(was, &formats.Error{At: p.path})
}

package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/fsx"
)

// fileMove is a staged file, or folder, and its final path.
type fileMove struct {
	staged, path string
	folder       bool // see formats.Writer.Folders
	replaces     bool // it replaces one that rehome wrote
	companion    bool // it is the companion of a session's file
}

// place places a family, subagents before the session itself: once that exists,
// everything does.
func (m *migration) place(ctx context.Context, f *sessionFamily, rep *Migrated) (string, error) {
	if m.to.Writer.Into != nil {
		return m.placeInto(ctx, f, rep)
	}
	rep.File = m.path(f.root.placement.root)
	rep.Session = m.to.Writer.ID(f.root.placement.root)
	if f.root.placement.inPlace {
		return Same, nil
	}
	var todo []fileMove
	same := false // after the loop: of the session itself
	for _, r := range append(slices.Clone(f.children), f.root) {
		if r.err != nil || r.Draft.Within {
			continue
		}
		p := fileMove{staged: r.Path, path: rep.File, folder: m.to.Writer.Folders}
		if r != f.root {
			h := fileHead(&r.Head, f.root.placement.root)
			p.path = m.path(&h)
		}
		var err error
		if same, err = m.compare(ctx, &p); err != nil {
			return "", err
		}
		if err := m.setAttributes(r); err != nil {
			return "", err
		}
		if ext := r.Draft.Companion; ext != "" {
			beside, err := companionMove(&p, ext)
			if err != nil {
				return "", err
			}
			todo = append(todo, beside...)
		}
		if !same {
			todo = append(todo, p)
		}
	}
	switch {
	case len(todo) == 0:
		return Same, nil
	case m.o.DryRun:
		return Checked, nil
	}
	status, err := m.commitFiles(ctx, todo)
	if err == nil && same {
		status = Updated
	}
	return status, err
}

// companionMove returns the move of the companion of a file, if it is to be moved. An
// existing one stays, unless the file itself is overwritten: the client keeps its own.
func companionMove(of *fileMove, ext string) ([]fileMove, error) {
	p := fileMove{staged: of.staged + ext, path: companionPath(of.path, ext), companion: true}
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
		return false, &formats.Error{At: p.path, Err: formats.Cause(err)}
	}
	if fsx.SameTree(p.staged, p.path) {
		return true, nil
	}
	if check := m.to.Writer.Same; check != nil && info.IsDir() {
		if same, err = check(ctx, p.staged, p.path); same || err != nil {
			return same, err
		}
	}
	p.replaces = true
	return false, m.mayReplace(ctx, p, info)
}

// mayReplace returns an error unless rehome wrote all of a file or folder.
func (m *migration) mayReplace(ctx context.Context, p *fileMove, info fs.FileInfo) error {
	path, again := p.path, "--again writes another copy, with an id of its own"
	if info.IsDir() != p.folder || !p.folder && !info.Mode().IsRegular() || m.to.Writer.Unmodified == nil {
		return &formats.Error{At: path, Err: formats.ErrExists, Hint: again}
	}
	ours, err := m.to.Writer.Unmodified(ctx, path)
	switch {
	case err != nil:
		return err
	case !ours:
		return &formats.Error{At: path, Err: fmt.Errorf("%w, and was continued there", formats.ErrExists), Hint: "it was not touched; " + again}
	case !m.o.Update:
		return &formats.Error{At: path, Err: fmt.Errorf("%w: an older state of this session", formats.ErrExists), Hint: "pass --update to overwrite it; it was not continued there"}
	}
	return nil
}

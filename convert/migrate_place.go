package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/formats/session"
)

// fileMove is a staged file and its final path.
type fileMove struct {
	staged, path string
	replaces     bool // it replaces a file that rehome wrote
	companion    bool // it is the companion of a session's file
}

// place places a family, subagents before the session itself: once that exists,
// everything does.
func (m *migrateJob) place(ctx context.Context, to *formats.Format, f *sessionFamily, rep *Migrated) (string, error) {
	rep.File = m.path(to, f.root.placement.root)
	rep.Session = strings.TrimSuffix(filepath.Base(rep.File), filepath.Ext(rep.File))
	if f.root.placement.inPlace {
		return Same, nil
	}
	var todo []fileMove
	same := false // after the loop: of the session itself
	for _, r := range append(append([]*SessionReport(nil), f.children...), f.root) {
		if r.err != nil {
			continue
		}
		p := fileMove{staged: r.staged, path: rep.File}
		if r != f.root {
			p.path = m.path(to, subagent(r, f.root.placement))
		}
		var err error
		if same, err = m.compare(ctx, to, &p); err != nil {
			return "", err
		}
		if err := setAttributes(r); err != nil {
			return "", err
		}
		if r != f.root {
			beside, err := m.companion(to, r, &p, subagent(r, f.root.placement))
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
	status, err := m.commitFiles(ctx, to, todo)
	if err == nil && same {
		status = Updated
	}
	return status, err
}

// companion stages the companion of a subagent's file. An existing one stays,
// unless the file itself is overwritten: the client keeps its own.
func (m *migrateJob) companion(to *formats.Format, r *SessionReport, of *fileMove, h *session.Head) ([]fileMove, error) {
	p := fileMove{staged: r.staged + ".beside", companion: true}
	var content []byte
	if p.path, content = companion(to, h, of.path); content == nil {
		return nil, nil
	}
	was, err := os.ReadFile(p.path)
	if p.replaces = err == nil; p.replaces && (!of.replaces || bytes.Equal(was, content)) {
		return nil, nil
	}
	return []fileMove{p}, os.WriteFile(p.staged, content, 0o600)
}

// subagent returns the head under which the client names a subagent: its file
// is with the outermost session, however deep it was started.
func subagent(r *SessionReport, g *placement) *session.Head {
	h := r.head
	h.Workspace = g.cwd
	up := session.Link{}
	if h.Parent != nil {
		up = *h.Parent
	}
	up.Session = g.root.ID
	h.Parent = &up
	return &h
}

// setAttributes sets the mode and time of a staged file as the client does: it
// would continue the newest file.
func setAttributes(r *SessionReport) error {
	if err := os.Chmod(r.staged, 0o600); err != nil {
		return err
	}
	info, err := os.Stat(r.staged)
	if err != nil {
		return err
	}
	last := info.ModTime() // set by the codec, if nothing else is known
	for _, at := range []session.Stamp{r.head.Created, r.head.Updated, r.placement.lastMoment} {
		if at.Known() {
			last = at.Time()
		}
	}
	return os.Chtimes(r.staged, time.Time{}, shownTime(last, time.Now()))
}

// maxAge is the max age that a file shows.
const maxAge = 7 * 24 * time.Hour

// shownTime returns the modification time that a file gets. Claude Code deletes
// files that are older than thirty days when it starts, so an old session would
// be gone before it can be continued. It looks a week old, or up to a day
// older, in the order of the true times.
func shownTime(last, now time.Time) time.Time {
	age := now.Sub(last)
	if age <= maxAge {
		return last
	}
	return now.Add(-maxAge + time.Duration(float64(24*time.Hour)*float64(maxAge)/float64(age)) - 24*time.Hour)
}

// compare compares a staged file with the one at its path.
func (m *migrateJob) compare(ctx context.Context, to *formats.Format, p *fileMove) (same bool, err error) {
	info, err := os.Lstat(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &formats.Error{At: p.path, Err: formats.Cause(err)}
	}
	if info.Mode().IsRegular() {
		if same, err = stage.SameBytes(p.staged, p.path); same || err != nil {
			return same, err
		}
	}
	p.replaces = true
	return false, m.mayReplace(ctx, to, p.path, info)
}

// mayReplace returns an error unless rehome wrote every line of a file.
func (m *migrateJob) mayReplace(ctx context.Context, to *formats.Format, path string, info fs.FileInfo) error {
	again := "--again writes another copy, with an id of its own"
	if !info.Mode().IsRegular() || to.Writer.Unmodified == nil {
		return &formats.Error{At: path, Err: formats.ErrExists, Hint: again}
	}
	ours, err := to.Writer.Unmodified(ctx, path)
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

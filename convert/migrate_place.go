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

	"rehome/formats"
	"rehome/formats/session"
)

// placing is one file on its way to its name.
type placing struct {
	staged, path string
	old          bool // something of ours stands there, to be replaced
	companion    bool // it is what belongs beside a session's file
}

// place installs a family, subagents before the session itself: once that is
// there, all of it is.
func (m *moving) place(ctx context.Context, to *formats.Format, f *household, rep *Migrated) (string, error) {
	rep.File = m.path(to, f.root.goal.root)
	rep.Session = strings.TrimSuffix(filepath.Base(rep.File), filepath.Ext(rep.File))
	if f.root.goal.there {
		return Same, nil
	}
	var todo []placing
	same := false // at the end: of the session itself
	for _, r := range append(append([]*SessionReport(nil), f.children...), f.root) {
		if r.err != nil {
			continue
		}
		p := placing{staged: r.staged, path: rep.File}
		if r != f.root {
			p.path = m.path(to, subagent(r, f.root.goal))
		}
		var err error
		if same, err = m.compare(ctx, to, &p); err != nil {
			return "", err
		}
		if err := dress(r); err != nil {
			return "", err
		}
		if r != f.root {
			beside, err := m.companion(to, r, &p, subagent(r, f.root.goal))
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
	status, err := m.carryOut(ctx, to, todo)
	if err == nil && same {
		status = Updated
	}
	return status, err
}

// companion stages what belongs beside a subagent's file. One that is there
// stays, unless the file itself is written again: the client keeps its own.
func (m *moving) companion(to *formats.Format, r *SessionReport, of *placing, h *session.Head) ([]placing, error) {
	p := placing{staged: r.staged + ".beside", companion: true}
	var content []byte
	if p.path, content = companion(to, h, of.path); content == nil {
		return nil, nil
	}
	was, err := os.ReadFile(p.path)
	if p.old = err == nil; p.old && (!of.old || bytes.Equal(was, content)) {
		return nil, nil
	}
	return []placing{p}, os.WriteFile(p.staged, content, 0o600)
}

// subagent is one as its client names it: it lies with the outermost
// session, however deep it was started.
func subagent(r *SessionReport, g *goal) *session.Head {
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

// dress gives a staged file the mode and the time of its client's own files:
// the newest file is the session that it would go on with.
func dress(r *SessionReport) error {
	if err := os.Chmod(r.staged, 0o600); err != nil {
		return err
	}
	info, err := os.Stat(r.staged)
	if err != nil {
		return err
	}
	last := info.ModTime() // the codec's own word, where nothing else tells
	for _, at := range []session.Stamp{r.head.Created, r.head.Updated, r.goal.last} {
		if at.Known() {
			last = at.Time()
		}
	}
	return os.Chtimes(r.staged, time.Time{}, kept(last, time.Now()))
}

// fresh is how old a file may look.
const fresh = 7 * 24 * time.Hour

// kept is the time that a file shows. Claude Code removes, when it starts,
// files that nobody has touched for thirty days: an old session would be gone
// before it is gone on with. So it looks a week old, or up to a day older, in
// the order of the true times.
func kept(last, now time.Time) time.Time {
	age := now.Sub(last)
	if age <= fresh {
		return last
	}
	return now.Add(-fresh + time.Duration(float64(24*time.Hour)*float64(fresh)/float64(age)) - 24*time.Hour)
}

// compare looks at what stands where a file is to go.
func (m *moving) compare(ctx context.Context, to *formats.Format, p *placing) (same bool, err error) {
	info, err := os.Lstat(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &formats.Error{At: p.path, Err: bare(err)}
	}
	if info.Mode().IsRegular() {
		if same, err = sameBytes(p.staged, p.path); same || err != nil {
			return same, err
		}
	}
	p.old = true
	return false, m.mayReplace(ctx, to, p.path, info)
}

// mayReplace refuses to touch a file unless every line in it is ours.
func (m *moving) mayReplace(ctx context.Context, to *formats.Format, path string, info fs.FileInfo) error {
	again := "--again writes another copy, with an id of its own"
	if !info.Mode().IsRegular() || to.Unmodified == nil {
		return &formats.Error{At: path, Err: formats.ErrExists, Hint: again}
	}
	ours, err := to.Unmodified(ctx, path)
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

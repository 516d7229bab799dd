package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// household is a session with its subagents, staged.
type household struct {
	store    *StoreReport
	root     *SessionReport
	children []*SessionReport
}

// install gives the sessions of all stores the names that their client knows.
// What a store says of itself beside its sessions is the error.
func (j *job) install(ctx context.Context) error {
	to := j.reg.Named(j.o.To)
	for i := range j.rep.Stores {
		for _, f := range households(&j.rep.Stores[i]) {
			if err := ctx.Err(); err != nil {
				return err
			}
			m := f.report(j.found[i].Loc.Path)
			if f.root.err == nil {
				m.settle(j.moving.place(ctx, to, f, &m))
			} else {
				m.settle("", j.explain(f.root.err))
			}
			j.moving.done = append(j.moving.done, m)
		}
	}
	return j.outcome()
}

// households puts the sessions of a store together that go together.
func households(s *StoreReport) (out []*household) {
	byRoot := map[*session.Head]*household{}
	for i := range s.Sessions {
		r := &s.Sessions[i]
		if r.goal == nil { // it was not even begun
			out = append(out, &household{store: s, root: r})
			continue
		}
		f := byRoot[r.goal.root]
		if f == nil {
			f = &household{store: s, root: r} // parents come before their children
			byRoot[r.goal.root] = f
			out = append(out, f)
			continue
		}
		f.children = append(f.children, r)
	}
	return out
}

// report begins what is said of a family.
func (f *household) report(source string) Migrated {
	r := f.root
	m := Migrated{Source: source, ID: r.ID, Agent: r.Agent, Title: r.Title, Messages: r.Messages, Turns: r.Turns, Losses: r.Losses}
	if r.goal != nil {
		m.ID, m.Cwd = r.goal.id, r.goal.cwd
	}
	for _, c := range f.children {
		if c.err != nil {
			m.Losses = append(m.Losses, loss.Line{Kind: loss.Unreadable, What: "a subagent's session could not be carried", Count: 1, Places: []string{c.ID}})
			continue
		}
		m.Subagents++
		m.Losses = merge(m.Losses, c.Losses)
	}
	if m.Losses == nil {
		m.Losses = []loss.Line{}
	}
	return m
}

// merge adds lines to lines: what is lost for one reason is one line.
func merge(lines, more []loss.Line) []loss.Line {
next:
	for _, l := range more {
		for i := range lines {
			if at := &lines[i]; at.Kind == l.Kind && at.What == l.What {
				at.Count += l.Count
				continue next
			}
		}
		lines = append(lines, l)
	}
	return lines
}

func (m *Migrated) settle(status string, err error) {
	if m.Status = status; err == nil {
		return
	}
	m.Status, m.err = Failed, err
	m.Error = &ErrorReport{Message: err.Error(), Hint: formats.Hint(err)}
}

// placing is one file on its way to its name.
type placing struct {
	staged, path string
	old          bool // something of ours stands there, to be replaced
}

// place installs a family, subagents before the session itself: once that is
// there, all of it is.
func (m *moving) place(ctx context.Context, to *formats.Format, f *household, rep *Migrated) (string, error) {
	rep.File = m.path(to, f.root.goal.root)
	rep.Session = strings.TrimSuffix(filepath.Base(rep.File), filepath.Ext(rep.File))
	var todo []placing
	for _, r := range append(append([]*SessionReport(nil), f.children...), f.root) {
		if r.err != nil {
			continue
		}
		p := placing{staged: r.staged, path: rep.File}
		if r != f.root {
			p.path = m.path(to, subagent(r, f.root.goal))
		}
		same, err := m.compare(ctx, to, &p)
		if err != nil {
			return "", err
		}
		if !same {
			todo = append(todo, p)
		}
		if err := dress(r); err != nil {
			return "", err
		}
	}
	switch {
	case len(todo) == 0:
		return Same, nil
	case m.o.DryRun:
		return Checked, nil
	}
	return m.carryOut(ctx, to, todo)
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
	again := "--again makes a further session of it, with an id of its own"
	if !info.Mode().IsRegular() || to.Untouched == nil {
		return &formats.Error{At: path, Err: formats.ErrExists, Hint: again}
	}
	ours, err := to.Untouched(ctx, path)
	switch {
	case err != nil:
		return err
	case !ours:
		return &formats.Error{At: path, Op: "the session has gone on there", Err: formats.ErrExists, Hint: "nothing of it is touched: " + again}
	case !m.o.Update:
		return &formats.Error{At: path, Op: "an older state of this session", Err: formats.ErrExists, Hint: "--update writes it again: nobody has gone on with it"}
	}
	return nil
}

func (m *moving) carryOut(ctx context.Context, to *formats.Format, todo []placing) (string, error) {
	status := Placed
	var made []string
	for _, p := range todo {
		err := m.one(ctx, to, p)
		if err != nil {
			for i := len(made) - 1; i >= 0; i-- {
				err = errors.Join(err, os.Remove(made[i]))
			}
			return "", err
		}
		if p.old {
			status = Updated
		} else {
			made = append(made, p.path)
		}
	}
	return status, nil
}

func (m *moving) one(ctx context.Context, to *formats.Format, p placing) error {
	refuse := func(err error) error { return &formats.Error{At: p.path, Err: bare(err)} }
	dir := filepath.Dir(p.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return refuse(err)
	}
	if err := syncFile(p.staged); err != nil {
		return err
	}
	if p.old {
		info, err := os.Lstat(p.path)
		if err == nil {
			err = m.mayReplace(ctx, to, p.path, info) // a client may have begun meanwhile
		}
		if err == nil {
			err = os.Rename(p.staged, p.path)
		}
		if err != nil {
			return err
		}
	} else if err := moveNew(p.staged, p.path); errors.Is(err, fs.ErrExist) {
		return &formats.Error{At: p.path, Op: "appeared meanwhile", Err: formats.ErrExists, Hint: "somebody else made it; nothing of theirs was touched"}
	} else if err != nil {
		return refuse(err)
	}
	return syncFolder(dir)
}

// sameBytes compares two files.
func sameBytes(a, b string) (bool, error) {
	ia, erra := os.Stat(a)
	ib, errb := os.Stat(b)
	if err := errors.Join(erra, errb); err != nil || ia.Size() != ib.Size() {
		return false, err
	}
	fa, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer fa.Close()
	fb, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer fb.Close()
	bufa, bufb := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(fa, bufa)
		k, errk := io.ReadFull(fb, bufb)
		switch {
		case !bytes.Equal(bufa[:n], bufb[:k]):
			return false, nil
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return errk != nil, nil
		case err != nil || errk != nil:
			return false, fmt.Errorf("compare %s: %w", b, errors.Join(err, errk))
		}
	}
}

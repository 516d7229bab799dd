package claudecode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// decode yields the sessions of a config folder, a project's folder or a file.
func decode(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		s, err := openShelf(l)
		if err != nil {
			yield(nil, failure(ctx, l.Path, err))
			return
		}
		defer s.close()
		if v.OnLoss == nil {
			v.OnLoss = func(loss.Loss) {}
		}
		if s.others > 0 && v.OnNotice != nil {
			v.OnNotice(fmt.Sprintf("%s: skipped files that are not sessions: %d", l.Path, s.others))
		}
		if len(s.sessions) == 0 {
			yield(nil, failure(ctx, l.Path, errors.New("no sessions found")))
			return
		}
		inner := s.inner(sel)
		for _, e := range s.sessions {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if !sel.Includes(e.id) && !inner {
				continue
			}
			if !(&reading{shelf: s, entry: e, ctx: ctx, view: v, sel: sel, yield: yield}).file() {
				return
			}
		}
	}
}

// inner reports that one of the sessions asked for is no file's: it may be a
// subagent whose lines stand in another session's.
func (s *shelf) inner(sel session.Selection) bool {
	files := map[string]bool{}
	for _, e := range s.sessions {
		files[e.id] = true
	}
	return slices.ContainsFunc(sel.IDs, func(id string) bool {
		return !files[id] && (strings.HasPrefix(id, "agent-") || strings.HasPrefix(id, "thread-"))
	})
}

// reading is one file's.
type reading struct {
	*shelf
	*entry
	ctx   context.Context
	view  formats.View
	sel   session.Selection
	yield func(*session.Session, error) bool

	f      *os.File
	size   int64
	survey *survey
	calls  map[string]string // subagents by the calls that started them
	ids    map[int32]string  // of lines that branches grow from
	files  map[string]bool   // output in files of its own that has been given
}

// file yields the session of a file, and those of the threads in it; false if
// nobody wants another.
func (r *reading) file() bool {
	wanted := r.sel.Includes(r.id)
	head := session.Head{ID: r.id, Agent: session.ClaudeCode, Turns: -1, Bytes: -1}
	f, err := r.root.Open(r.path)
	if err != nil {
		return !wanted || r.yield(&session.Session{Head: head}, failure(r.ctx, r.path, err))
	}
	defer f.Close()
	r.f = f
	info, err := f.Stat()
	if err == nil {
		r.size = info.Size()
		r.survey, err = r.outline(r.parent != nil)
	}
	if err == nil && !r.survey.main && len(r.survey.threads) == 2 { // a subagent's file by itself
		r.survey, err = r.outline(true)
	}
	if err != nil {
		return !wanted || r.yield(&session.Session{Head: head}, failure(r.ctx, r.path, err))
	}
	r.calls, r.ids, r.files = r.callers(), map[int32]string{}, map[string]bool{}
	given := wanted
	if wanted && !r.yield(r.main(), nil) {
		return false
	}
	for t := range r.survey.threads[1:] {
		id := r.threadID(t + 1)
		if wanted && r.sel.Inner || r.sel.Includes(id) {
			if given = true; !r.yield(r.aside(t+1, id), nil) {
				return false
			}
		}
	}
	if now, err := f.Stat(); given && (err != nil || now.Size() != r.size || !now.ModTime().Equal(info.ModTime())) {
		r.yield(nil, &formats.Error{Format: name, At: r.path, Err: fmt.Errorf("%w: it changed while it was read", formats.ErrBusy), Hint: "quit the client that is writing to it and try again"})
		return false
	}
	return true
}

func (r *reading) outline(alone bool) (*survey, error) {
	return newSurvey(r.ctx, io.NewSectionReader(r.f, 0, r.size), alone)
}

// main is the session that a file is named after.
func (r *reading) main() *session.Session {
	v := r.survey
	s := &session.Session{Head: session.Head{ID: r.id, Agent: session.ClaudeCode, Title: v.called(), Workspace: v.cwd, Created: v.first, Updated: v.last, Turns: v.turns, Bytes: r.size},
		Model: v.model, Branch: v.branch}
	if r.view.Cwd != "" {
		s.Workspace = r.view.Cwd
	}
	if r.parent != nil {
		s.Parent = &session.Link{Session: r.parent.id, Call: r.call, Title: r.title, Kind: r.kind}
		if r.title != "" {
			s.Title = r.title
		}
	}
	if r.parent == nil && v.alone && v.id != "" && v.id != r.id {
		s.Parent = &session.Link{Session: v.id}
	}
	for _, kid := range r.kids {
		s.Children = append(s.Children, session.Link{Session: kid.id, Call: kid.call, Title: kid.title, Kind: kid.kind})
	}
	for t := range v.threads[1:] {
		s.Children = append(s.Children, session.Link{Session: r.threadID(t + 1)})
	}
	if v.version != "" {
		s.Extras = []session.Extra{{Name: "version", Raw: session.AppendString(nil, v.version)}}
	}
	if r.sel.History {
		s.Branches = r.branches(0)
	}
	s.Messages = r.messages(0)
	if len(v.saved) > 0 && r.parent == nil {
		s.Files = r.snapshots
	}
	return s
}

// threadID names a thread, also where a file has its name.
func (r *reading) threadID(t int) string {
	if id := "agent-" + r.survey.threads[t]; !r.named[id] {
		return id
	}
	return "thread-" + r.survey.threads[t]
}

// aside is a subagent whose lines stand in the main file, as older clients
// wrote them.
func (r *reading) aside(t int, id string) *session.Session {
	s := &session.Session{Head: session.Head{ID: id, Agent: session.ClaudeCode, Workspace: r.survey.cwd, Turns: -1, Bytes: -1, Parent: &session.Link{Session: r.id}}}
	if r.sel.History {
		s.Branches = r.branches(int32(t))
	}
	s.Messages = r.messages(int32(t))
	return s
}

// branches lists the abandoned ones of a thread.
func (r *reading) branches(thread int32) (out []session.Branch) {
	seen := int32(live)
	for _, i := range r.survey.linesOf(thread) {
		o := &r.survey.lines[i]
		if o.branch < 0 || o.branch == seen {
			continue
		}
		seen = o.branch
		b := session.Branch{Name: branchName(o.branch)}
		if at, ok := r.survey.at[o.parent]; ok && o.parent != 0 {
			b.From = r.idOf(at)
		}
		out = append(out, b)
	}
	return out
}

func branchName(n int32) string { return fmt.Sprintf("branch-%d", n+1) }

// idOf is the id of the message that a line is part of.
func (r *reading) idOf(i int32) string {
	i = r.survey.lines[i].head
	if _, known := r.ids[i]; !known {
		line, _, err := r.line(int(i))
		if err != nil {
			return ""
		}
		r.ids[i] = lineID(int(i), line)
	}
	return r.ids[i]
}

func (r *reading) addr(i int) store.Addr { return store.Addr{File: r.path, Line: i + 1} }

func (r *reading) note(code loss.Code, i int) {
	r.view.OnLoss(loss.Loss{Code: code, At: r.addr(i)})
}

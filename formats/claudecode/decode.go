package claudecode

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"

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
		if v.Note == nil {
			v.Note = func(loss.Note) {}
		}
		if s.others > 0 && v.Say != nil {
			v.Say(fmt.Sprintf("%s: files that are no sessions are left aside (%d)", l.Path, s.others))
		}
		if len(s.sessions) == 0 {
			yield(nil, failure(ctx, l.Path, fmt.Errorf("there is no session in it")))
			return
		}
		for _, e := range s.sessions {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if !(&reading{shelf: s, entry: e, ctx: ctx, view: v, sel: sel, yield: yield}).file() {
				return
			}
		}
	}
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
}

// file yields the session of a file, and those of the threads in it; false if
// nobody wants another.
func (r *reading) file() bool {
	wanted := r.sel.Wants(r.id)
	if !wanted && len(r.kids) == 0 && r.parent != nil {
		return true
	}
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
	if err == nil && !r.survey.main && len(r.survey.order) == 1 { // a subagent's file by itself
		r.survey, err = r.outline(true)
	}
	if err != nil {
		return !wanted || r.yield(&session.Session{Head: head}, failure(r.ctx, r.path, err))
	}
	if wanted && !r.yield(r.main(), nil) {
		return false
	}
	for _, t := range r.survey.order {
		if one := r.thread(t); (wanted && r.sel.Inner || r.sel.Wants(one.ID)) && !r.yield(one, nil) {
			return false
		}
	}
	if now, err := f.Stat(); err != nil || now.Size() != r.size || !now.ModTime().Equal(info.ModTime()) {
		r.yield(nil, &formats.Error{Format: name, At: r.path, Err: fmt.Errorf("%w: it changed while it was read", formats.ErrBusy), Hint: "stop the client that writes to it and try again"})
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
	for _, t := range v.order {
		s.Children = append(s.Children, session.Link{Session: r.threadID(t)})
	}
	if v.version != "" {
		s.Extras = []session.Extra{{Name: "version", Raw: session.AppendString(nil, v.version)}}
	}
	if r.sel.History {
		s.Branches = r.branches(nil)
	}
	s.Messages = r.messages(func(o *outline) bool { return !o.side }, true)
	if len(v.saved) > 0 && r.parent == nil {
		s.Files = r.snapshots
	}
	return s
}

func (r *reading) threadID(t uint64) string {
	id := "agent-" + r.survey.threads[t]
	for _, kid := range r.kids {
		if kid.id == id {
			return "thread-" + r.survey.threads[t]
		}
	}
	return id
}

// thread is a subagent whose lines stand in the main file, as older clients
// wrote them.
func (r *reading) thread(t uint64) *session.Session {
	in := func(o *outline) bool { return o.side && o.thread == t }
	s := &session.Session{Head: session.Head{ID: r.threadID(t), Agent: session.ClaudeCode, Workspace: r.survey.cwd, Turns: -1, Bytes: -1, Parent: &session.Link{Session: r.id}}}
	if r.sel.History {
		s.Branches = r.branches(in)
	}
	s.Messages = r.messages(in, false)
	return s
}

// branches lists the abandoned ones of a thread.
func (r *reading) branches(in func(*outline) bool) (out []session.Branch) {
	seen := int32(-1)
	for i := range r.survey.lines {
		o := &r.survey.lines[i]
		if o.branch <= seen || !mine(o, in) {
			continue
		}
		seen = o.branch
		b := session.Branch{Name: branchName(o.branch)}
		if at, ok := r.survey.at[o.parent]; ok && o.parent != 0 {
			b.From = r.uuidOf(int(at))
		}
		out = append(out, b)
	}
	return out
}

func branchName(n int32) string { return fmt.Sprintf("branch-%d", n+1) }

// uuidOf is the id of the message that a line is part of.
func (r *reading) uuidOf(i int) string {
	o := &r.survey.lines[i]
	for k := i - 1; k >= 0 && o.kind == answers && o.response != 0; k-- {
		prev := &r.survey.lines[k]
		if prev.branch != o.branch || prev.kind == other || prev.kind == titles {
			continue
		}
		if prev.kind != answers || prev.response != o.response {
			break
		}
		i = k
	}
	line, _, err := r.line(i)
	if err != nil {
		return ""
	}
	return text(line, "uuid")
}

func (r *reading) at(i int) store.Addr { return store.Addr{File: r.path, Line: i + 1} }

func (r *reading) note(kind loss.Kind, i int, what string) {
	r.view.Note(loss.Note{Kind: kind, At: r.at(i), What: what})
}

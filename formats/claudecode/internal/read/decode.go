// Package read decodes the files of Claude Code to sessions, and lists them.
package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/prefetch"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// Decode yields the sessions of a config folder, a project's folder or a file.
func Decode(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		y := outline.Layout(l)
		y.OnNotice, y.Noun = v.OnNotice, "sessions"
		s, err := jsonl.Open(l, y)
		if err != nil {
			yield(nil, outline.Failure(ctx, l.Path, err))
			return
		}
		defer s.Close()
		if len(s.Files) == 0 {
			yield(nil, outline.Failure(ctx, l.Path, errors.New("no sessions found")))
			return
		}
		backups := outline.OpenBackups(l)
		if backups != nil {
			defer backups.Close()
		}
		inner := inner(s, sel)
		var parts []prefetch.Decode
		for _, f := range families(ctx, s) {
			if sel.Includes(f.ID) || inner {
				parts = append(parts, reading{Store: s, File: f, backups: backups}.decode)
			}
		}
		prefetch.Sessions(ctx, v, sel, parts)(yield)
	}
}

// families returns the files with each followed by those of its subagents. Older clients
// store these among the sessions, and only their lines name the session.
func families(ctx context.Context, s *jsonl.Store) []*jsonl.File {
	flat := func(f *jsonl.File) bool { return f.Up == nil && strings.HasPrefix(f.ID, "agent-") }
	if !slices.ContainsFunc(s.Files, flat) {
		return s.Files
	}
	index := map[string]int{}
	for i, f := range s.Files {
		index[f.Path] = i
	}
	return jsonl.Families(s.Files, func(i int) int {
		f := s.Files[i]
		if f.Up != nil {
			return index[f.Up.Path]
		}
		if !flat(f) {
			return -1
		}
		for l, err := range s.Lines(ctx, f, headSize) {
			if err != nil {
				break // decoding the file reports it
			}
			if id := rawjson.TextAt(l.Object, "sessionId"); id != "" {
				if up, ok := index[path.Join(path.Dir(f.Path), id+outline.Ending)]; ok {
					return up
				}
				break
			}
		}
		return -1
	})
}

// headSize is how many bytes of a subagent's file are searched for its session.
const headSize = 1 << 20

// inner reports whether a selected session has no file of its own. It may be a
// subagent whose lines are in the file of another session.
func inner(s *jsonl.Store, sel session.Selection) bool {
	files := map[string]bool{}
	for _, e := range s.Files {
		files[e.ID] = true
	}
	return slices.ContainsFunc(sel.IDs, func(id string) bool {
		return !files[id] && (strings.HasPrefix(id, "agent-") || strings.HasPrefix(id, "thread-"))
	})
}

// reading decodes one file.
type reading struct {
	*jsonl.Store
	*jsonl.File
	backups *os.Root // earlier contents of changed files; nil if there are none

	ctx   context.Context
	view  formats.View
	sel   session.Selection
	yield func(*session.Session, error) bool

	f     *os.File
	size  int64
	text  []byte // the whole file, unless it is large
	tree  *outline.Tree
	calls map[string]string // subagents by the calls that started them
	ids   map[int32]string  // of the messages at which branches start, by line
	files map[string]bool   // files of tool output that are already part of a result
}

// decode yields the session of a file, and those of the threads in it.
func (r reading) decode(ctx context.Context, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		r.ctx, r.view, r.sel, r.yield = ctx, v, sel, yield
		r.file()
	}
}

func (r *reading) file() {
	wanted := r.sel.Includes(r.ID)
	f, err := r.Root.Open(r.Path)
	if err != nil {
		r.fail(err)
		return
	}
	defer f.Close()
	r.f = f
	info, err := r.survey()
	for n := 1; err == nil && r.tree.Torn && n < jsonl.MaxTries && jsonl.Grows(f, info); n++ {
		info, err = r.survey()
	}
	if err != nil {
		r.fail(err)
		return
	}
	r.calls, r.ids, r.files = r.callers(), map[int32]string{}, map[string]bool{}
	given := wanted
	if wanted && !r.yield(r.main(), nil) {
		return
	}
	for t := range r.tree.Threads[1:] {
		id := r.threadID(t + 1)
		if wanted && r.sel.Inner || r.sel.Includes(id) {
			if given = true; !r.yield(r.aside(t+1, id), nil) {
				return
			}
		}
	}
	if now, err := f.Stat(); given && (err != nil || now.Size() != r.size || !now.ModTime().Equal(info.ModTime())) {
		r.yield(nil, formats.Changed(outline.FormatName, r.Path))
	}
}

// survey reads the file as it is now.
func (r *reading) survey() (info fs.FileInfo, err error) {
	if info, err = r.f.Stat(); err == nil {
		r.size = info.Size()
		err = r.load()
	}
	if err == nil {
		r.tree, err = r.outline(r.Up != nil)
	}
	if err == nil && !r.tree.Main && len(r.tree.Threads) == 2 { // the file of a subagent, opened alone
		r.tree, err = r.outline(true)
	}
	return info, err
}

// fail yields why a session cannot be read, if it is wanted.
func (r *reading) fail(err error) {
	if r.sel.Includes(r.ID) {
		r.yield(&session.Session{Head: session.Head{ID: r.ID, Agent: session.ClaudeCode, Turns: -1, Bytes: -1}}, outline.Failure(r.ctx, r.Path, err))
	}
}

// maxText is the maximum size of a file that is read at once. Lines of larger
// ones are read twice: for the outline, and for their content.
const maxText = 2 << 20

func (r *reading) load() error {
	r.text = nil
	if r.size > maxText {
		return nil
	}
	text := make([]byte, r.size)
	n, err := r.f.ReadAt(text, 0)
	if err == nil || errors.Is(err, io.EOF) {
		r.text, err = text[:n], nil
	}
	return err
}

func (r *reading) outline(alone bool) (*outline.Tree, error) {
	all := lines.Each(r.ctx, io.NewSectionReader(r.f, 0, r.size), outline.MaxLine)
	if r.text != nil {
		all = lines.Text(r.text, outline.MaxLine)
	}
	return outline.ReadTree(r.ctx, all, alone)
}

// main returns the session that a file is named after.
func (r *reading) main() *session.Session {
	v := r.tree
	s := &session.Session{Head: session.Head{ID: r.ID, Agent: session.ClaudeCode, Title: v.DisplayTitle(), Workspace: v.Cwd, Created: v.First, Updated: v.Last, Turns: v.Turns, Bytes: r.size},
		Model: v.Model, Branch: v.Branch}
	if r.view.Cwd != "" {
		s.Workspace = r.view.Cwd
	}
	if r.Up != nil {
		s.Parent, s.Title = &r.Link, cmp.Or(r.Link.Title, s.Title)
	}
	if r.Up == nil && v.Alone && v.ID != "" && v.ID != r.ID {
		s.Parent = &session.Link{Session: v.ID}
	}
	for _, kid := range r.Kids {
		s.Children = append(s.Children, session.Link{Session: kid.ID, Call: kid.Link.Call, Title: kid.Link.Title, Kind: kid.Link.Kind})
	}
	for t := range v.Threads[1:] {
		s.Children = append(s.Children, session.Link{Session: r.threadID(t + 1)})
	}
	if v.Version != "" {
		s.Extras = []session.Extra{{Name: "version", Raw: session.AppendString(nil, v.Version)}}
	}
	if r.sel.History {
		s.Branches = r.branches(0)
	}
	s.Messages = r.messages(0)
	if len(v.Saved) > 0 && r.Up == nil {
		s.Files = r.snapshots
	}
	return s
}

// threadID returns the id of a thread, which differs from those of all files.
func (r *reading) threadID(t int) string {
	id := "agent-" + r.tree.Threads[t]
	if slices.ContainsFunc(r.Kids, func(kid *jsonl.File) bool { return kid.ID == id }) {
		return "thread-" + r.tree.Threads[t]
	}
	return id
}

// aside returns a subagent whose lines are in the main file, as older clients wrote
// them.
func (r *reading) aside(t int, id string) *session.Session {
	s := &session.Session{Head: session.Head{ID: id, Agent: session.ClaudeCode, Workspace: r.tree.Cwd, Turns: -1, Bytes: -1, Parent: &session.Link{Session: r.ID}}}
	if r.sel.History {
		s.Branches = r.branches(int32(t))
	}
	s.Messages = r.messages(int32(t))
	return s
}

// branches returns the abandoned branches of a thread.
func (r *reading) branches(thread int32) (out []session.Branch) {
	seen := int32(outline.Live)
	for _, i := range r.tree.LinesOf(thread) {
		o := &r.tree.Lines[i]
		if o.Branch < 0 || o.Branch == seen {
			continue
		}
		seen = o.Branch
		b := session.Branch{Name: branchName(o.Branch)}
		if at, ok := r.tree.At[o.Parent]; ok && o.Parent != 0 {
			b.From = r.idOf(at)
		}
		out = append(out, b)
	}
	return out
}

func branchName(n int32) string { return fmt.Sprintf("branch-%d", n+1) }

// idOf returns the id of the message that a line is part of.
func (r *reading) idOf(i int32) string {
	i = r.tree.Lines[i].Head
	if _, known := r.ids[i]; !known {
		line, _, err := r.line(int(i))
		if err != nil {
			return ""
		}
		r.ids[i] = outline.LineID(int(i), rawjson.TextAt(line, "uuid"))
	}
	return r.ids[i]
}

func (r *reading) addr(i int) store.Addr { return store.Addr{File: r.Path, Line: i + 1} }

func (r *reading) note(code loss.Code, i int) {
	r.view.OnLoss.Add(loss.Loss{Code: code, At: r.addr(i)})
}

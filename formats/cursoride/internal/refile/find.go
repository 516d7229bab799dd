package refile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/cursoride/internal/write"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/session"
)

// largeStore is the size of a global database from which on it is read in place, and not
// from a copy, while its log has changes.
const largeStore = 256 << 20

// Find returns formats.Refiler.Find for user dirs.
func Find(roots func(formats.Machine) []string) func(context.Context, formats.Machine, *formats.Moved) iter.Seq2[*formats.Refiled, error] {
	return func(ctx context.Context, m formats.Machine, mv *formats.Moved) iter.Seq2[*formats.Refiled, error] {
		return func(yield func(*formats.Refiled, error) bool) {
			for _, dir := range roots(m) {
				if info, err := os.Stat(filepath.Join(dir, lists.GlobalName)); err != nil || !info.IsDir() {
					continue
				}
				f := &finder{dir: dir, mv: mv, targets: map[string]*target{}, stays: map[formats.Refiled]int{}, roots: map[string]*formats.Refiled{}, why: map[string]string{}, stayed: map[string]bool{}}
				if err := f.run(ctx); err != nil {
					if ctx.Err() != nil {
						yield(nil, ctx.Err())
						return
					}
					f.leave("", "cannot be read: "+err.Error(), formats.Hint(err))
				}
				for _, r := range f.results() {
					if !yield(r, nil) {
						return
					}
				}
			}
		}
	}
}

// finder looks for the composers of a folder in one user dir.
type finder struct {
	dir     string
	mv      *formats.Moved
	store   *lists.Store
	targets map[string]*target // by path; nil: there is none
	why     map[string]string  // of those
	moves   []*move
	roots   map[string]*formats.Refiled // by the ids of composers
	found   []*formats.Refiled
	stays   map[formats.Refiled]int // what stays, and of how many composers
	order   []formats.Refiled
	stayed  map[string]bool // composers that stay
}

func (f *finder) run(ctx context.Context) (err error) {
	l, err := formats.Locate(f.dir)
	if err != nil {
		return err
	}
	v := formats.FullView(1)
	if info, err := os.Stat(filepath.Join(f.dir, lists.GlobalDB)); err == nil {
		v.Live = info.Size() > largeStore
	}
	if f.store, err = lists.Open(ctx, l, v, new(sqlitefile.Known)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.store.Close()) }()
	x := lists.NewIndex(f.store, v.OnLoss)
	err = lists.EachEntry(ctx, x, func(e *lists.Entry, h *session.Head) bool {
		err = f.entry(ctx, x, e, h)
		return err == nil
	})
	if err != nil || len(f.moves) == 0 {
		return err
	}
	return f.plan(ctx)
}

// entry judges a composer.
func (f *finder) entry(ctx context.Context, x *lists.Index, e *lists.Entry, h *session.Head) error {
	cwd, in := f.moved(e.Folder.Path)
	if !in {
		return nil
	}
	from := filepath.Join(f.dir, lists.GlobalDB)
	if s := f.store.Workspace(e.Workspace); s != nil {
		from = s.Dir
	}
	if e.ID == lists.DraftID {
		return nil
	}
	to, why, hint := f.judge(e, cwd)
	if to == nil {
		if !f.stayed[e.Parent.Session] { // a subagent stays with its session
			f.leave(from, why, hint)
		}
		f.stayed[e.ID] = true
		return nil
	}
	if e.Workspace == to.id {
		return nil // it is there, whatever else is said of its folder
	}
	m := &move{id: e.ID, was: e.Workspace, to: to}
	for _, at := range e.Heads {
		if e.Table || at.Page.Workspace == nil || f.store.Workspace(e.Workspace) == nil {
			continue
		}
		head, err := x.Pages.Read(ctx, at)
		if err != nil {
			return err
		}
		if m.head = bytes.Clone(document(head)); len(m.head) < 3 || m.head[0] != '{' {
			m.head = nil
		}
		m.wasLabel = write.Identifier(e.Workspace, e.Folder.Path)
		break
	}
	f.moves = append(f.moves, m)
	if r := f.roots[e.Parent.Session]; r != nil {
		f.roots[e.ID] = r
		r.Plan = append(r.Plan.([]*move), m)
		return nil
	}
	r := &formats.Refiled{Store: f.dir, ID: e.ID, Title: h.Title, Cwd: to.path, From: from, To: to.dir, Plan: []*move{m}}
	f.roots[e.ID] = r
	f.found = append(f.found, r)
	return nil
}

// judge returns the workspace that a composer gets, or why it stays, and what to do about it.
func (f *finder) judge(e *lists.Entry, cwd string) (to *target, why, hint string) {
	switch {
	case strings.HasPrefix(e.Folder.URI, "file:"):
		return nil, "it belongs to " + e.Folder.URI + ", a workspace of several folders", "open that file in Cursor where it is now"
	case e.Folder.URI != "":
		return nil, "it belongs to " + e.Folder.URI + ", which is on another machine for Cursor", "open the folder there in Cursor"
	case e.Body == lists.InPrompts:
		return nil, "prompts that belong to no session", ""
	case e.Body != lists.InDisk || e.Where != nil:
		return nil, "its messages are in the database of the old workspace, or on a server", migrateHint
	}
	if to = f.target(cwd); to == nil {
		return nil, f.why[cwd], "open " + cwd + " in Cursor once, quit Cursor, and run this again"
	}
	return to, "", ""
}

const migrateHint = "`rehome migrate SESSION --cwd NEW` continues one of them in another client"

// leave notes that a composer stays.
func (f *finder) leave(from, why, hint string) {
	if from == "" {
		from = f.dir
	}
	r := formats.Refiled{Store: f.dir, From: from, Left: why, Hint: hint}
	if f.stays[r]++; f.stays[r] == 1 {
		f.order = append(f.order, r)
	}
}

// plan finds out what would change, without changing it.
func (f *finder) plan(ctx context.Context) (err error) {
	r := &reader{db: f.store.Global}
	if r.spaces, err = r.db.DB.Keyed(ctx, lists.HeadTable, idColumn, spaceColumn); err != nil {
		return err
	}
	if r.spaces != nil {
		defer func() { err = errors.Join(err, r.spaces.Close()) }()
	}
	if err := relabel(ctx, r, f.moves); err != nil {
		return err
	}
	kept := f.found[:0]
	for _, s := range f.found {
		var fault error
		for _, m := range s.Plan.([]*move) {
			switch {
			case m.adds() && r.spaces == nil:
				m.err = errOld
			case m.adds():
				m.bytes += int64(len(m.head))
			case m.err == nil && len(m.changes) == 0:
				m.err = errNoLabel
			}
			fault = cmp.Or(fault, m.err)
			s.Bytes += m.bytes
		}
		if fault != nil {
			f.leave(s.From, fault.Error(), migrateHint)
			continue
		}
		kept = append(kept, s)
	}
	f.found = kept
	return nil
}

// results returns what was found, and what stays.
func (f *finder) results() (out []*formats.Refiled) {
	var busy error
	if len(f.found) > 0 {
		busy = inUse(f.dir)
	}
	for _, r := range f.found {
		r.Err = busy
		out = append(out, r)
	}
	for _, r := range f.order {
		if n := f.stays[r]; r.From != f.dir {
			r.Left += fmt.Sprintf("; sessions: %d", n)
		}
		out = append(out, &r)
	}
	return out
}

// moved is formats.Moved.Path. The client spells the letters of drives in lower case.
func (f *finder) moved(path string) (string, bool) {
	if path == "" {
		return "", false
	}
	to, in := f.mv.Path(path)
	if !in && len(path) > 1 && path[1] == ':' {
		to, in = f.mv.Path(strings.ToUpper(path[:1]) + path[1:])
	}
	return to, in
}

// target returns the workspace that the client has made for a folder, nil if it has made
// none, or several of which nobody can say which one it opens.
func (f *finder) target(cwd string) *target {
	if t, known := f.targets[cwd]; known {
		return t
	}
	var own, same []*lists.Workspace
	renamed := false // and its old workspace shows that the client makes ids as expected
	info, err := os.Stat(cwd)
	for _, s := range f.store.Workspaces {
		at := s.Folder()
		if at.URI != "" || at.Path == "" {
			continue
		}
		if to, old := f.moved(at.Path); old {
			renamed = renamed || err == nil && to == cwd && write.IsWorkspaceID(s.ID, at.Path, info)
			continue
		}
		if at.Path != cwd {
			if err != nil || !filepath.IsAbs(at.Path) || strings.HasPrefix(at.Path, `\\`) || strings.HasPrefix(at.Path, "//") {
				continue
			}
			if is, err := os.Stat(at.Path); err != nil || !os.SameFile(info, is) {
				continue
			}
		}
		if same = append(same, s); write.WorkspaceID(at.Path) == s.ID {
			own = append(own, s)
		}
	}
	if len(own) == 1 || renamed {
		same = own
	}
	f.targets[cwd] = nil
	switch len(same) {
	case 0:
		f.why[cwd] = "Cursor has not opened " + cwd + " yet"
		if renamed {
			f.why[cwd] += ", or only another folder that had this path"
		}
	case 1:
		at := same[0].Folder().Path
		f.targets[cwd] = &target{id: same[0].ID, dir: same[0].Dir, path: at, label: write.Identifier(same[0].ID, at)}
	default:
		f.why[cwd] = fmt.Sprintf("Cursor has %d workspaces of %s, and nobody can say which one it opens", len(same), cwd)
	}
	return f.targets[cwd]
}

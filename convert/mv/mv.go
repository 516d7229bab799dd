package mv

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rehome/convert"
	"rehome/convert/internal/stage"
	"rehome/convert/internal/undo"
	"rehome/convert/internal/walk"
	"rehome/formats"
	"rehome/internal/scratch"
)

// Options are the options of Move and Remove.
type Options struct {
	Old, New string
	Machine  formats.Machine
	UndoDir  string   // the folder of undo records, see convert.UndoDir
	Clients  []string // the only clients, as session.Head.Agent names them; none = all
	DryRun   bool
	OnNotice func(string)
	Now      func() time.Time // for undo records; nil = time.Now
}

// Report is what Move or Remove did. Its JSON is the output of `rehome mv --json`.
type Report struct {
	Old      string    `json:"old"`
	New      string    `json:"new"`
	DryRun   bool      `json:"dry_run"`
	Remove   bool      `json:"remove_old"`            // it is of Remove
	Missing  bool      `json:"new_missing,omitempty"` // NEW does not exist
	Stays    bool      `json:"old_exists,omitempty"`
	Sessions []Session `json:"sessions"`
	Left     []Left    `json:"left"`
	Undo     []int     `json:"undo"` // numbers of the undo records
}

// The states of a session, or of another file.
const (
	Moved   = "moved"   // copied to its new place
	Planned = "planned" // would be, but for DryRun
	Same    = "same"    // it is there already
	Removed = "removed" // the original was removed
	Failed  = "failed"
)

// Session is a session, or another file that a client keeps of the folder.
type Session struct {
	Client string `json:"client"`       // as session.Head.Agent names it
	ID     string `json:"id,omitempty"` // "" if it is another file
	Title  string `json:"title,omitempty"`
	Cwd    string `json:"cwd,omitempty"` // its folder at the new place
	From   string `json:"from"`          // the paths of its own file or folder
	To     string `json:"to"`
	Status string `json:"status"`

	InPlace  bool  `json:"in_place,omitempty"`     // the client's store has it under another folder; it was not copied
	Untested bool  `json:"not_verified,omitempty"` // no real client was seen to accept it
	Bytes    int64 `json:"bytes,omitempty"`        // size of the records that change, if InPlace

	Error *convert.ErrorReport `json:"error,omitempty"`

	err error
}

// Err returns why a session failed, nil if it did not.
func (s *Session) Err() error { return s.err }

func (s *Session) fail(err error) {
	s.Status, s.err = Failed, err
	s.Error = &convert.ErrorReport{Message: err.Error(), Hint: formats.Hint(err)}
}

// Left is what stays where it is.
type Left struct {
	Client string `json:"client"`
	Path   string `json:"path"`
	Why    string `json:"why"`
	Hint   string `json:"hint,omitempty"`
}

// Count returns the number of sessions and files with one of these states.
func (r *Report) Count(status ...string) (n int) {
	for i := range r.Sessions {
		if slices.Contains(status, r.Sessions[i].Status) {
			n++
		}
	}
	return n
}

// say passes on a remark.
func (o *Options) say(s string) {
	if o.OnNotice != nil {
		o.OnNotice(s)
	}
}

// folders returns what was moved, and a report that is otherwise empty.
func (o *Options) folders() (*formats.Moved, *Report, error) {
	misuse := func(at, what, hint string) error {
		return convert.Misuse{Err: &formats.Error{At: at, Err: errors.New(what), Hint: hint}}
	}
	old, err := filepath.Abs(o.Old)
	if err != nil {
		return nil, nil, err
	}
	to, err := filepath.Abs(o.New)
	if err != nil {
		return nil, nil, err
	}
	r := &Report{Old: old, New: to, DryRun: o.DryRun, Sessions: []Session{}, Left: []Left{}, Undo: []int{}}
	info, err := os.Stat(to)
	switch {
	case errors.Is(err, os.ErrNotExist):
		r.Missing = true
		to = resolveAbove(to)
	case err != nil:
		return nil, nil, &formats.Error{At: to, Err: formats.Cause(err)}
	case !info.IsDir():
		return nil, nil, &formats.Error{At: to, Err: stage.ErrNotFolder, Hint: "NEW is the folder where the project is now"}
	default:
		if to, err = filepath.EvalSymlinks(to); err != nil {
			return nil, nil, &formats.Error{At: to, Err: formats.Cause(err)}
		}
	}
	if filepath.Dir(old) == old || filepath.Dir(to) == to {
		return nil, nil, misuse(o.Old+" "+o.New, "the root of a disk is not a project", "name the folder of one project")
	}
	mv := &formats.Moved{New: to, Old: []string{old}}
	if real := resolveAbove(old); real != old {
		mv.Old = append(mv.Old, real)
	}
	mv.Old = slices.DeleteFunc(mv.Old, func(s string) bool { return s == to })
	if len(mv.Old) == 0 || strings.TrimRight(o.Old, `/\`) == strings.TrimRight(o.New, `/\`) {
		return nil, nil, misuse(o.Old, "OLD and NEW are the same folder", "name the folder where the project was, and the one where it is now")
	}
	if info, err := os.Lstat(old); err == nil && info.IsDir() {
		r.Stays = true
	}
	now := undo.Made(o.Now) // the same for all records: by that undo knows that they belong together
	o.Now = func() time.Time { return now }
	r.New = to
	mv.Inside = inside(to)
	return mv, r, nil
}

// The folders in NEW that are looked at: chats of older clients name theirs by a hash alone.
const (
	maxInside = 5000
	maxDepth  = 5
)

// inside returns the folders in a project.
func inside(root string) (out []string) {
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || !e.IsDir():
			return nil
		case path == root:
			return nil
		case strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules":
			return fs.SkipDir
		case len(out) == maxInside:
			return fs.SkipAll
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		out = append(out, filepath.ToSlash(rel))
		if strings.Count(out[len(out)-1], "/") == maxDepth-1 {
			return fs.SkipDir
		}
		return nil
	})
	return out
}

// resolveAbove returns a path without symbolic links above its last element, as far as the
// folders exist.
func resolveAbove(path string) string {
	dir, err := walk.RealAbove(filepath.Dir(path))
	if err != nil {
		return path
	}
	return filepath.Join(dir, filepath.Base(path))
}

// Move copies the sessions of a folder that was moved to where their clients look for those
// of its new path. It overwrites nothing. Sessions that failed are only in the report.
func Move(ctx context.Context, reg *formats.Registry, o Options) (*Report, error) {
	mv, out, err := o.folders()
	if err != nil {
		return nil, err
	}
	scratch.Sweep()
	var movers []*mover
	var refilers []*refiler
	defer func() {
		for _, m := range movers {
			m.remove()
		}
	}()
	for _, f := range reg.All() {
		if f.Mover == nil || !o.wants(f) {
			continue
		}
		if f.Mover.Refiler != nil {
			r := &refiler{Options: &o, f: f, mv: mv, out: out}
			refilers = append(refilers, r)
			if err := r.find(ctx); err != nil {
				return out, err
			}
			continue
		}
		m := &mover{Options: &o, f: f, mv: mv, out: out, staging: map[string]*stage.Folder{}}
		movers = append(movers, m)
		if err := m.prepareAll(ctx); err != nil {
			return out, full(err) // nothing was written
		}
	}
	for _, m := range movers {
		err := m.commit(ctx)
		m.report()
		if err != nil {
			return out, full(err)
		}
	}
	for _, r := range refilers {
		if err := r.commit(ctx); err != nil {
			return out, full(err)
		}
	}
	return out, o.left(ctx, reg, mv, out)
}

// full returns an error that says so if the disk is full.
func full(err error) error {
	return stage.Full(err, "", "free some space, and run it again")
}

// wants reports whether the client of a format is wanted.
func (o *Options) wants(f *formats.Format) bool {
	return len(o.Clients) == 0 || slices.ContainsFunc(f.Clients, func(c string) bool { return slices.Contains(o.Clients, c) })
}

package diff

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/walk"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/scratch"
)

// Side is one side of a comparison.
type Side struct {
	Paths   []string
	Session string // the only session to compare, by its id; "" = all
	// Real and Shown are a prefix of paths, and what to show instead: what is read from
	// a commit is in a temporary folder.
	Real, Shown string
	// Top is the folder that paths are relative to when stores are matched by their
	// paths; "" = the path itself, if it is the only one.
	Top string
}

// Show returns a path as users know it.
func (s Side) Show(path string) string {
	if rest, ok := strings.CutPrefix(path, s.Real); ok && s.Real != "" {
		return s.Shown + strings.TrimLeft(strings.ReplaceAll(rest, `\`, "/"), "/")
	}
	return path
}

func (s Side) restate(err error) error {
	if s.Real == "" || err == nil {
		return err
	}
	return formats.ReplacePath(formats.ReplacePath(err, s.Real+"/", s.Shown), s.Real, s.Shown)
}

// side is a side with its sessions.
type side struct {
	Side
	reg     *formats.Registry
	o       Options
	entries []*entry
	failed  []error
	losses  loss.Sink // of the first pass

	opened struct { // the store that was read last
		path string
		of   *formats.Format
		loc  *formats.Location
		dir  *scratch.Dir
	}
}

// entry is a session of a side.
type entry struct {
	head   session.Head
	store  string // path
	rel    string // below the path of the side
	format string
	copy   int // a session can be in several stores, the best first
	nth    int // of those with its id in the store

	sum    digest // of what is compared
	folder string // that the store names
	title  string
	read   bool
}

// key returns what the id of a migrated session is derived from.
func (e *entry) key() *session.Head { return &session.Head{ID: e.head.ID, Agent: e.head.Agent} }

// list finds the sessions of the side, subagents after their parents.
func (s *side) list(ctx context.Context) error {
	if len(s.Paths) == 0 {
		return nil
	}
	l, err := sessions.List(ctx, s.reg, sessions.Options{Paths: s.Paths, Live: s.o.Live, Jobs: s.o.Jobs, OnNotice: s.o.OnNotice, Verbose: s.o.Verbose})
	if err != nil {
		return s.restate(err)
	}
	for _, u := range l.Unread {
		s.fail(u.Path, u.Err)
	}
	type place struct{ path, id string }
	count := map[place]int{}
	var add func(one *sessions.Listed, wanted bool)
	add = func(one *sessions.Listed, wanted bool) {
		if wanted = wanted || s.Session == "" || one.ID == s.Session; wanted {
			for i, src := range one.Sources {
				at := place{src.Path, one.ID}
				s.entries = append(s.entries, &entry{head: one.Head, store: src.Path, format: src.Format, copy: i, nth: count[at], rel: s.rel(src.Path)})
				count[at]++
			}
		}
		for _, c := range one.Children {
			add(c, wanted)
		}
	}
	// The times by which they are listed can be those of files.
	slices.SortStableFunc(l.Sessions, func(a, b sessions.Listed) int { return cmp.Compare(s.rel(a.Sources[0].Path), s.rel(b.Sources[0].Path)) })
	for i := range l.Sessions {
		add(&l.Sessions[i], false)
	}
	if s.Session != "" && len(s.entries) == 0 {
		return s.restate(&formats.Error{At: s.Paths[0], Err: errors.New("no such session: " + s.Session)})
	}
	return nil
}

// rel returns the path of a store below that of the side.
func (s *side) rel(path string) string {
	for _, base := range append([]string{s.Top}, s.Paths...) {
		if at, err := walk.RealAbove(path); err == nil && base != "" {
			if rel, err := filepath.Rel(base, at); err == nil && filepath.IsLocal(rel) {
				return rel
			}
		}
		if rel, err := filepath.Rel(base, path); err == nil && base != "" && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}

func (s *side) fail(path string, err error) {
	if _, ok := errors.AsType[*formats.Error](err); !ok {
		err = &formats.Error{At: path, Err: err}
	}
	s.failed = append(s.failed, s.restate(err))
}

// open returns the format and the location to decode a store with. Text without sessions
// of its own is restored to a temporary folder, until the next store is opened.
func (s *side) open(ctx context.Context, path, format string) (*formats.Format, *formats.Location, error) {
	if s.opened.of != nil && s.opened.path == path {
		return s.opened.of, s.opened.loc, nil
	}
	if err := s.release(); err != nil {
		return nil, nil, err
	}
	of, err := s.reg.Find(format)
	if err != nil {
		return nil, nil, err
	}
	loc, err := formats.Locate(path)
	if err != nil {
		return nil, nil, err
	}
	if of.Sessions == nil {
		if s.opened.dir, err = scratch.New("", "diff"); err != nil {
			return nil, nil, err
		}
		if of, loc, err = sessions.Restore(ctx, s.reg, of, loc, s.opened.dir.Path, s.view(), sessions.MaxRestored); err != nil {
			return nil, nil, err
		}
	}
	s.opened.path, s.opened.of, s.opened.loc = path, of, loc
	return of, loc, nil
}

func (s *side) release() error {
	err := s.opened.dir.Remove()
	s.opened.path, s.opened.of, s.opened.loc, s.opened.dir = "", nil, nil, nil
	return err
}

// view returns how stores are read. Secrets are withheld.
func (s *side) view() formats.View {
	v := formats.FullView(s.o.Jobs)
	v.Secrets, v.Live, v.OnLoss, v.OnOmit = formats.WithholdSecrets, s.o.Live, s.losses.Add, func(store.SidecarItem) {}
	if s.o.OnNotice != nil {
		v.OnNotice, v.Verbose = s.o.OnNotice, s.o.Verbose
	}
	return v
}

// decode yields sessions of a store.
func (s *side) decode(ctx context.Context, path, format string, ids ...string) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		of, loc, err := s.open(ctx, path, format)
		if err != nil {
			yield(nil, err)
			return
		}
		slices.Sort(ids)
		for one, err := range of.Sessions.Decode(ctx, loc, s.view(), session.Selection{IDs: ids, Sorted: true}) {
			if err != nil && loc.Path != path {
				err = formats.ReplacePath(err, loc.Path, path)
			}
			if !yield(one, err) {
				return
			}
		}
	}
}

// summarize reads the sessions that both sides have, store by store.
func (s *side) summarize(ctx context.Context, all []pair, n int) {
	s.losses = s.o.OnLoss
	defer func() { s.losses = nil }()
	type key struct{ path, format string }
	byStore, order := map[key]map[string][]pair{}, []key{}
	for _, p := range all {
		if p[0] == nil || p[1] == nil {
			continue
		}
		k := key{p[n].store, p[n].format}
		if byStore[k] == nil {
			byStore[k], order = map[string][]pair{}, append(order, k)
		}
		byStore[k][p[n].head.ID] = append(byStore[k][p[n].head.ID], p)
	}
	for _, k := range order {
		s.summarizeStore(ctx, k.path, k.format, byStore[k], n)
	}
}

// summarizeStore reads sessions of a store, by their ids.
func (s *side) summarizeStore(ctx context.Context, path, format string, wanted map[string][]pair, n int) {
	failed, count := len(s.failed), map[string]int{}
	for one, err := range s.decode(ctx, path, format, slices.Collect(maps.Keys(wanted))...) {
		if ctx.Err() != nil {
			return
		}
		if one == nil {
			s.fail(path, err)
			break
		}
		nth := count[one.ID]
		count[one.ID]++
		i := slices.IndexFunc(wanted[one.ID], func(p pair) bool { return p[n].nth == nth })
		if i >= 0 && err == nil {
			p := wanted[one.ID][i]
			var it *items
			if it, err = digests(ctx, one, p.cross()); err == nil {
				p[n].sum, p[n].folder, p[n].title, p[n].read = it.sum(), one.Workspace, one.Title, true
			}
		}
		if err != nil {
			s.fail(path, err)
		}
	}
	for id, list := range wanted { // what the list names and the store does not decode
		for _, p := range list {
			if !p[n].read && len(s.failed) == failed {
				s.fail(path, errors.New("session "+id+" cannot be read"))
			}
		}
	}
}

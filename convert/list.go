package convert

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/internal/scratch"
)

// ListOptions say where sessions are looked for.
type ListOptions struct {
	Paths   []string // files and folders; none: where the clients of Machine keep their stores
	Machine formats.Machine
	Folders []string // that sessions may belong to, where a store keeps no more than a name made of that
	Live    bool     // read a store in use in place
	Long    bool     // decode sessions to find out what heads do not tell
	Jobs    int      // workers; 0 = one a processor
	Say     func(string)
	Verbose bool // also report which stores are read from a copy
}

// Listing is what List found.
type Listing struct {
	Places   []string // that were looked at, and are there
	Absent   []string // clients' places that are not there
	Sessions []Listed // newest first; subagents among the children of their parents
	Unread   []Unread // stores that say nothing of sessions, in the order of the walk
	Foreign  []Unread // what lies in clients' places and is no store, and databases of other programs

	// Unrecognized are files that look like a session, and that no format
	// recognizes, in the order of the walk.
	Unrecognized []string

	begin map[string]int // how many ids begin so
}

// Listed is a session, wherever it is kept.
type Listed struct {
	session.Head
	Sources  []Source // the stores that hold it, the best first
	Children []*Listed
	Empty    bool // its store says that nothing was ever said in it
}

// Source is a store that holds a session.
type Source struct {
	Path   string // of the store
	Format string

	format *formats.Format
	store  int // in the order of the walk
}

// Unread is a place of which no session could be listed, and why.
type Unread struct {
	Path   string
	Format string // "" if no format claims it
	Err    error
}

// ErrNotYet is the reason of stores whose format has no list of its sessions.
var ErrNotYet = errors.New("sessions in this format cannot be read yet")

// List finds the sessions of every store below some paths, or on this machine.
// Of a store its heads are read, never what was said in its sessions, unless
// ListOptions.Long asks for it. What cannot be read is listed with its reason.
// The error is non-nil only where a path that was named cannot be looked at.
func List(ctx context.Context, reg *formats.Registry, o ListOptions) (*Listing, error) {
	scratch.Sweep()
	l := &lister{ctx: ctx, reg: reg, o: o, begun: map[string]bool{}, queue: make(chan listStore, 64), out: &Listing{}}
	var talk sync.Mutex
	if say := o.Say; say != nil {
		l.o.Say = func(s string) { talk.Lock(); defer talk.Unlock(); say(s) }
	}
	var workers sync.WaitGroup
	for range jobsOr(o.Jobs) {
		workers.Go(func() {
			for s := range l.queue {
				l.read(s, false)
			}
		})
	}
	err := l.walkAll()
	close(l.queue)
	workers.Wait()
	for _, s := range l.late { // alone, for the last time
		l.read(s, true)
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, err
	}
	l.finish()
	if o.Long {
		l.long()
	}
	arrange(l.out)
	l.out.count()
	return l.out, ctx.Err()
}

// lister is one call of List. The walk feeds stores to the workers; what they
// bring is put in the walk's order before anything is made of it.
type lister struct {
	ctx   context.Context
	reg   *formats.Registry
	o     ListOptions
	homes map[string]bool // real paths of the clients' places
	begun map[string]bool // real paths where a walk began that is over
	count int
	queue chan listStore
	out   *Listing

	mu      sync.Mutex
	found   []headsOf
	unread  []numbered
	foreign []numbered
	late    []listStore // there was no file left to open
}

// listStore is a store on its way to a worker.
type listStore struct {
	number int
	loc    *formats.Location
	format *formats.Format
	score  int
}

// headsOf are the heads of a store.
type headsOf struct {
	Source
	heads []session.Head
}

type numbered struct {
	Unread
	number int
}

// read asks a store for its heads.
func (l *lister) read(s listStore, last bool) {
	f, at := s.format, s.loc.Path
	switch {
	case s.score <= formats.Guess+1: // claimed for its name alone
		l.refuse(s, l.broken(s))
		return
	case f.Heads == nil && f.Decode == nil && (f.DefaultPaths != nil || f.Text):
		l.refuse(s, ErrNotYet)
		return
	case f.Heads == nil && f.Decode == nil:
		l.alien(s.number, at, f.Name, errors.New("a database of another program"))
		return
	}
	h := headsOf{Source: Source{Path: at, Format: f.Name, format: f, store: s.number}}
	v := l.view()
	var broken error
	if f.Heads != nil {
		for head, err := range f.Heads(l.ctx, s.loc, v) {
			if err != nil {
				broken = errors.Join(broken, err)
			}
			if head != nil {
				h.heads = append(h.heads, *head)
			}
		}
	} else {
		for t, err := range f.Decode(l.ctx, s.loc, v, session.Selection{}) {
			if err != nil {
				broken = errors.Join(broken, err)
			}
			if t != nil {
				h.heads = append(h.heads, counted(t))
			}
		}
	}
	if !last && filesUsedUp(broken) {
		l.mu.Lock()
		l.late = append(l.late, s)
		l.mu.Unlock()
		return
	}
	if broken != nil {
		l.refuse(s, broken)
	}
	for i := range h.heads {
		h.heads[i].Title = listTitle(h.heads[i].Title)
	}
	byClock(s.loc, h)
	l.mu.Lock()
	l.found = append(l.found, h)
	l.mu.Unlock()
}

// titleMost is how much of a title is kept in a list of many.
const titleMost = 1024

// listTitle is a title as far as anybody reads it in a list. Some clients take
// the whole prompt.
func listTitle(s string) string {
	if short := rule.Truncate(s, titleMost); short != s {
		return strings.Clone(short) + "…"
	}
	return s
}

func (l *lister) view() formats.View {
	v := wholeView(1)
	v.Live = l.o.Live
	if l.o.Say != nil {
		v.OnNotice, v.Verbose = l.o.Say, l.o.Verbose
	}
	return v
}

// broken is what is wrong with a file that is only named like a store.
func (l *lister) broken(s listStore) error {
	err := errors.New("named like a store, but not of a known format")
	if s.format.Open == nil {
		return err
	}
	r, oerr := s.format.Open(l.ctx, s.loc, l.view())
	if oerr != nil {
		return oerr
	}
	return errors.Join(err, r.Close())
}

func (l *lister) refuse(s listStore, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := s.format.Name
	if s.score <= formats.Guess+1 {
		name = ""
	}
	l.unread = append(l.unread, numbered{Unread{s.loc.Path, name, err}, s.number})
}

func (l *lister) alien(number int, path, format string, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.foreign = append(l.foreign, numbered{Unread{path, format, why}, number})
}

// finish puts what the workers brought into the walk's order, and makes one of
// what is listed twice.
func (l *lister) finish() {
	byNumber := func(a, b numbered) int { return a.number - b.number }
	slices.SortStableFunc(l.unread, byNumber)
	slices.SortStableFunc(l.foreign, byNumber)
	for _, u := range l.unread {
		l.out.Unread = append(l.out.Unread, u.Unread)
	}
	for _, u := range l.foreign {
		l.out.Foreign = append(l.out.Foreign, u.Unread)
	}
	order := map[string]int{}
	for i, f := range l.reg.All() {
		order[f.Name] = i
	}
	slices.SortFunc(l.found, func(a, b headsOf) int {
		if a.Format != b.Format {
			return order[a.Format] - order[b.Format]
		}
		return a.store - b.store
	})
	l.out.Sessions = merged(l.found)
	for i := range l.out.Sessions {
		s := &l.out.Sessions[i]
		s.Empty = s.Turns == 0
	}
	l.settleFolders()
	l.found = nil
}

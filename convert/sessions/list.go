package sessions

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"rehome/convert/internal/workers"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/internal/scratch"
)

// Options are the options of List.
type Options struct {
	Paths    []string // files and folders; none = where the clients of Machine keep their stores
	Machine  formats.Machine
	Folders  Candidates      // the folders of Machine.Home are tried, too
	Copies   map[Copy]string // the ids of the sessions that copies were made from, as far as recorded
	Live     bool            // read a store in use in place
	Long     bool            // decode sessions to find out what their heads do not say
	Jobs     int             // workers; 0 = one per CPU
	OnNotice func(string)
	Verbose  bool // also report which stores are read from a copy
}

// Listing is the result of List.
type Listing struct {
	Places   []string // places that exist and were searched
	Absent   []string // clients' places that do not exist
	Sessions []Listed // newest first; subagents are children of their parents
	Unread   []Unread // stores whose sessions cannot be listed, in the order of the walk
	Foreign  []Unread // other files in clients' places, and databases of other programs

	// Unrecognized are the files that look like a session, but that no format
	// recognizes, in the order of the walk.
	Unrecognized []string

	prefixes map[string]int // number of ids by prefix
	clients  []string       // of the formats that were searched for
}

// Listed is a session in a listing.
type Listed struct {
	session.Head
	Sources  []Source // the stores that hold it, best first
	Children []*Listed
	Empty    bool // its store says that it has no turns

	// Origin is the id of the session in another client that rehome made this one
	// from, if that is listed too.
	Origin string

	Prompt string // the first prompt, if the session was decoded
}

// Source is a store that holds a session.
type Source struct {
	Path   string // of the store
	Format string

	format *formats.Format
	store  int // in the order of the walk
}

// Unread is a path without sessions that could be listed, and why.
type Unread struct {
	Path   string
	Format string // "" if unknown
	Err    error
}

// ErrUnsupported is the error of stores whose format cannot list sessions.
var ErrUnsupported = errors.New("sessions in this format cannot be read yet")

// List finds the sessions of all stores below some paths, or on this machine.
// It reads only the heads of sessions, unless ListOptions.Long is set. What
// cannot be read is listed with its reason. The error is non-nil only if a
// given path cannot be searched.
func List(ctx context.Context, reg *formats.Registry, o Options) (*Listing, error) {
	scratch.Sweep()
	l := newLister(ctx, reg, o)
	var talk sync.Mutex
	if say := o.OnNotice; say != nil {
		l.o.OnNotice = func(s string) { talk.Lock(); defer talk.Unlock(); say(s) }
	}
	var err error
	workers.Run(ctx, workers.Count(o.Jobs), func(yield func(storeToRead) bool) { err = l.walkAll(yield) }, l.read)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, err
	}
	l.finish()
	if o.Long {
		l.decodeLong()
	}
	findOrigins(reg, l.out.Sessions, o.Copies)
	arrange(l.out)
	l.out.countPrefixes()
	return l.out, ctx.Err()
}

// Store is a store of a client.
type Store struct {
	Path   string
	Format *formats.Format
}

// Stores finds the stores whose sessions List lists, in the order of the walk,
// without reading them. The listing has no sessions.
func Stores(ctx context.Context, reg *formats.Registry, o Options) ([]Store, *Listing, error) {
	l := newLister(ctx, reg, o)
	var out []Store
	err := l.walkAll(func(s storeToRead) bool {
		if s.score <= formats.Guess+1 { // detected by its name alone
			l.addUnread(s, l.openError(s))
		} else if Readable(reg, s.format).Sessions != nil {
			out = append(out, Store{s.loc.Path, s.format})
		}
		return true
	})
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, nil, err
	}
	l.finish()
	return out, l.out, nil
}

// NewListing returns the listing of sessions that were listed earlier.
func NewListing(reg *formats.Registry, list []Listed) *Listing {
	out := &Listing{Sessions: list, clients: reg.Clients()}
	findOrigins(reg, out.Sessions, nil)
	arrange(out)
	out.countPrefixes()
	return out
}

func newLister(ctx context.Context, reg *formats.Registry, o Options) *lister {
	return &lister{ctx: ctx, reg: reg, o: o, visited: map[string]bool{}, out: &Listing{clients: reg.Clients()}}
}

// lister is one call of List. The walk yields stores to the workers; their
// results are sorted into the order of the walk.
type lister struct {
	ctx          context.Context
	reg          *formats.Registry
	o            Options
	clientPlaces map[string]bool // resolved paths of the clients' places
	visited      map[string]bool // resolved paths where a walk started and ended
	count        int
	out          *Listing

	mu      sync.Mutex
	found   []storeHeads
	unread  []numberedUnread
	foreign []numberedUnread
}

// storeToRead is a store to be read by a worker.
type storeToRead struct {
	number int
	loc    *formats.Location
	format *formats.Format
	score  int
}

// storeHeads are the heads of a store.
type storeHeads struct {
	Source
	heads []session.Head
}

type numberedUnread struct {
	Unread
	number int
}

// read reads the heads of a store. It reports whether to try again, because too
// many files were open.
func (l *lister) read(s storeToRead, last bool) (again bool) {
	f, at := Readable(l.reg, s.format), s.loc.Path
	switch {
	case s.score <= formats.Guess+1: // detected by its name alone
		l.addUnread(s, l.openError(s))
		return false
	case f.Sessions == nil && (f.Home != nil || f.Text):
		l.addUnread(s, ErrUnsupported)
		return false
	case f.Sessions == nil:
		l.addForeign(s.number, at, f.Name, errors.New("a database of another program"))
		return false
	}
	h := storeHeads{Source: Source{Path: at, Format: f.Name, format: f, store: s.number}}
	v := l.view()
	var broken error
	for head, err := range listHeads(l.ctx, f, s.loc, v) {
		if err != nil {
			broken = errors.Join(broken, err)
		}
		if head != nil {
			h.heads = append(h.heads, *head)
		}
	}
	if !last && workers.TooManyFiles(broken) {
		return true
	}
	switch {
	case len(h.heads) == 0 && s.format.Text && errors.Is(broken, ErrUnsupported): // of a client that is only kept
		l.addForeign(s.number, at, f.Name, broken)
	case broken != nil:
		l.addUnread(s, broken)
	}
	for i := range h.heads {
		h.heads[i].Title = listTitle(h.heads[i].Title)
	}
	fillTimes(s.loc, h)
	l.mu.Lock()
	l.found = append(l.found, h)
	l.mu.Unlock()
	return false
}

// maxTitle is the max length of a title in a listing.
const maxTitle = 1024

// listTitle returns a title, truncated for a list. Some clients use the whole
// prompt.
func listTitle(s string) string {
	if short := rule.Truncate(s, maxTitle); short != s {
		return strings.Clone(short) + "…"
	}
	return s
}

func (l *lister) view() formats.View {
	v := formats.FullView(1)
	v.Live = l.o.Live
	if l.o.OnNotice != nil {
		v.OnNotice, v.Verbose = l.o.OnNotice, l.o.Verbose
	}
	return v
}

// openError returns what is wrong with a file that is only named like a store.
func (l *lister) openError(s storeToRead) error {
	err := errors.New("named like a store, but not of a known format")
	if s.format.Records == nil {
		return err
	}
	r, oerr := s.format.Records.Open(l.ctx, s.loc, l.view())
	if oerr != nil {
		return oerr
	}
	return errors.Join(err, r.Close())
}

func (l *lister) addUnread(s storeToRead, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := s.format.Name
	if s.score <= formats.Guess+1 {
		name = ""
	}
	l.unread = append(l.unread, numberedUnread{Unread{s.loc.Path, name, err}, s.number})
}

func (l *lister) addForeign(number int, path, format string, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.foreign = append(l.foreign, numberedUnread{Unread{path, format, why}, number})
}

// finish sorts the results into the order of the walk, and merges duplicates.
func (l *lister) finish() {
	byNumber := func(a, b numberedUnread) int { return a.number - b.number }
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
	slices.SortFunc(l.found, func(a, b storeHeads) int {
		if a.Format != b.Format {
			return order[a.Format] - order[b.Format]
		}
		return a.store - b.store
	})
	l.resolveFolders()
	l.out.Sessions = supersede(mergeHeads(l.found), l.o.Folders.Moves)
	for i := range l.out.Sessions {
		s := &l.out.Sessions[i]
		s.Empty = s.Turns == 0
	}
	l.askAlone()
	l.found = nil
}

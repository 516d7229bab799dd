package doctor

import (
	"context"
	"slices"
	"sync"

	"rehome/convert/internal/notify"
	"rehome/convert/internal/walk"
	"rehome/convert/internal/workers"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/scratch"
)

// Options are the options of Run.
type Options struct {
	Paths      []string        // files and folders; none = where the clients of Machine keep their stores
	Machine    formats.Machine // only its clients are found; ignored if there are Paths
	Live       bool            // read a store in use in place
	Jobs       int             // workers; 0 = one per CPU
	OnProgress func(notify.Progress)
}

// Report is the result of Run.
type Report struct {
	Clients []*Client         // one for each format with a store, in the order of the registry
	Unread  []sessions.Unread // stores that could not be read, or not completely
}

// Client is what was found of one format.
type Client struct {
	Format   *formats.Format
	Places   []string // the paths that were searched and hold its stores
	Stores   int
	Sessions int
	Bytes    int64     // on disk
	Versions []Version // that wrote its sessions, newest first; none if its stores do not tell
	Tested   []string  // versions whose stores were tested, newest first
	Unread   int       // stores that could not be read, or not completely
	Account  session.Account
	RawBytes int64 // of what is carried raw
	Drift    []Drift
	More     int64 // places with drift that are not in Drift
}

// Newer reports whether a version is newer than all that were tested.
func (c *Client) Newer() bool {
	return len(c.Versions) > 0 && len(c.Tested) > 0 && compareVersions(c.Versions[0].Name, c.Tested[0]) > 0
}

// Version is a version of a client.
type Version struct {
	Name     string `json:"version"`
	Sessions int    `json:"sessions"` // that it wrote last
	Tested   bool   `json:"tested"`
}

// Drifted returns how many different things are unknown to this version of rehome.
func (r *Report) Drifted() (n int) {
	for _, c := range r.Clients {
		n += len(c.Drift)
	}
	return n
}

// Run examines the stores of a machine, or below some paths. It changes nothing. A
// store that cannot be read is in the report. The error is non-nil only if a given
// path cannot be searched, or the context ended.
func Run(ctx context.Context, reg *formats.Registry, o Options) (*Report, error) {
	scratch.Sweep()
	list, found, err := sessions.Stores(ctx, reg, sessions.Options{Paths: o.Paths, Machine: o.Machine, Jobs: o.Jobs})
	if err != nil {
		return nil, err
	}
	r := &run{ctx: ctx, reg: reg, o: o, texts: map[string]*formats.Format{}, jobs: workers.Count(o.Jobs), clients: map[*formats.Format]*client{}, unread: make([]error, len(list))}
	sizes := make([]int64, len(list))
	for i, s := range list {
		if loc, err := formats.Locate(s.Path); err == nil {
			sizes[i] = walk.Size(loc)
			s = r.original(s, loc)
			list[i] = s
		}
		c := r.clients[s.Format]
		if c == nil {
			c = newClient(s.Format)
			r.clients[s.Format] = c
		}
		c.Stores++
		c.Bytes += sizes[i]
		c.addPlace(found.Places, s.Path)
	}
	talk := &notify.Notifier{OnProgress: o.OnProgress}
	talk.Update(func(p *notify.Progress) {
		p.Stage, p.Stores = notify.Reading, len(list)
		for _, n := range sizes {
			p.Total += n
		}
	})
	share := max(1, r.jobs/max(1, len(list)))
	workers.Run(ctx, r.jobs, slices.Values(workers.LargestFirst(sizes)), func(i int, last bool) bool {
		err := r.store(list[i], share)
		if !last && workers.TooManyFiles(err) {
			return true
		}
		r.unread[i] = err
		talk.Update(func(p *notify.Progress) { p.StoresDone, p.Done = p.StoresDone+1, p.Done+sizes[i] })
		return false
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.report(reg, list, found), nil
}

// run is one call of Run.
type run struct {
	ctx     context.Context
	reg     *formats.Registry
	texts   map[string]*formats.Format // formats of the stores that are text of another one, by path
	o       Options
	jobs    int
	clients map[*formats.Format]*client
	unread  []error // by store
}

// original returns the store that text was made from in the place of the text, with the
// format of the text in r.texts, and any other store as it is.
func (r *run) original(s sessions.Store, loc *formats.Location) sessions.Store {
	if s.Format.Sessions != nil {
		return s
	}
	r.texts[s.Path] = s.Format
	if origin, err := sessions.Origin(r.ctx, s.Format, loc); err == nil && r.reg.Lookup(origin) != nil {
		s.Format = r.reg.Lookup(origin)
	}
	return s
}

// client is a Client while its stores are read by several goroutines.
type client struct {
	Client
	known    *knowledge
	mu       sync.Mutex
	versions map[string]int
	drift    tally
}

func newClient(f *formats.Format) *client {
	return &client{Client: Client{Format: f, Tested: TestedVersions(f)}, known: knowledgeOf(f), versions: map[string]int{}, drift: tally{}}
}

// addPlace adds the searched path that a store is in.
func (c *client) addPlace(places []string, path string) {
	for _, p := range places {
		if walk.AtOrBelow(path, p) && !slices.Contains(c.Places, p) {
			c.Places = append(c.Places, p)
		}
	}
}

// report sorts the results.
func (r *run) report(reg *formats.Registry, list []sessions.Store, found *sessions.Listing) *Report {
	out := &Report{}
	for i, err := range r.unread {
		if err != nil {
			r.clients[list[i].Format].Unread++
			out.Unread = append(out.Unread, sessions.Unread{Path: list[i].Path, Format: list[i].Format.Name, Err: err})
		}
	}
	out.Unread = append(out.Unread, found.Unread...)
	for _, f := range reg.All() {
		if c := r.clients[f]; c != nil {
			c.finish()
			out.Clients = append(out.Clients, &c.Client)
		}
	}
	return out
}

func (c *client) finish() {
	for name, n := range c.versions {
		c.Versions = append(c.Versions, Version{name, n, slices.Contains(c.Tested, name)})
	}
	slices.SortFunc(c.Versions, func(a, b Version) int { return compareVersions(b.Name, a.Name) })
	c.Drift, c.More = c.drift.sorted()
}

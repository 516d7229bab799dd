package search

import (
	"context"
	"errors"
	"slices"
	"sync"

	"rehome/convert/internal/notify"
	"rehome/convert/internal/walk"
	"rehome/convert/internal/workers"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Options are the options of Run.
type Options struct {
	Query    *Query
	Context  bool // also search what clients add: system prompts, rules, the state of the editor
	First    bool // find only the first hit of each session
	Live     bool // read a store in use in place
	Jobs     int  // workers; 0 = one per CPU
	OnNotice func(string)
	// OnProgress is called when a store has been searched, never twice at once.
	OnProgress func(notify.Progress)
	Verbose    bool // also report which stores are read from a copy

	decodeAll bool // of tests: do not search the stored bytes first
}

// Session is a session with hits.
type Session struct {
	session.Head
	Path   string           // of the store that was searched
	Format string           // of the store
	Listed *sessions.Listed // nil for a subagent that no list names
}

// Hit is a title or a message that matches.
type Hit struct {
	Session *Session // the same for hits that follow each other
	Kind    Kind
	Turn    int           // that the message belongs to, from 1; 0 for a title and in a branch
	Branch  string        // of a message that its client keeps and does not send; "" for others
	Message string        // its id, "" for a title
	At      session.Stamp // of the message
	Excerpt
}

// Report counts what was searched.
type Report struct {
	Stores  int // that were searched
	Decoded int // of these, stores with sessions that had to be decoded
	Unread  []sessions.Unread
}

// Run searches listed sessions, each in its best store, and calls found with every hit
// until that returns false. Stores come in the order of their first session in the
// list; in a store, the sessions of which only the title matches come first. A hit is
// reported as soon as all before it are.
func Run(ctx context.Context, reg *formats.Registry, list []sessions.Listed, o Options, found func(*Hit) bool) (*Report, error) {
	parent := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &searcher{ctx: ctx, o: o, listed: map[string]bool{}, out: &Report{}}
	s.plan(reg, list)
	talk := s.talk()
	var wg sync.WaitGroup
	wg.Go(func() {
		workers.Run(ctx, workers.Count(o.Jobs), slices.Values(s.stores), func(t *target, _ bool) bool {
			defer close(t.hits)
			s.search(t)
			talk.Update(func(p *notify.Progress) { p.StoresDone, p.Done = p.StoresDone+1, p.Done+t.size })
			return false
		})
	})
	stopped := s.report(found)
	cancel()
	wg.Wait()
	for _, t := range s.stores {
		if t.err != nil {
			s.out.Unread = append(s.out.Unread, sessions.Unread{Path: t.path, Format: t.format.Name, Err: t.err})
		}
		if t.searched {
			s.out.Stores++
		}
		if t.decoded {
			s.out.Decoded++
		}
	}
	if stopped {
		return s.out, nil
	}
	return s.out, parent.Err()
}

// talk returns what reports the progress of the search.
func (s *searcher) talk() *notify.Notifier {
	talk := &notify.Notifier{OnProgress: s.o.OnProgress}
	talk.Update(func(p *notify.Progress) {
		p.Stage, p.Stores = notify.Searching, len(s.stores)
		for _, t := range s.stores {
			if loc, err := formats.Locate(t.path); err == nil {
				t.size = walk.Size(loc)
			}
			p.Total += t.size
		}
	})
	return talk
}

// report hands hits on in the order of the stores. It reports whether the consumer
// wanted no more.
func (s *searcher) report(found func(*Hit) bool) (stopped bool) {
	for _, t := range s.stores {
		for open := true; open; {
			select {
			case h, more := <-t.hits:
				if open = more; more && !found(h) {
					return true
				}
			case <-s.ctx.Done():
				return false
			}
		}
	}
	return false
}

// searcher is one call of Run.
type searcher struct {
	ctx    context.Context
	o      Options
	stores []*target
	listed map[string]bool // ids of the sessions to search
	out    *Report
}

// maxWaiting is how many hits of a store wait for those of stores before it.
const maxWaiting = 16

// target is a store to search.
type target struct {
	path   string
	size   int64 // on disk, if progress is reported
	format *formats.Format
	wanted map[string]*sessions.Listed // by id
	ids    []string                    // of wanted, in the order of the list
	hits   chan *Hit
	err    error
	titles map[string]*Hit // in titles, by session, until they are handed on

	searched, decoded bool
}

// plan finds the stores of the sessions.
func (s *searcher) plan(reg *formats.Registry, list []sessions.Listed) {
	byPath := map[string]*target{}
	for _, l := range sessions.Families(list) {
		s.listed[l.ID] = true
		from := l.Sources[0]
		t := byPath[from.Path]
		if f := reg.Lookup(from.Format); t == nil && f != nil {
			f = sessions.Readable(reg, f) // listed, so it has sessions
			t = &target{path: from.Path, format: f, wanted: map[string]*sessions.Listed{}, hits: make(chan *Hit, maxWaiting)}
			byPath[from.Path] = t
			s.stores = append(s.stores, t)
		}
		if t != nil && t.wanted[l.ID] == nil {
			t.wanted[l.ID] = l
			t.ids = append(t.ids, l.ID)
		}
	}
}

// give hands a hit on. It reports whether to continue.
func (s *searcher) give(t *target, h *Hit) bool {
	select {
	case t.hits <- h:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// search searches a store.
func (s *searcher) search(t *target) {
	t.searched = true
	ids, err := s.candidates(t)
	t.decoded = err == nil && len(ids) > 0
	t.titles = map[string]*Hit{}
	for _, id := range t.ids {
		l := t.wanted[id]
		units := []unit{{Title, l.Title}}
		if s.o.Query.request != "" || !s.o.Query.matches(units) {
			continue
		}
		e, _ := s.o.Query.excerpt(units)
		t.titles[id] = &Hit{Session: t.session(&l.Head), Kind: Title, Excerpt: e}
		if !slices.Contains(ids, id) && !s.title(t, id) {
			return
		}
	}
	if t.decoded {
		err = s.decode(t, ids)
	}
	for _, id := range t.ids { // of sessions that could not be decoded
		if !s.title(t, id) {
			return
		}
	}
	if s.ctx.Err() == nil {
		t.err = err
	}
}

// title hands on the hit in the title of a session, if there is one. It reports whether
// to continue.
func (s *searcher) title(t *target, id string) bool {
	h := t.titles[id]
	delete(t.titles, id)
	return h == nil || s.give(t, h)
}

// session returns a session of the store.
func (t *target) session(h *session.Head) *Session {
	out := &Session{Head: *h, Path: t.path, Format: t.format.Name, Listed: t.wanted[h.ID]}
	if out.Listed != nil { // which can know more
		out.Head = out.Listed.Head
	}
	return out
}

func (s *searcher) view() formats.View {
	v := formats.FullView(1)
	v.Live = s.o.Live
	v.Secrets, v.OnOmit, v.OnLoss = formats.WithholdSecrets, func(store.SidecarItem) {}, func(loss.Loss) {}
	if s.o.OnNotice != nil {
		v.OnNotice, v.Verbose = s.o.OnNotice, s.o.Verbose
	}
	return v
}

// candidates returns the ids of the sessions whose stored bytes can match.
func (s *searcher) candidates(t *target) ([]string, error) {
	scan := s.o.Query.scan()
	if t.format.Sessions.Scan == nil || scan.Done() || s.o.decodeAll {
		return t.ids, nil
	}
	loc, err := formats.Locate(t.path)
	if err != nil {
		return nil, err
	}
	if err := t.format.Sessions.Scan(s.ctx, loc, s.view(), scan); err != nil {
		return t.ids, s.ctx.Err() // decoding says what is wrong
	}
	return slices.DeleteFunc(slices.Clone(t.ids), func(id string) bool { return !scan.Matches(id) }), nil
}

// decode searches sessions of a store, and the subagents in their records.
func (s *searcher) decode(t *target, ids []string) error {
	loc, err := formats.Locate(t.path)
	if err != nil {
		return err
	}
	sel := session.Selection{IDs: slices.Sorted(slices.Values(ids)), Sorted: true, Inner: true}
	var errs []error
	for one, err := range t.format.Sessions.Decode(s.ctx, loc, s.view(), sel) {
		if err != nil {
			errs = append(errs, err)
		}
		if one == nil || one.Messages == nil || t.wanted[one.ID] == nil && s.listed[one.ID] { // in a better store
			continue
		}
		if more, err := s.messages(t, one); err != nil {
			errs = append(errs, err)
		} else if !more {
			break
		}
	}
	return errors.Join(errs...)
}

// messages searches the messages of a session. It reports whether to continue.
func (s *searcher) messages(t *target, one *session.Session) (more bool, err error) {
	from := t.session(&one.Head)
	if h := t.titles[one.ID]; h != nil {
		from = h.Session
		if !s.title(t, one.ID) || s.o.First {
			return s.ctx.Err() == nil, nil
		}
	}
	var units []unit
	turn := 0
	for m, err := range one.Messages {
		if err != nil {
			return true, err
		}
		if m.Turn != nil {
			turn = m.Turn.Number
		}
		units = s.o.units(units[:0], m)
		q := s.o.Query
		if q.request != "" && !isRequest(m, q.request) || q.request == "" && !q.matches(units) {
			continue
		}
		h := &Hit{Session: from, Turn: max(turn, 1), Branch: m.Branch, Message: m.ID, At: m.At}
		if m.Branch != "" {
			h.Turn = 0
		}
		if h.Excerpt, h.Kind = q.excerpt(units); h.Kind == "" && len(units) > 0 { // of a request
			h.Excerpt, h.Kind = around(units[0].text, 0, 0), units[0].kind
		}
		if !s.give(t, h) || s.o.First {
			return s.ctx.Err() == nil, nil
		}
	}
	return true, nil
}

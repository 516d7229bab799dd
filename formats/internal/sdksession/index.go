package sdksession

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/members"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// Place is where a document lies.
type Place struct {
	Offset int64
	Row    int64 // row id, or the number of the line
	Len    uint32
}

// Lines are the documents themselves.
type Lines interface {
	// Line reads a document, as it was added; nil if it is not valid JSON any
	// more. It is valid until the next call.
	Line(ctx context.Context, k sdkdoc.Kind, p Place) ([]byte, error)
	// At is its address.
	At(k sdkdoc.Kind, p Place) store.Addr
}

// Index is what is held of all documents: whose they are, and where.
type Index struct {
	agents []*agent
	byID   map[string]*agent
	runs   map[[2]string]*run // by agent and run
	events map[string]*events // by run
	last   *events
	o      members.Object
}

type agent struct {
	id      string
	known   bool // it has a document
	place   Place
	doubles []Place // documents of the same id, which the SDK shows and does not use
	runs    []*run
}

type run struct {
	agent   *agent
	id      string
	known   bool
	place   Place
	doubles []Place
	ordinal int // from 1, among the runs of the agent

	number              int64
	request, model      string
	status              string
	began, said         bool // it was started; it has a result
	start, latest       agentstate.ID
	hasStart, hasLatest bool
	prompt              string // its beginning, once it was looked for
	events              []entry
}

// entry is where one event lies.
type entry struct {
	seq int64
	Place
}

type events struct {
	run  string
	list []entry
}

// NewIndex is an index of nothing yet.
func NewIndex() *Index {
	return &Index{byID: map[string]*agent{}, runs: map[[2]string]*run{}, events: map[string]*events{}}
}

// Add takes a document in, which must be valid JSON as rawjson.Line gives it.
// false: it lacks what it is known by. Documents of one kind come in their
// order, kinds in any.
func (x *Index) Add(k sdkdoc.Kind, b []byte, p Place) bool {
	switch k {
	case sdkdoc.Agent:
		return x.agent(b, p)
	case sdkdoc.Run:
		return x.run(b, p)
	}
	return x.event(b, p)
}

// Agents are the ids of the agents that any document so far names, sorted.
func (x *Index) Agents() []string { return sorted(x.byID) }

// Know adds an agent of which only the id is known.
func (x *Index) Know(id string) { x.find(id) }

// Unwanted returns a function that reports whether the events of a run are of no session
// with one of some ids; nil if that is not known: none are given, or one that is of no
// agent so far.
func (x *Index) Unwanted(ids []string) func(run []byte) bool {
	if len(ids) == 0 {
		return nil
	}
	wanted, runs := map[string]bool{}, make(map[string]bool, len(x.runs))
	for _, id := range ids {
		if wanted[id] = true; x.byID[id] == nil {
			return nil
		}
	}
	for key := range x.runs { // of two agents with one run id either can have the events
		runs[key[1]] = runs[key[1]] || wanted[key[0]]
	}
	return func(run []byte) bool {
		wanted, known := runs[string(run)]
		return known && !wanted
	}
}

func (x *Index) agent(b []byte, p Place) bool {
	if !x.o.Split(b, "", []string{"agentId"}) || !rawjson.IsText(x.o.Raw(0)) {
		return false
	}
	a := x.find(x.o.Text(0))
	if a.known {
		a.doubles = append(a.doubles, p)
		return true
	}
	a.known, a.place = true, p
	x.agents = append(x.agents, a)
	return true
}

// find is the agent of an id, known or not.
func (x *Index) find(id string) *agent {
	a := x.byID[id]
	if a == nil {
		a = &agent{id: id}
		x.byID[id] = a
	}
	return a
}

func (x *Index) run(b []byte, p Place) bool {
	d := sdkdoc.ReadRun(b)
	if d == nil {
		return false
	}
	key := [2]string{d.Agent, d.Turn.ID}
	if r := x.runs[key]; r != nil {
		r.doubles = append(r.doubles, p)
		return true
	}
	a := x.find(d.Agent)
	r := &run{agent: a, id: d.Turn.ID, known: true, place: p, number: d.Number, request: d.Turn.RequestID, model: d.Turn.Model, status: d.Turn.Status}
	r.began, r.said = d.Turn.Start.Known(), d.Result != ""
	r.start, r.hasStart = agentstate.ParseID(d.Start)
	r.latest, r.hasLatest = agentstate.ParseID(d.Latest)
	a.runs = append(a.runs, r)
	x.runs[key] = r
	return true
}

func (x *Index) event(b []byte, p Place) bool {
	id, seq, ok := sdkdoc.ReadSeq(b)
	if ok {
		x.AddEvent(id, seq, p)
	}
	return ok
}

// AddEvent takes in an event whose run and number are known.
func (x *Index) AddEvent(id string, seq int64, p Place) {
	if x.last == nil || x.last.run != id {
		if x.last = x.events[id]; x.last == nil {
			x.last = &events{run: id}
			x.events[id] = x.last
		}
	}
	x.last.list = append(x.last.list, entry{seq, p})
}

// settle ties events to runs and puts everything in order: agents as the
// catalog has them, those it lacks by id; runs by number; events by seq. lost
// are the events of runs that no document speaks of, and that say of no agent
// whose they are.
func (x *Index) settle(ctx context.Context, l Lines) (lost []entry, err error) {
	for _, id := range sorted(x.byID) { // of two agents with one run id the first has the events
		for _, r := range x.byID[id].runs {
			if e := x.events[r.id]; e != nil {
				r.events, e.list = e.list, nil
			}
		}
	}
	for _, id := range sorted(x.events) {
		list := x.events[id].list
		if len(list) == 0 {
			continue
		}
		owner, err := x.owner(ctx, l, list)
		if err != nil {
			return nil, err
		}
		if owner == "" {
			lost = append(lost, list...)
			continue
		}
		a := x.find(owner)
		a.runs = append(a.runs, &run{agent: a, id: id, number: 1 << 62, events: list, began: true})
	}
	x.events = nil
	for _, id := range sorted(x.byID) {
		a := x.byID[id]
		if !a.known {
			x.agents = append(x.agents, a)
		}
		slices.SortStableFunc(a.runs, func(a, b *run) int {
			return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.id, b.id))
		})
		for i, r := range a.runs {
			r.ordinal = i + 1
			slices.SortStableFunc(r.events, func(a, b entry) int { return cmp.Compare(a.seq, b.seq) })
		}
	}
	return lost, nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// owner is the agent that one of the first events of a run names.
func (x *Index) owner(ctx context.Context, l Lines, list []entry) (string, error) {
	for _, e := range list[:min(len(list), 8)] {
		line, err := l.Line(ctx, sdkdoc.Event, e.Place)
		if err != nil {
			return "", err
		}
		var ev event
		ev.parse(line)
		if ev.agent != "" {
			return ev.agent, nil
		}
	}
	return "", nil
}

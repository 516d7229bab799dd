package convert

import (
	"context"
	"errors"
	"maps"
	"slices"

	"rehome/convert/internal/workers"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// selection returns the sessions that were selected by id.
func (in *input) selection() session.Selection {
	return session.Selection{IDs: in.opts.Sessions, Sorted: true}
}

// filtered reports whether sessions are selected by what their heads say.
func (in *input) filtered() bool { return in.opts.Workspace != "" || in.opts.Since != 0 }

// selectFrom returns which sessions of a store to decode, as far as its heads
// tell: the others of a large store are not read. some is false if there are
// none.
func (in *input) selectFrom(ctx context.Context, i int, from *formats.Format, loc *formats.Location, v formats.View) (sel session.Selection, some bool, err error) {
	sel = in.selection()
	sel.Inner, sel.History = in.inner, in.opts.History
	if in.skip != nil && in.skip[i] {
		return sel, false, nil
	}
	if !in.filtered() || from.Sessions.Heads == nil {
		return sel, true, nil
	}
	c := newSelector(in)
	v.OnLoss = nil // decoding notes the same losses again
	for h, err := range from.Sessions.Heads(ctx, loc, v) {
		if err != nil {
			return sel, true, ctx.Err() // decoding reports the error
		}
		c.add(h)
	}
	sel.IDs, sel.Inner = c.all(), len(in.opts.Sessions) == 0
	slices.Sort(sel.IDs)
	return sel, len(sel.IDs) > 0, ctx.Err()
}

// skipUnlisted looks for the selected sessions in the lists of all stores. If
// every one is in some list, stores that list none of them are not read.
func (in *input) skipUnlisted(ctx context.Context) {
	if len(in.opts.Sessions) == 0 || len(in.found) < 2 {
		return
	}
	listed, without := make([]map[string]bool, len(in.found)), make([]bool, len(in.found))
	workers.Run(ctx, workers.Count(in.opts.Jobs), slices.Values(workers.LargestFirst(in.sizes)), func(i int, _ bool) bool {
		f := in.found[i]
		if f.Loc == nil || f.Detected[0].Format.Sessions == nil || f.Detected[0].Format.Sessions.Heads == nil {
			return false
		}
		v, seen, complete := formats.FullView(1), map[string]bool{}, true
		v.Live = in.opts.Live
		for h, err := range f.Detected[0].Format.Sessions.Heads(ctx, f.Loc, v) {
			if complete = complete && err == nil; h != nil && in.selection().Includes(h.ID) {
				seen[h.ID] = true
			}
		}
		listed[i], without[i] = seen, complete && len(seen) == 0
		return false
	})
	all := map[string]bool{}
	for _, seen := range listed {
		maps.Copy(all, seen)
	}
	if len(all) == len(in.opts.Sessions) { // otherwise they may be inside of listed sessions
		in.skip = without
	}
}

// selector selects the sessions of a store's list to decode.
type selector struct {
	*input
	ids      []string
	taken    map[string]bool
	listed   map[string]bool
	children map[string][]string // by parent: those that are not selected themselves
}

func newSelector(in *input) *selector {
	return &selector{input: in, taken: map[string]bool{}, listed: map[string]bool{}, children: map[string][]string{}}
}

func (c *selector) add(h *session.Head) {
	c.listed[h.ID] = true
	switch {
	case c.selection().Includes(h.ID) && c.mayMatch(h):
		c.take(h.ID)
	case h.Parent != nil && len(c.opts.Sessions) == 0:
		c.children[h.Parent.Session] = append(c.children[h.Parent.Session], h.ID)
	}
}

func (c *selector) take(id string) {
	if !c.taken[id] {
		c.taken[id] = true
		c.ids = append(c.ids, id)
	}
}

// all returns the sessions to decode: those selected, their subagents, however
// old, and ids that are not in the list, which may be inside of another
// session.
func (c *selector) all() []string {
	for i := 0; i < len(c.ids); i++ {
		for _, kid := range c.children[c.ids[i]] {
			c.take(kid)
		}
	}
	for _, id := range c.opts.Sessions {
		if !c.listed[id] {
			c.take(id)
		}
	}
	return c.ids
}

// selectSessions restricts a reader of records to the selected sessions of the
// store's list.
func (c *exactConversion) selectSessions(ctx context.Context, from *formats.Format, v *formats.View) error {
	if len(c.opts.Sessions) == 0 && !c.filtered() {
		return nil
	}
	quiet := *v
	quiet.OnLoss = func(loss.Loss) {}
	wanted := c.selection()
	for h, err := range from.Sessions.Heads(ctx, c.source.Loc, quiet) {
		if err != nil {
			return err
		}
		if wanted.Includes(h.ID) && c.matches(h) {
			v.Sessions = append(v.Sessions, h.ID)
		}
	}
	if len(v.Sessions) == 0 {
		return c.noMatch()
	}
	return ctx.Err()
}

// mayMatch is matches for a head with unknown values.
func (in *input) mayMatch(h *session.Head) bool {
	unknown := *h
	if unknown.Workspace == "" {
		unknown.Workspace = in.opts.Workspace
	}
	return !lastChange(h).Known() && in.project.Contains(unknown.Workspace) || in.matches(&unknown)
}

// matches reports whether a session is selected.
func (in *input) matches(h *session.Head) bool {
	return in.project.Contains(h.Workspace) && (in.opts.Since == 0 || lastChange(h).Known() && lastChange(h).Millis() >= in.opts.Since)
}

// lastChange returns when a session was last changed or, if unknown, created.
func lastChange(h *session.Head) session.Stamp {
	if h.Updated.Known() {
		return h.Updated
	}
	return h.Created
}

// requireMatch returns an error if a selection matches no session.
func (j *job) requireMatch() error {
	if !j.filtered() && len(j.opts.Sessions) == 0 {
		return nil
	}
	for _, s := range j.rep.Stores {
		if len(s.Sessions) > 0 || s.Status == Failed {
			return nil
		}
	}
	return j.noMatch()
}

func (in *input) noMatch() error {
	return &formats.Error{At: in.src, Err: errors.New("no session matches the selection"), Hint: "run `rehome ls PATH` to list its sessions"}
}

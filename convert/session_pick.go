package convert

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// chosen are the sessions that were named.
func (j *job) chosen() session.Selection { return session.Selection{IDs: j.wanted, Sorted: true} }

// picky reports whether sessions are chosen by what their heads say.
func (j *job) picky() bool { return j.o.Workspace != "" || j.o.Since != 0 }

// pick is which of a store's sessions are to be decoded, as far as its heads
// tell: of a large store the others are not read. some is false where none is
// wanted at all.
func (j *job) pick(ctx context.Context, i int, from *formats.Format, loc *formats.Location, v formats.View) (sel session.Selection, some bool, err error) {
	sel = j.chosen()
	sel.Inner, sel.History = j.moving != nil, j.o.History
	if j.without != nil && j.without[i] {
		return sel, false, nil
	}
	if !j.picky() || from.Heads == nil {
		return sel, true, nil
	}
	c := newChoice(j)
	v.OnLoss = nil // decoding notes the same again
	for h, err := range from.Heads(ctx, loc, v) {
		if err != nil {
			return sel, true, ctx.Err() // decoding says what is wrong
		}
		c.see(h)
	}
	sel.IDs, sel.Inner = c.all(), len(j.o.Sessions) == 0
	slices.Sort(sel.IDs)
	return sel, len(sel.IDs) > 0, ctx.Err()
}

// findChosen looks for the sessions that were named in the lists of all stores.
// Where each is in some list, the stores that list none of them are not read.
func (j *job) findChosen(ctx context.Context) {
	if len(j.wanted) == 0 || len(j.found) < 2 {
		return
	}
	listed, without := make([]map[string]bool, len(j.found)), make([]bool, len(j.found))
	spread(ctx, jobsOr(j.o.Jobs), j.largestFirst(), func(i int, _ bool) bool {
		f := j.found[i]
		if f.Loc == nil || f.Detected[0].Format.Heads == nil {
			return false
		}
		v, seen, whole := wholeView(1), map[string]bool{}, true
		v.Live = j.o.Live
		for h, err := range f.Detected[0].Format.Heads(ctx, f.Loc, v) {
			if whole = whole && err == nil; h != nil && j.chosen().Includes(h.ID) {
				seen[h.ID] = true
			}
		}
		listed[i], without[i] = seen, whole && len(seen) == 0
		return false
	})
	all := map[string]bool{}
	for _, seen := range listed {
		maps.Copy(all, seen)
	}
	if len(all) == len(j.wanted) { // else the others may lie inside of sessions that are listed
		j.without = without
	}
}

// choice is what of a store's list is to be decoded.
type choice struct {
	*job
	ids    []string
	taken  map[string]bool
	listed map[string]bool
	kids   map[string][]string // by parent: those that are not wanted for themselves
}

func newChoice(j *job) *choice {
	return &choice{job: j, taken: map[string]bool{}, listed: map[string]bool{}, kids: map[string][]string{}}
}

func (c *choice) see(h *session.Head) {
	c.listed[h.ID] = true
	switch {
	case c.chosen().Includes(h.ID) && c.mayPick(h):
		c.take(h.ID)
	case h.Parent != nil && len(c.o.Sessions) == 0:
		c.kids[h.Parent.Session] = append(c.kids[h.Parent.Session], h.ID)
	}
}

func (c *choice) take(id string) {
	if !c.taken[id] {
		c.taken[id] = true
		c.ids = append(c.ids, id)
	}
}

// all are the sessions to be decoded: with those that are wanted their
// subagents, whatever their own times are; and what was asked for by a name
// that the list does not know, for it can lie inside of another session.
func (c *choice) all() []string {
	for i := 0; i < len(c.ids); i++ {
		for _, kid := range c.kids[c.ids[i]] {
			c.take(kid)
		}
	}
	for _, id := range c.o.Sessions {
		if !c.listed[id] {
			c.take(id)
		}
	}
	return c.ids
}

// choose tells a reader of records which sessions are wanted: those of the
// store's list, for without them there would be nothing to carry.
func (c *carriage) choose(ctx context.Context, from *formats.Format, v *formats.View) error {
	if len(c.o.Sessions) == 0 && !c.picky() {
		return nil
	}
	quiet := *v
	quiet.OnLoss = func(loss.Loss) {}
	wanted := c.chosen()
	for h, err := range from.Heads(ctx, c.found.Loc, quiet) {
		if err != nil {
			return err
		}
		if wanted.Includes(h.ID) && c.picks(h) {
			v.Sessions = append(v.Sessions, h.ID)
		}
	}
	if len(v.Sessions) == 0 {
		return c.nobody()
	}
	return ctx.Err()
}

// mayPick is picks for a head that need not know everything.
func (j *job) mayPick(h *session.Head) bool {
	unknown := *h
	if unknown.Workspace == "" {
		unknown.Workspace = j.o.Workspace
	}
	return !changed(h).Known() && j.here(&unknown) || j.picks(&unknown)
}

// picks reports whether a session is wanted.
func (j *job) picks(h *session.Head) bool {
	return j.here(h) && (j.o.Since == 0 || changed(h).Known() && changed(h).Millis() >= j.o.Since)
}

// here reports whether a session belongs to the folder that is asked for.
// Sessions of other machines name folders that are not on this one, so that
// what was written is compared as well as what it leads to.
func (j *job) here(h *session.Head) bool {
	if j.o.Workspace == "" || h.Workspace != "" && filepath.Clean(h.Workspace) == filepath.Clean(j.o.Workspace) {
		return true
	}
	for _, dir := range folders(j.o.Workspace) {
		if below(h.Workspace, dir) {
			return true
		}
	}
	return false
}

// changed is when a session last changed, or else began.
func changed(h *session.Head) session.Stamp {
	if h.Updated.Known() {
		return h.Updated
	}
	return h.Created
}

// someChosen refuses a choice that no session meets: nothing at all is what
// nobody asks for.
func (j *job) someChosen() error {
	if !j.picky() && len(j.o.Sessions) == 0 {
		return nil
	}
	for _, s := range j.rep.Stores {
		if len(s.Sessions) > 0 || s.Status == Failed {
			return nil
		}
	}
	return j.nobody()
}

func (j *job) nobody() error {
	return &formats.Error{At: j.src, Err: errors.New("no session matches the selection"), Hint: "run `rehome ls PATH` to list its sessions"}
}

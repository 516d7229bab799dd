package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/schemas"
)

// climb is the way of one store along the session lane: up to its sessions, and
// down into a file for each.
type climb struct {
	*job
	found   Found
	rep     *StoreReport
	index   int
	jobs    int
	to      *formats.Format
	lines   *schemas.Lines // the judge of the middle
	calls   *calls
	books   session.SharedAccount
	done    []finished
	begun   int // sessions that were begun
	waiting []*written
	errs    []error                  // of the sessions that failed, the first few
	goals   map[string]*goal         // of a migration: by session
	roots   map[string]*session.Head // of a conversion: the outermost session above each, or itself

	mu   sync.Mutex
	at   *loss.Log // of the session at hand, or the next one
	lost loss.Log  // of the store as a whole
}

// middleSchema is that of the lines that every session passes through.
const middleSchema = "canonical-1"

// carrySessions fills in the report of store i, and leaves its sessions staged.
func (j *job) carrySessions(ctx context.Context, i, jobs int, last bool) error {
	rep := &j.rep.Stores[i]
	c := &climb{job: j, found: j.found[i], rep: rep, index: i, jobs: jobs, to: j.reg.Lookup(j.o.To), at: &loss.Log{}, calls: newCalls()}
	rep.To = c.to.Name
	err := c.run(ctx)
	if at := slices.IndexFunc(append(slices.Clone(c.errs), err), filesUsedUp); at >= 0 && !last {
		c.erase()
		return append(c.errs, err)[at]
	}
	rep.Losses = append(rep.Losses, c.lost.Groups()...)
	sum := c.books.Total()
	rep.Rows, rep.Superseded = sum.Read, sum.Superseded
	if err != nil {
		rep.failSessions()
		if c.erase(); fatal(err) {
			return err
		}
		rep.fail(j.explain(err))
		return nil
	}
	if rep.Status = rep.sum(j.o.DryRun); rep.Status == Failed {
		rep.fail(c.allFailed())
	}
	j.finished[i] = c.done
	return nil
}

func (c *climb) run(ctx context.Context) error {
	from, loc := c.found.Detected[0].Format, c.found.Loc
	if from.Decode == nil {
		var err error
		if from, loc, err = c.restore(ctx, from); err != nil {
			return err
		}
		defer os.RemoveAll(c.scratch())
	}
	var err error
	if c.lines, err = c.judge(); err != nil {
		return err
	}
	defer c.judges.Put(c.lines)
	if err := os.MkdirAll(c.room(), 0o777); err != nil {
		return err
	}
	v := formats.View{
		Secrets: formats.WithholdSecrets, OnOmit: func(store.SidecarItem) {},
		OnLoss: inFile(c.found.Loc, c.note), OnNotice: c.say, Verbose: c.o.Verbose, Live: c.o.Live, Jobs: c.jobs,
	}
	sel, some, err := c.pick(ctx, c.index, from, loc, v)
	if err != nil || !some {
		return err
	}
	defer c.abandon()
	sel.Account = &c.books
	for s, err := range c.folders.decode(ctx, from, loc, c.found.Loc.Path, v, sel) {
		if err != nil && s == nil {
			return err
		}
		if s != nil && !c.picks(&s.Head) && !c.belongs(s) {
			continue
		}
		if err == nil {
			err = c.one(ctx, s)
		} else {
			if e := c.settled(); fatal(e) {
				return e
			}
			c.reported(s, nil, c.turn(), err)
		}
		if fatal(err) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := c.settled(); fatal(err) {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.strays()
	return c.balanced()
}

// balanced reports books that do not speak of the whole store, where all of it
// was to be read.
func (c *climb) balanced() error {
	sum := c.books.Total()
	if len(c.errs) > 0 || c.picky() || len(c.o.Sessions) > 0 || sum.Balanced() {
		return nil
	}
	return &formats.Error{Err: fmt.Errorf("not all of %s is accounted for: %d records read, %d converted, %d carried raw, %d superseded, %d unreadable; %d members read, %d converted, %d carried raw",
		c.found.Loc.Path, sum.Read, sum.Converted, sum.CarriedRaw, sum.Superseded, sum.Unreadable, sum.Members, sum.MembersConverted, sum.MembersRaw), Hint: ourFault}
}

// allFailed is the error of a store of which no session came through.
func (c *climb) allFailed() error {
	if len(c.errs) == 1 {
		return c.errs[0]
	}
	return &formats.Error{At: c.found.Loc.Path, Err: fmt.Errorf("none of its %d sessions could be converted, the first because: %w", len(c.rep.Sessions), c.errs[0]), Hint: formats.Hint(c.errs[0])}
}

// judge is one that has seen the sessions of other stores, if there is one:
// what it has learned of them serves for the next.
func (j *job) judge() (*schemas.Lines, error) {
	if l, ok := j.judges.Get().(*schemas.Lines); ok {
		return l, nil
	}
	return schemas.NewLines(middleSchema)
}

// room is where this store's sessions wait, scratch where its text is made a
// store again.
func (c *climb) room() string { return filepath.Join(c.stage.Root, "sessions", strconv.Itoa(c.index)) }

func (c *climb) scratch() string {
	return filepath.Join(c.stage.Root, "restored", strconv.Itoa(c.index))
}

func (c *climb) erase() {
	os.RemoveAll(c.room()) // what is left goes with the staging folder
	c.done = nil
}

func (c *climb) say(s string) {
	if c.found.Rel != "." && !strings.Contains(s, c.found.Rel) {
		s = c.found.Rel + ": " + s
	}
	c.talk.Say(s)
}

// note enters a loss for the session at hand. What a decoder notes between two
// sessions is taken for the next one's.
func (c *climb) note(n loss.Loss) {
	c.mu.Lock()
	at := c.at
	c.mu.Unlock()
	at.Add(n)
	c.lost.Add(n)
	if c.noted != nil {
		c.noted(n)
	}
}

// turn begins the books of the next session, and returns those at hand.
func (c *climb) turn() *loss.Log {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.at
	c.at = &loss.Log{}
	return at
}

// one takes a session through the middle into its file, and reads that again.
func (c *climb) one(ctx context.Context, s *session.Session) error {
	m := &middle{lines: c.lines, progress: func(n int) { c.talk.add(c.found.Rel, n) }}
	staged := filepath.Join(c.room(), strconv.Itoa(c.begun))
	c.begun++
	build := formats.Build{Path: staged, Jobs: c.jobs, OnLoss: c.note, Root: c.root(s)}
	tapped := m.tap(c.calls.listen(s))
	if c.moving != nil && s.Status == session.PromptHistory {
		c.turn()
		c.rep.Sessions = append(c.rep.Sessions, SessionReport{ID: s.ID, Status: skippedHistory})
		return nil
	}
	if c.moving != nil {
		g, err := c.aim(s)
		if err != nil {
			g.walk(s)
			if e := c.settled(); fatal(e) {
				return e
			}
			return c.reported(s, m, c.turn(), err)
		}
		if g.there { // it stays as it is: only how long it is has to be known
			err := drain(ctx, tapped)
			if e := c.settled(); fatal(e) {
				return e
			}
			c.turn()
			return c.reported(s, m, &loss.Log{}, err, "")
		}
		tapped = m.tap(g.watched(c.calls.listen(s)))
		build.Cwd, build.Root, build.DropThinking, build.FullHistory = g.cwd, g.root, c.moving.o.DropThinking, c.moving.o.FullHistory
	}
	var err error
	switch {
	case c.o.DryRun && c.to.Verify == nil:
		err = drain(ctx, tapped)
	default:
		if err = c.to.Encode(ctx, tapped, build); err == nil {
			return c.again(ctx, s, m, staged)
		}
	}
	if e := c.settled(); fatal(e) {
		return e
	}
	return c.reported(s, m, c.turn(), err, staged)
}

// reported enters a session's fate, and returns why it failed, if it did.
func (c *climb) reported(s *session.Session, m *middle, books *loss.Log, err error, staged ...string) error {
	r := SessionReport{ID: s.ID, Agent: s.Agent, Title: s.Title, Workspace: s.Workspace, Losses: books.Groups()}
	r.skip = c.moving != nil && c.goals[s.ID].empty()
	if m != nil {
		r.Messages, r.Turns, r.Bytes = m.messages, m.turns, m.size
		c.rep.Bytes += m.size
	}
	switch {
	case r.skip:
		r.Status = skippedEmpty
	case err != nil:
		r.Status = Failed
		worded := c.explain(err)
		if len(c.errs) < keepErrors {
			c.errs = append(c.errs, worded)
		}
		r.Error = &ErrorReport{Message: worded.Error(), Hint: formats.Hint(worded)}
	case books.Worst() > c.o.Allow:
		r.Status = Withheld
	default:
		if r.Status = Placed; c.o.DryRun {
			r.Status = Checked
		}
		f := finished{head: filed(c.calls.head(&s.Head), c.roots[s.ID]), report: len(c.rep.Sessions)}
		if !c.o.DryRun {
			f.staged = staged[0]
		}
		c.done = append(c.done, f)
	}
	if c.moving != nil {
		r.head, r.goal, r.err = *c.calls.head(&s.Head), c.goals[s.ID], err
		if len(staged) > 0 {
			r.staged = staged[0]
		}
	}
	if kept := r.Status == Placed || c.moving != nil && r.Status == Checked || r.skip && err == nil; !kept {
		for _, path := range staged {
			if path == "" {
				continue
			}
			if e := os.Remove(path); e != nil && !errors.Is(e, os.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}
	c.rep.Sessions = append(c.rep.Sessions, r)
	if r.skip {
		return nil
	}
	return err
}

// strays are losses that were noted behind the last session. Where that is the
// only one they are its own.
func (c *climb) strays() {
	books := c.turn()
	if books.Worst() == 0 {
		return
	}
	if len(c.rep.Sessions) != 1 {
		c.rep.beyond = books.Worst() > c.o.Allow
		return
	}
	r := &c.rep.Sessions[0]
	r.Losses = append(r.Losses, books.Groups()...)
	if books.Worst() > c.o.Allow && r.Status != Failed {
		r.Status = Withheld
		c.erase()
	}
}

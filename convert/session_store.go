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

	"rehome/convert/internal/workers"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/schemas"
)

// sessionConversion is the session conversion of one store: decode its
// sessions, and encode a file for each.
type sessionConversion struct {
	*job
	found      Found
	rep        *StoreReport
	index      int
	jobs       int
	to         *formats.Format
	validator  *schemas.Lines // for lineChecker
	calls      *callIndex
	account    session.SharedAccount
	done       []stagedSession
	started    int // number of sessions started
	pending    []*pendingSession
	errs       []error                  // of the sessions that failed; the first few
	placements map[string]*placement    // for a migration: by session
	roots      map[string]*session.Head // for a conversion: the outermost session above each, or itself

	mu          sync.Mutex
	current     *loss.Log // of the current session, or the next one
	storeLosses loss.Log  // of the whole store
}

// sessionSchema is the schema of the lines of every session.
const sessionSchema = "canonical-1"

// convertSessions converts store i session by session, fills in its report, and
// leaves the sessions staged.
func (j *job) convertSessions(ctx context.Context, i, jobs int, last bool) error {
	rep := &j.rep.Stores[i]
	c := &sessionConversion{job: j, found: j.found[i], rep: rep, index: i, jobs: jobs, to: j.reg.Lookup(j.opts.To), current: &loss.Log{}, calls: newCallIndex()}
	rep.To = c.to.Name
	err := c.run(ctx)
	if at := slices.IndexFunc(append(slices.Clone(c.errs), err), workers.TooManyFiles); at >= 0 && !last {
		c.removeStaged()
		return append(c.errs, err)[at]
	}
	rep.Losses = append(rep.Losses, c.storeLosses.Groups()...)
	sum := c.account.Total()
	rep.Rows, rep.Superseded = sum.Read, sum.Superseded
	if err != nil {
		rep.failSessions()
		if c.removeStaged(); fatal(err) {
			return err
		}
		rep.fail(j.explain(err))
		return nil
	}
	if rep.Status = rep.status(j.opts.DryRun); rep.Status == Failed {
		rep.fail(c.allFailed())
	}
	j.stagedSessions[i] = c.done
	return nil
}

func (c *sessionConversion) run(ctx context.Context) error {
	from, loc := c.found.Detected[0].Format, c.found.Loc
	if from.Sessions == nil {
		var err error
		if from, loc, err = c.restore(ctx, from); err != nil {
			return err
		}
		defer os.RemoveAll(c.restoreDir())
	}
	var err error
	if c.validator, err = c.newValidator(); err != nil {
		return err
	}
	defer c.validators.Put(c.validator)
	if err := os.MkdirAll(c.stagingDir(), 0o777); err != nil {
		return err
	}
	v := formats.View{
		Secrets: formats.WithholdSecrets, OnOmit: func(store.SidecarItem) {},
		OnLoss: withFileName(c.found.Loc, c.note), OnNotice: c.say, Verbose: c.opts.Verbose, Live: c.opts.Live, Jobs: c.jobs,
	}
	sel, some, err := c.selectFrom(ctx, c.index, from, loc, v)
	if err != nil || !some {
		return err
	}
	defer c.abandon()
	sel.Account = &c.account
	for s, err := range c.folders.DecodeAt(ctx, from, loc, c.found.Loc.Path, v, sel) {
		if err != nil && s == nil {
			return err
		}
		if s != nil && !c.matches(&s.Head) && !c.isSubagent(s) {
			continue
		}
		if err == nil {
			err = c.convertSession(ctx, s)
		} else {
			if e := c.finishPending(); fatal(e) {
				return e
			}
			c.finish(s, nil, c.nextLosses(), err)
		}
		if fatal(err) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := c.finishPending(); fatal(err) {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.trailingLosses()
	return c.checkAccount()
}

// checkAccount returns an error if not every record is accounted for, provided
// that all of the store was to be read.
func (c *sessionConversion) checkAccount() error {
	sum := c.account.Total()
	if len(c.errs) > 0 || c.filtered() || len(c.opts.Sessions) > 0 || sum.Balanced() {
		return nil
	}
	return &formats.Error{Err: fmt.Errorf("not all of %s is accounted for: %d records read, %d converted, %d carried raw, %d superseded, %d unreadable; %d members read, %d converted, %d carried raw",
		c.found.Loc.Path, sum.Read, sum.Converted, sum.CarriedRaw, sum.Superseded, sum.Unreadable, sum.Members, sum.MembersConverted, sum.MembersRaw), Hint: bugHint}
}

// allFailed returns the error of a store of which every session failed.
func (c *sessionConversion) allFailed() error {
	if len(c.errs) == 1 {
		return c.errs[0]
	}
	return &formats.Error{At: c.found.Loc.Path, Err: fmt.Errorf("none of its %d sessions could be converted; the first error was: %w", len(c.rep.Sessions), c.errs[0]), Hint: formats.Hint(c.errs[0])}
}

// newValidator returns a validator, if possible one that has seen the sessions
// of other stores: what it has learned speeds up the next.
func (j *job) newValidator() (*schemas.Lines, error) {
	if l, ok := j.validators.Get().(*schemas.Lines); ok {
		return l, nil
	}
	return schemas.NewLines(sessionSchema)
}

// stagingDir returns the folder in which this store's sessions are staged, and
// restoreDir the one to which its text is restored.
func (c *sessionConversion) stagingDir() string {
	return filepath.Join(c.stage.Root, "sessions", strconv.Itoa(c.index))
}

func (c *sessionConversion) restoreDir() string {
	return filepath.Join(c.stage.Root, "restored", strconv.Itoa(c.index))
}

func (c *sessionConversion) removeStaged() {
	os.RemoveAll(c.stagingDir()) // the rest is removed with the staging folder
	c.done = nil
}

func (c *sessionConversion) say(s string) {
	if c.found.Rel != "." && !strings.Contains(s, c.found.Rel) {
		s = c.found.Rel + ": " + s
	}
	c.notify.Say(s)
}

// note adds a loss to the current session. Losses between two sessions count
// for the next one.
func (c *sessionConversion) note(n loss.Loss) {
	c.mu.Lock()
	at := c.current
	c.mu.Unlock()
	at.Add(n)
	c.storeLosses.Add(n)
	if c.onLoss != nil {
		c.onLoss(n)
	}
}

// nextLosses starts the losses of the next session, and returns the current
// ones.
func (c *sessionConversion) nextLosses() *loss.Log {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.current
	c.current = &loss.Log{}
	return at
}

// convertSession encodes a session to its file, and verifies it.
func (c *sessionConversion) convertSession(ctx context.Context, s *session.Session) error {
	m := &lineChecker{validator: c.validator, progress: func(n int) { c.notify.add(c.found.Rel, n) }}
	staged := filepath.Join(c.stagingDir(), strconv.Itoa(c.started))
	c.started++
	build := formats.Build{Path: staged, Jobs: c.jobs, OnLoss: c.note, Root: c.root(s)}
	tapped := m.wrap(c.calls.record(s))
	if c.migration != nil && s.Status == session.PromptHistory {
		c.nextLosses()
		c.rep.Sessions = append(c.rep.Sessions, SessionReport{ID: s.ID, Status: skippedHistory})
		return nil
	}
	if c.migration != nil {
		g, err := c.placementOf(s)
		if err != nil {
			g.findContent(s)
			if e := c.finishPending(); fatal(e) {
				return e
			}
			return c.finish(s, m, c.nextLosses(), err)
		}
		if g.inPlace { // it stays as it is: only its size is needed
			err := drain(ctx, tapped)
			if e := c.finishPending(); fatal(e) {
				return e
			}
			c.nextLosses()
			return c.finish(s, m, &loss.Log{}, err, "")
		}
		tapped = m.wrap(g.observe(c.calls.record(s)))
		build.Cwd, build.Root, build.DropThinking, build.FullHistory = g.cwd, g.root, c.migration.o.DropThinking, c.migration.o.FullHistory
	}
	var err error
	switch {
	case c.opts.DryRun && c.to.Writer.Verify == nil:
		err = drain(ctx, tapped)
	default:
		if err = c.to.Writer.Encode(ctx, tapped, build); err == nil {
			return c.verifyLater(ctx, s, m, staged)
		}
	}
	if e := c.finishPending(); fatal(e) {
		return e
	}
	return c.finish(s, m, c.nextLosses(), err, staged)
}

// finish adds the report of a session, and returns why it failed, if it did.
func (c *sessionConversion) finish(s *session.Session, m *lineChecker, losses *loss.Log, err error, staged ...string) error {
	r := SessionReport{ID: s.ID, Agent: s.Agent, Title: s.Title, Workspace: s.Workspace, Losses: losses.Groups()}
	r.skip = c.migration != nil && c.placements[s.ID].empty()
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
		if len(c.errs) < maxErrors {
			c.errs = append(c.errs, worded)
		}
		r.Error = &ErrorReport{Message: worded.Error(), Hint: formats.Hint(worded)}
	case losses.Worst() > c.opts.Allow:
		r.Status = Withheld
	default:
		if r.Status = Placed; c.opts.DryRun {
			r.Status = Checked
		}
		f := stagedSession{head: fileHead(c.calls.head(&s.Head), c.roots[s.ID]), report: len(c.rep.Sessions)}
		if !c.opts.DryRun {
			f.staged = staged[0]
		}
		c.done = append(c.done, f)
	}
	if c.migration != nil {
		r.head, r.placement, r.err = *c.calls.head(&s.Head), c.placements[s.ID], err
		if len(staged) > 0 {
			r.staged = staged[0]
		}
	}
	if kept := r.Status == Placed || c.migration != nil && r.Status == Checked || r.skip && err == nil; !kept {
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

// trailingLosses adds losses that were noted after the last session. If that is
// the only session, they are its own.
func (c *sessionConversion) trailingLosses() {
	losses := c.nextLosses()
	if losses.Worst() == 0 {
		return
	}
	if len(c.rep.Sessions) != 1 {
		c.rep.lossesBeyond = losses.Worst() > c.opts.Allow
		return
	}
	r := &c.rep.Sessions[0]
	r.Losses = append(r.Losses, losses.Groups()...)
	if losses.Worst() > c.opts.Allow && r.Status != Failed {
		r.Status = Withheld
		c.removeStaged()
	}
}

package convert

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"rehome/convert/internal/pipe"
	"rehome/convert/internal/redact"
	"rehome/convert/internal/workers"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/schemas"
)

// sessionStore is one store whose sessions are converted.
type sessionStore struct {
	*input
	at    Found
	index int
	to    *formats.Format
	pipe.Destination
	isSubagent func(s *session.Session) bool // whether it belongs to a session that was selected; nil: none does
	pipe       *pipe.Pipe

	account  session.SharedAccount
	count    int      // of the sessions
	errs     []error  // of those that failed; the first few
	losses   loss.Log // of the whole store
	trailing *loss.Log
	places   *redact.Places // of the session that comes next
}

// convertSessions converts the sessions of store i, and leaves them staged, unless
// the store as a whole fails. retry is an error because of which the store is to be
// converted again, or the run ends.
func (in *input) convertSessions(ctx context.Context, i, jobs int, last bool, to *formats.Format, dest pipe.Destination, isSubagent func(*session.Session) bool) (c *sessionStore, retry, err error) {
	c = &sessionStore{input: in, at: in.found[i], index: i, to: to, Destination: dest, isSubagent: isSubagent, pipe: pipe.New(to), trailing: &loss.Log{}}
	p := c.pipe
	p.Dest, p.Jobs, p.Dir, p.Fatal, p.Full = c, jobs, filepath.Join(in.stage.Root, "sessions", strconv.Itoa(i)), fatal, in.opts.Verify == VerifyFull
	p.Progress = func(n int) { in.notify.Add(c.at.Rel, n) }
	p.OnLoss = func(n loss.Loss) {
		c.losses.Add(n)
		in.opts.OnLoss.Add(n)
	}
	err = c.run(ctx)
	all := append(slices.Clone(c.errs), err)
	if at := slices.IndexFunc(all, workers.TooManyFiles); at >= 0 && !last {
		retry = all[at]
	} else if fatal(err) {
		retry = err
	}
	if retry != nil || err != nil {
		c.removeDrafts()
	}
	if err != nil {
		err = in.explain(err)
	}
	return c, retry, err
}

func (c *sessionStore) run(ctx context.Context) error {
	from, loc := c.at.Detected[0].Format, c.at.Loc
	if from.Sessions == nil {
		var err error
		if from, loc, err = c.restore(ctx, from); err != nil {
			return err
		}
		defer os.RemoveAll(c.restoreDir())
	}
	var err error
	if c.pipe.Validator, err = c.newValidator(); err != nil {
		return err
	}
	defer c.validators.Put(c.pipe.Validator)
	if err := os.MkdirAll(c.pipe.Dir, 0o777); err != nil {
		return err
	}
	if slices.Contains(from.Schemas, pipe.Schema) {
		c.pipe.Text = loc.Name()
	}
	v := formats.View{
		Secrets: formats.WithholdSecrets, OnOmit: func(store.SidecarItem) {},
		OnLoss: withFileName(c.at.Loc, c.pipe.Note), OnNotice: c.say, Verbose: c.opts.Verbose, Live: c.opts.Live, Jobs: c.pipe.Jobs,
	}
	sel, some, err := c.selectFrom(ctx, c.index, from, loc, v)
	if err != nil || !some {
		return err
	}
	sel.Account = &c.account
	if c.trailing, err = c.pipe.Run(ctx, c.redacted(ctx, c.folders.DecodeAt(ctx, from, loc, c.at.Loc.Path, v, sel))); err != nil {
		return err
	}
	return c.checkAccount()
}

// selected passes on the selected sessions with their subagents.
func (c *sessionStore) selected(all iter.Seq2[*session.Session, error]) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		for s, err := range all {
			if s != nil && !c.wants(s) {
				continue
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// wants reports whether a session is selected, or a subagent of one that is.
func (c *sessionStore) wants(s *session.Session) bool {
	return c.matches(&s.Head) || c.isSubagent != nil && c.isSubagent(s)
}

// Done hands on a result with its error reworded.
func (c *sessionStore) Done(r *pipe.Result) (keep bool) {
	c.count++
	if r.Err == nil && r.Draft != nil {
		r.Err = c.redaction.verify(r)
	}
	if r.Err != nil {
		r.Err = c.explain(r.Err)
	}
	keep = c.Destination.Done(r)
	if r.Err != nil && len(c.errs) < maxErrors {
		c.errs = append(c.errs, r.Err)
	}
	return keep
}

// checkAccount returns an error if not every record is accounted for, provided
// that all of the store was to be read.
func (c *sessionStore) checkAccount() error {
	sum := c.account.Total()
	if len(c.errs) > 0 || c.filtered() || len(c.opts.Sessions) > 0 || sum.Balanced() {
		return nil
	}
	return &formats.Error{Err: fmt.Errorf("not all of %s is accounted for: %d records read, %d converted, %d carried raw, %d superseded, %d unreadable; %d members read, %d converted, %d carried raw",
		c.at.Loc.Path, sum.Read, sum.Converted, sum.CarriedRaw, sum.Superseded, sum.Unreadable, sum.Members, sum.MembersConverted, sum.MembersRaw), Hint: bugHint}
}

// allFailed returns the error of a store of which every session failed.
func (c *sessionStore) allFailed() error {
	if len(c.errs) == 1 {
		return c.errs[0]
	}
	return &formats.Error{At: c.at.Loc.Path, Err: fmt.Errorf("none of its %d sessions could be converted; the first error was: %w", c.count, c.errs[0]), Hint: formats.Hint(c.errs[0])}
}

// newValidator returns a validator, if possible one that has seen the sessions
// of other stores: what it has learned speeds up the next.
func (in *input) newValidator() (*schemas.Lines, error) {
	if l, ok := in.validators.Get().(*schemas.Lines); ok {
		return l, nil
	}
	return schemas.NewLines(pipe.Schema)
}

// restoreDir returns the folder to which the text of this store is restored.
func (c *sessionStore) restoreDir() string {
	return filepath.Join(c.stage.Root, "restored", strconv.Itoa(c.index))
}

// removeDrafts removes all drafts of this store.
func (c *sessionStore) removeDrafts() {
	os.RemoveAll(c.pipe.Dir) // the rest is removed with the staging folder
}

func (c *sessionStore) say(s string) { c.sayOf(c.at, s) }

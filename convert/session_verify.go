package convert

import (
	"context"
	"errors"
	"fmt"
	"os"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// pendingSession is a staged session that is read again while the next ones are
// being written.
type pendingSession struct {
	session *session.Session // head only
	checked *lineChecker
	losses  *loss.Log
	staged  string
	done    chan error
}

// verifyLater verifies a session in another goroutine. When as many as may run
// at once are pending, it finishes the oldest: reports are in the order of the
// sessions, however long each takes.
func (c *sessionConversion) verifyLater(ctx context.Context, s *session.Session, m *lineChecker, staged string) error {
	w := &pendingSession{session: &session.Session{Head: s.Head}, checked: m, losses: c.nextLosses(), staged: staged, done: make(chan error, 1)}
	c.pending = append(c.pending, w)
	go func() { w.done <- c.reread(ctx, staged, m) }()
	if len(c.pending) < c.jobs {
		return nil
	}
	return c.finishOldest()
}

// finishOldest finishes the oldest pending session.
func (c *sessionConversion) finishOldest() error {
	w := c.pending[0]
	c.pending = c.pending[1:]
	return c.finish(w.session, w.checked, w.losses, <-w.done, w.staged)
}

// finishPending finishes all pending sessions.
func (c *sessionConversion) finishPending() (err error) {
	for len(c.pending) > 0 {
		if e := c.finishOldest(); err == nil {
			err = e
		}
	}
	return err
}

// abandon waits for pending verifications, and removes their files.
func (c *sessionConversion) abandon() {
	for _, w := range c.pending {
		<-w.done
		os.Remove(w.staged) // the rest is removed with the staging folder
	}
	c.pending = nil
}

// reread decodes what was written, and compares it with what was read.
func (c *sessionConversion) reread(ctx context.Context, staged string, m *lineChecker) error {
	if c.to.Writer.Verify != nil {
		return c.to.Writer.Verify(ctx, staged)
	}
	if c.to.Sessions == nil {
		return &formats.Error{Format: c.to.Name, Err: errors.New("cannot be verified: this format cannot be read"), Hint: bugHint}
	}
	l, err := formats.Locate(staged)
	if err != nil {
		return err
	}
	view := formats.FullView(1)
	view.Fresh = true
	again := &lineChecker{sum: m.sum.sameSeed()}
	found := 0
	for s, err := range c.to.Sessions.Decode(ctx, l, view, session.Selection{History: true}) {
		if err != nil {
			return err
		}
		if found++; found > 1 {
			continue
		}
		if err := drain(ctx, again.wrap(s)); err != nil {
			return err
		}
	}
	switch {
	case found != 1:
		return verifyError(c.to, fmt.Sprintf("1 session written, %d read back", found))
	case !m.sum.equal(&again.sum):
		return verifyError(c.to, fmt.Sprintf("%d lines written, %d read back, with different content", m.sum.lines, again.sum.lines))
	}
	return nil
}

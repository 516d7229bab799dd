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

// written is a session that is staged, and read again while the next ones are
// still being written.
type written struct {
	session *session.Session // its head
	middle  *middle
	books   *loss.Log
	staged  string
	done    chan error
}

// again has a session read again, by a worker of its own. The one that waits
// longest is reported where there are as many as may work at once: reports
// stand in the order of the sessions, whatever reading them took.
func (c *climb) again(ctx context.Context, s *session.Session, m *middle, staged string) error {
	w := &written{session: &session.Session{Head: s.Head}, middle: m, books: c.turn(), staged: staged, done: make(chan error, 1)}
	c.waiting = append(c.waiting, w)
	go func() { w.done <- c.reread(ctx, staged, m) }()
	if len(c.waiting) < c.jobs {
		return nil
	}
	return c.oldest()
}

// oldest reports the session that waits longest.
func (c *climb) oldest() error {
	w := c.waiting[0]
	c.waiting = c.waiting[1:]
	return c.reported(w.session, w.middle, w.books, <-w.done, w.staged)
}

// settled reports all that still wait.
func (c *climb) settled() (err error) {
	for len(c.waiting) > 0 {
		if e := c.oldest(); err == nil {
			err = e
		}
	}
	return err
}

// abandon waits for what works still, and leaves nothing of it.
func (c *climb) abandon() {
	for _, w := range c.waiting {
		<-w.done
		os.Remove(w.staged) // what is left goes with the staging folder
	}
	c.waiting = nil
}

// reread decodes what was written, and compares it with what came by.
func (c *climb) reread(ctx context.Context, staged string, m *middle) error {
	if c.to.Verify != nil {
		return c.to.Verify(ctx, staged)
	}
	if c.to.Decode == nil {
		return &formats.Error{Format: c.to.Name, Err: errors.New("cannot be verified: this format cannot be read"), Hint: ourFault}
	}
	l, err := formats.Locate(staged)
	if err != nil {
		return err
	}
	view := wholeView(1)
	view.Fresh = true
	again := &middle{sum: m.sum.like()}
	found := 0
	for s, err := range c.to.Decode(ctx, l, view, session.Selection{History: true}) {
		if err != nil {
			return err
		}
		if found++; found > 1 {
			continue
		}
		if err := drain(ctx, again.tap(s)); err != nil {
			return err
		}
	}
	switch {
	case found != 1:
		return differs(c.to, fmt.Sprintf("1 session written, %d read back", found))
	case !m.sum.equal(&again.sum):
		return differs(c.to, fmt.Sprintf("%d lines written, %d read back, with different content", m.sum.lines, again.sum.lines))
	}
	return nil
}

package lineclient

import (
	"context"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// What a client whose sessions are no lines takes of this package: Client.Read for what it
// reads, and these.

// Prepare makes a client ready to read records, for a kit that has a Format of its own.
func Prepare(c Client) *Client {
	c.prepare()
	return &c
}

// Known returns what versions of the client are known to write, see formats.Format.
func (c *Client) Known() string { return c.known() }

// Losses returns what can be lost when a session is told.
func (c *Client) Losses() []loss.Code { return c.losses() }

// Tell tells a session in an order that every client takes: spell gets what is said, one after
// the other. begun is false if nothing was. A branch that was left is not told.
func (c *Client) Tell(ctx context.Context, s *session.Session, b formats.SessionBuild, spell func(*Said)) (begun bool, err error) {
	t := newTeller(c, s, b, func(string) bool { return false }, spell)
	err = t.all(ctx)
	return t.begun, err
}

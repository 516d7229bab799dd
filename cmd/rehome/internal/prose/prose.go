// Package prose writes a session as people read it: for a terminal, and as
// Markdown. It holds one message at a time, besides the calls whose results
// are still to come.
package prose

import (
	"io"
	"time"

	"rehome/cmd/rehome/internal/screen"
	"rehome/formats/session"
)

// Detail is how much is shown of what tools did.
type Detail string

// The details.
const (
	None  Detail = "none"  // that they were called
	Brief Detail = "brief" // what they were asked, and the beginning of what came of it
	Full  Detail = "full"  // everything
)

// Options say how a session is shown.
type Options struct {
	Tools    Detail
	Thinking bool           // the model's reasoning, too
	Zone     *time.Location // of the times; nil is UTC
	Source   string         // what the command line calls the store; "" if it cannot be named again
	Live     bool           // somebody waits for every message
	Part     bool           // not all turns are shown: what the client kept beside them is not either

	Width   int // cells of the terminal, see Text
	Palette screen.Palette
}

// narrowest is the width below which nothing is fitted any more.
const narrowest = 40

// Text writes a session for a terminal.
func Text(w io.Writer, s *session.Session, o Options) error {
	o.Width = max(o.Width, narrowest)
	return walk(s, o, &text{paper: newPaper(w), o: o})
}

// Markdown writes a session as Markdown in which nothing of the session acts as
// HTML or loads an image, and no block of it ends where it should not.
func Markdown(w io.Writer, s *session.Session, o Options) error {
	return walk(s, o, &markdown{paper: newPaper(w), o: o})
}

// pen is what writes the pieces of a session, in one form or another. Texts
// are foreign unless they are Safe.
type pen interface {
	head(s *session.Session)
	turn(t *session.Turn)
	rule(words screen.Safe) // something begins or ends here
	prompt(text string)
	said(text string)
	thought(text string)
	summary(text string)
	aside(words screen.Safe) // what is there and not shown, in a line
	step(s *step)
	file(f *session.File)
	end(s *session.Session)
	flush() error
}

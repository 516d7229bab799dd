// Package prose renders a session as a readable transcript, for a terminal or as
// Markdown. It holds one message in memory at a time, and the calls whose
// results have not arrived.
package prose

import (
	"io"
	"time"

	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// Detail is how much of tool calls and results is shown.
type Detail string

// The levels of detail.
const (
	None  Detail = "none"  // only the number of calls
	Brief Detail = "brief" // the main argument and the beginning of the result
	Full  Detail = "full"  // everything
)

// Options configure how a session is rendered.
type Options struct {
	Tools     Detail
	Thinking  bool           // include the model's reasoning
	All       bool           // include internal records of the client
	Uncounted bool           // do not say how many there are
	Zone      *time.Location // for times; nil means UTC
	Source    string         // path of the store, for commands; "" for stdin
	Streaming bool           // flush after each message
	Partial   bool           // some turns are left out, and so are files, todos and plan
	NoHints   bool           // do not name flags: the reader is somebody else
	Digests   bool           // name what is left out by its digest, so that sessions that differ never look the same
	Linear    bool           // do not print abandoned branches, which digests cover

	Width   int // cells of the terminal; used by Text
	Palette screen.Palette
}

// minWidth is the smallest width that output is wrapped to.
const minWidth = 40

// Text writes a session for a terminal.
func Text(w io.Writer, s *session.Session, o Options) error {
	o.Width = max(o.Width, minWidth)
	return Walk(s, o, &textRenderer{lineWriter: newLineWriter(w), o: o})
}

// Markdown writes a session as Markdown. Nothing in the session acts as HTML,
// loads an image or ends a block early.
func Markdown(w io.Writer, s *session.Session, o Options) error {
	return Walk(s, o, &markdownRenderer{lineWriter: newLineWriter(w), o: o})
}

// Renderer, which Walk calls, writes the parts of a session in one output format. Strings are
// foreign text; screen.Safe is not.
type Renderer interface {
	Head(s *session.Session)
	Turn(t *session.Turn)
	Divider(words screen.Safe) // begins or ends a section
	Prompt(text string)
	Answer(text string)
	Thinking(text string)
	Summary(text string)
	Media(m *session.Media)
	Note(words screen.Safe)   // describes in one line what is not shown
	Digest(words screen.Safe) // ends a turn, if Options.Digests
	Step(s *Step)
	File(f *session.File)
	End(s *session.Session)
	Flush() error
}

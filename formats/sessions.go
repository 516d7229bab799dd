package formats

import (
	"context"
	"io"
	"iter"

	"rehome/formats/session"
)

// Sessions is the ability to read what stores mean.
type Sessions struct {
	// Decode yields the sessions of a store, each followed by its subagents, in
	// the same order for any number of workers. An error with a session says why
	// that session could not be read, and the others follow; an error without one
	// ends the stream. The messages of a session must be read before the next
	// session is requested.
	Decode func(ctx context.Context, l *Location, v View, sel session.Selection) iter.Seq2[*session.Session, error]

	// Stream is Decode for a source that is read once, while it is written: stdin.
	// What Decode learns from the end of a file and puts on an earlier message
	// comes after that message instead. nil: the format needs a file.
	Stream func(ctx context.Context, r io.Reader, v View, sel session.Selection) iter.Seq2[*session.Session, error]

	// Heads lists what Decode would yield, as far as keys and metadata tell,
	// without reading the content of the store. nil: only Decode can list.
	Heads func(ctx context.Context, l *Location, v View) iter.Seq2[*session.Head, error]

	// Scan gives s the stored bytes of all text that Decode yields, which is much
	// faster than decoding it: prompts, answers, reasoning, and the strings in tool
	// calls and results. Bytes are given in pieces that no word crosses. An error means
	// that only Decode can tell what is in the store. nil: only Decode ever can.
	Scan func(ctx context.Context, l *Location, v View, s *Scan) error
}

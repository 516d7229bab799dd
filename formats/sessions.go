package formats

import (
	"context"
	"io"
	"iter"

	"rehome/formats/session"
)

// Sessions is the ability to read what stores mean.
type Sessions struct {
	// Decode yields the sessions of a store, parents before their children, in
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

	// Scan calls take with the stored bytes of sessions, in pieces: whatever words
	// Decode finds in a session are in its pieces, as UTF-8 or as escapes of JSON. A
	// piece has the id of its session, or "" if it can be of any session; that of a
	// subagent that no list names can have the id of its parent. Pieces can have more
	// than Decode yields, and are valid until take returns. An error means that only
	// Decode can find out. nil: only Decode can.
	Scan func(ctx context.Context, l *Location, v View, take func(session string, piece []byte)) error
}

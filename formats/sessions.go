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
}

// Writer is the ability to write sessions of any client.
type Writer struct {
	// Encode appends one session to the file at Build.Path, which is new or was
	// made by an earlier Encode.
	Encode func(ctx context.Context, s *session.Session, b Build) error

	// Path returns where the file of a session belongs, as a slash path relative
	// to a folder of sessions. Two sessions can have the same path.
	Path func(h *session.Head) string

	// Single reports that a file holds only one session.
	Single bool

	// Companion returns the content of a small file that the client keeps next to
	// the file of a session, and its extension, which replaces that of the session
	// file. Content is nil if this session has none. nil: no session has one.
	Companion func(h *session.Head) (extension string, content []byte)

	// Verify reads what Encode wrote and reports what is wrong with it. nil:
	// Decode returns exactly the session that was written.
	Verify func(ctx context.Context, path string) error

	// Unmodified reports whether a file is still as Encode wrote it. nil: unknown.
	Unmodified func(ctx context.Context, path string) (bool, error)
}

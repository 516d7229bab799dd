package formats

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Error is a position first and prose second. It prints as
//
//	cursor-chat: store.db/blobs#3: /content/2/args: unexpected end of JSON
//
// and keeps the next step separate, in Hint.
type Error struct {
	Op      string // the operation, if At does not imply it
	Format  string
	At      string // file, or address inside a store
	Pointer string // JSON pointer inside the record
	Err     error
	Hint    string
}

func (e *Error) Error() string {
	var parts []string
	for _, s := range []string{e.Format, e.Op, e.At, e.Pointer} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

func (e *Error) Unwrap() error { return e.Err }

// Hint returns the innermost hint of an error, "" if it has none.
func Hint(err error) string {
	hint := ""
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Hint != "" {
			hint = e.Hint
		}
	}
	return hint
}

// Kinds of failure that callers handle differently.
var (
	// ErrBusy means that the source is in use, or changed while it was read.
	ErrBusy = errors.New("in use")
	// ErrFull means that SQLite found a disk full. Other writers return the system's
	// error.
	ErrFull = errors.New("no space left")
	// ErrExists means that the target already exists.
	ErrExists = errors.New("already exists")
	// ErrUnknown means that no format recognizes the source.
	ErrUnknown = errors.New("no known format")
)

// Changed returns the error of a store or a file, at, that is not as it was when it
// was opened.
func Changed(format, at string) error {
	return &Error{Format: format, At: at, Err: fmt.Errorf("%w: it changed while it was read", ErrBusy), Hint: "quit the client that is writing to it and try again"}
}

// Cause returns an error of the operating system without its paths, which an Error
// has as its place.
func Cause(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	if le := (*os.LinkError)(nil); errors.As(err, &le) {
		return le.Err
	}
	return err
}

// ReplacePath returns an error whose message has one path in place of another.
func ReplacePath(err error, from, to string) error { return &replacedPath{err, from, to} }

type replacedPath struct {
	error
	from, to string
}

func (e *replacedPath) Error() string { return strings.ReplaceAll(e.error.Error(), e.from, e.to) }

func (e *replacedPath) Unwrap() error { return e.error }

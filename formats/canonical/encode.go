package canonical

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"

	"rehome/formats"
	"rehome/formats/session"
)

const (
	// writeSize is what goes to the disk at once.
	writeSize = 64 << 10
	// keepBuffer is how much room for a line is kept for the next one.
	keepBuffer = 8 << 20
	// maxLine bounds what is held of a file when it is read.
	maxLine = 128 << 20
	tooLong = "line longer than 128 MB"
)

// encode appends one session to a file.
func encode(ctx context.Context, s *session.Session, b formats.Build) (err error) {
	f, err := os.OpenFile(b.Path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	e := &encoder{w: bufio.NewWriterSize(f, writeSize)}
	if err := e.session(ctx, s); err != nil {
		return err
	}
	return e.w.Flush()
}

type encoder struct {
	w    *bufio.Writer
	line []byte
	n    int
}

func (e *encoder) session(ctx context.Context, s *session.Session) error {
	if err := e.put(session.AppendHead(e.line[:0], s)); err != nil {
		return err
	}
	if s.Messages != nil {
		for m, err := range s.Messages {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			if err := e.put(session.AppendMessage(e.line[:0], m)); err != nil {
				return err
			}
		}
	}
	if s.Files == nil {
		return nil
	}
	for f, err := range s.Files {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := e.put(session.AppendFile(e.line[:0], f)); err != nil {
			return err
		}
	}
	return nil
}

// put writes a line and takes its room for the next one. What could not be
// read back is not written.
func (e *encoder) put(line []byte) error {
	e.n++
	if len(line) > maxLine {
		return &formats.Error{Format: name, At: fmt.Sprintf("line %d", e.n), Err: errors.New(tooLong)}
	}
	e.line = append(line, '\n')
	_, err := e.w.Write(e.line)
	if cap(e.line) > keepBuffer {
		e.line = nil
	}
	return err
}

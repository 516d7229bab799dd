package canonical

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/session"
	"rehome/formats/store"
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

// sink writes each session to a file of its own.
type sink struct{}

// Put writes a session. Its lines are those of SessionBuild.Line, if there are any.
func (sink) Put(ctx context.Context, s *session.Session, b formats.SessionBuild) (*formats.Draft, error) {
	f, err := os.OpenFile(b.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	e := &encoder{w: bufio.NewWriterSize(f, writeSize), sum: digest.NewStream(), given: b.Line}
	err = e.session(ctx, s)
	if ferr := e.w.Flush(); err == nil {
		err = ferr
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	want := e.sum.Sum()
	return &formats.Draft{Verify: func(ctx context.Context) error { return verify(ctx, b.Path, want) }}, err
}

// verify compares a file with the digest of the lines that were written to it.
func verify(ctx context.Context, path string, want store.Digest) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum, buf := digest.NewStream(), make([]byte, writeSize)
	for {
		n, err := f.Read(buf)
		sum.Write(buf[:n])
		switch {
		case err == io.EOF && sum.Sum() == want:
			return nil
		case err == io.EOF:
			return &formats.Error{Format: name, At: path, Err: errors.New("the file does not have the content that was written"), Hint: "the session was not written: check the disk, and try again"}
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// encoder writes the lines of one session.
type encoder struct {
	w     *bufio.Writer
	sum   *digest.Stream
	given func() []byte
	line  []byte
	n     int
}

func (e *encoder) session(ctx context.Context, s *session.Session) error {
	err := e.put(func(b []byte) []byte { return session.AppendHead(b, s) })
	if err == nil {
		err = session.Each(ctx, s.Messages, func(m *session.Message) error {
			return e.put(func(b []byte) []byte { return session.AppendMessage(b, m) })
		})
	}
	if err == nil {
		err = session.Each(ctx, s.Files, func(f *session.File) error { return e.put(func(b []byte) []byte { return session.AppendFile(b, f) }) })
	}
	return err
}

// put writes a line: the given one, or what encode appends. A line that could not
// be read back is not written.
func (e *encoder) put(encode func([]byte) []byte) error {
	var line []byte
	if e.given != nil {
		line = e.given()
	} else {
		line = encode(e.line[:0])
		if e.line = line; cap(line) > keepBuffer {
			e.line = nil
		}
	}
	e.n++
	if len(line) > maxLine {
		return &formats.Error{Format: name, At: fmt.Sprintf("line %d", e.n), Err: errors.New(tooLong)}
	}
	for _, b := range [][]byte{line, {'\n'}} {
		e.sum.Write(b)
		if _, err := e.w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/internal/scratch"
)

// stdinName is what SRC is called when it comes through a pipe.
const stdinName = "-"

// spooled is stdin in a private file, which is gone when the command ends. The
// file's name is always the same, for it stands in addresses.
type spooled struct {
	path string
	dir  *scratch.Dir // nil if path is no such file
}

// stdin is a path as it is, or a file that holds stdin if the path is "-".
func (h *house) stdin(path string) (*spooled, error) {
	if path != stdinName {
		return &spooled{path: path}, nil
	}
	if isTerminal(os.Stdin) {
		return nil, &formats.Error{At: "stdin", Err: errors.New("is a terminal"), Hint: "pipe data in, or name a file instead of -"}
	}
	s, err := newSpool()
	if err != nil {
		return nil, err
	}
	if err := s.fill(h.ctx, os.Stdin); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func newSpool() (*spooled, error) {
	scratch.Sweep()
	dir, err := scratch.New("", "stdin")
	if err != nil {
		return nil, &formats.Error{At: os.TempDir(), Err: err, Hint: "stdin is buffered here; set TMPDIR to use another folder"}
	}
	return &spooled{filepath.Join(dir.Path, "stdin.jsonl"), dir}, nil
}

func (s *spooled) remove() { _ = s.dir.Remove() }

// restate says an error about the file in words about stdin.
func (s *spooled) restate(err error) error {
	if err == nil || s.dir == nil {
		return err
	}
	return restated{err, s.path}
}

type restated struct {
	error
	path string
}

func (r restated) Error() string { return strings.ReplaceAll(r.error.Error(), r.path, stdinName) }
func (r restated) Unwrap() error { return r.error }

// impatient is a pipe whose reads end with a context. A read of a pipe itself
// cannot be called off: one that is under way then is left behind.
type impatient struct {
	ctx  context.Context
	from io.Reader
	buf  []byte
}

func (r *impatient) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.buf == nil {
		r.buf = make([]byte, mostPeek)
	}
	type read struct {
		n   int
		err error
	}
	done := make(chan read, 1)
	into := r.buf[:min(len(p), len(r.buf))]
	go func() {
		n, err := r.from.Read(into)
		done <- read{n, err}
	}()
	select {
	case got := <-done:
		return copy(p, into[:got.n]), got.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}

// fill copies all of a pipe.
func (s *spooled) fill(ctx context.Context, r io.Reader) error {
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o666) // in a private folder: a pipe is nobody's secret
	if err != nil {
		return err
	}
	_, err = io.Copy(f, &impatient{ctx: ctx, from: r})
	err = errors.Join(err, f.Close())
	if err != nil && ctx.Err() == nil {
		return &formats.Error{At: "stdin", Err: err}
	}
	return err
}

// mostPeek is how much of a pipe is looked at to know what comes.
const mostPeek = 64 << 10

// follow is stdin as a source that is read while it is written, with the
// format whose Stream reads it; where no format can do that, the format is nil
// and a file holds all of it.
func (h *house) follow(in io.Reader) (*formats.Format, io.Reader, *spooled, error) {
	s, err := newSpool()
	if err != nil {
		return nil, nil, nil, err
	}
	b := bufio.NewReaderSize(&impatient{ctx: h.ctx, from: in}, mostPeek)
	f, err := h.streamed(s.path, beginning(b))
	if err == nil {
		err = h.ctx.Err()
	}
	if err == nil && f == nil {
		if err = s.fill(h.ctx, b); err == nil {
			return nil, nil, s, nil
		}
	}
	s.remove()
	return f, b, &spooled{}, err
}

// streamed is the format of what begins so, if it needs no file. The beginning
// is laid down for the formats to look at.
func (h *house) streamed(path string, head []byte) (*formats.Format, error) {
	if err := os.WriteFile(path, head, 0o666); err != nil {
		return nil, err
	}
	l, err := formats.Locate(path)
	if err != nil {
		return nil, err
	}
	found, err := h.reg.Detect(h.ctx, l)
	if err != nil || len(found) == 0 || found[0].Format.Stream == nil {
		return nil, err
	}
	return found[0].Format, nil
}

// beginning waits for the first line of JSON in a pipe, without taking it: other
// programs may talk in front of it.
func beginning(b *bufio.Reader) []byte {
	for n := 1; ; n = b.Buffered() + 1 {
		_, err := b.Peek(min(n, mostPeek))
		head, _ := b.Peek(b.Buffered())
		if err != nil || len(head) >= mostPeek {
			return head
		}
		for line := range bytes.Lines(head) {
			if bytes.HasPrefix(bytes.TrimLeft(line, "\ufeff \t"), []byte("{")) && bytes.HasSuffix(line, []byte("\n")) {
				return head
			}
		}
	}
}

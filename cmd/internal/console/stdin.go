package console

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/internal/scratch"
)

// StdinName is the SRC that stands for stdin.
const StdinName = "-"

// Spooled is stdin copied to a private file, which is removed when the command
// ends. The file name is always the same because it appears in addresses.
type Spooled struct {
	Path string
	dir  *scratch.Dir // nil if nothing was spooled
}

// ReadStdin returns path unchanged, or a file with the contents of stdin if path is "-".
func (a *App) ReadStdin(path string) (*Spooled, error) {
	if path != StdinName {
		return &Spooled{Path: path}, nil
	}
	if IsTerminal(os.Stdin) {
		return nil, &formats.Error{At: "stdin", Err: errors.New("is a terminal"), Hint: "pipe data in, or name a file instead of -"}
	}
	s, err := newSpooled()
	if err != nil {
		return nil, err
	}
	if err := s.fill(a.Ctx, os.Stdin); err != nil {
		s.Remove()
		return nil, err
	}
	return s, nil
}

func newSpooled() (*Spooled, error) {
	scratch.Sweep()
	dir, err := scratch.New("", "stdin")
	if err != nil {
		return nil, &formats.Error{At: os.TempDir(), Err: err, Hint: "stdin is buffered here; set TMPDIR to use another folder"}
	}
	return &Spooled{filepath.Join(dir.Path, "stdin.jsonl"), dir}, nil
}

func (s *Spooled) Remove() { _ = s.dir.Remove() }

// Restate replaces the path of the file by "-" in an error.
func (s *Spooled) Restate(err error) error {
	if err == nil || s.dir == nil {
		return err
	}
	return formats.ReplacePath(err, s.Path, StdinName)
}

// ctxReader is a reader whose reads end when a context is canceled. As a read
// from a pipe cannot be canceled, a pending one is abandoned.
type ctxReader struct {
	ctx  context.Context
	from io.Reader
	buf  []byte
}

func (r *ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.buf == nil {
		r.buf = make([]byte, maxPeek)
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

// fill copies r to the file.
func (s *Spooled) fill(ctx context.Context, r io.Reader) error {
	f, err := os.OpenFile(s.Path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o666) // private: the folder is
	if err != nil {
		return err
	}
	_, err = io.Copy(f, &ctxReader{ctx: ctx, from: r})
	err = errors.Join(err, f.Close())
	if err != nil && ctx.Err() == nil {
		return &formats.Error{At: "stdin", Err: err}
	}
	return err
}

// maxPeek is how many bytes of stdin are examined to detect the format.
const maxPeek = 64 << 10

// OpenStream detects the format of stdin and returns it with a reader for
// Format.Stream. If the format cannot be streamed, the format is nil and stdin
// is in the returned file.
func (a *App) OpenStream(in io.Reader) (*formats.Format, io.Reader, *Spooled, error) {
	s, err := newSpooled()
	if err != nil {
		return nil, nil, nil, err
	}
	b := bufio.NewReaderSize(&ctxReader{ctx: a.Ctx, from: in}, maxPeek)
	f, err := a.streamFormat(s.Path, peekHead(b))
	if err == nil {
		err = a.Ctx.Err()
	}
	if err == nil && f == nil {
		if err = s.fill(a.Ctx, b); err == nil {
			return nil, nil, s, nil
		}
	}
	s.Remove()
	return f, b, &Spooled{}, err
}

// streamFormat returns the format that recognizes head, if it can be streamed.
// It writes head to a file for the formats to probe.
func (a *App) streamFormat(path string, head []byte) (*formats.Format, error) {
	if err := os.WriteFile(path, head, 0o666); err != nil {
		return nil, err
	}
	l, err := formats.Locate(path)
	if err != nil {
		return nil, err
	}
	found, err := a.Reg.Detect(a.Ctx, l)
	if err != nil || len(found) == 0 || found[0].Format.Sessions == nil || found[0].Format.Sessions.Stream == nil {
		return nil, err
	}
	return found[0].Format, nil
}

// peekHead waits for the first line of JSON without consuming it. Other
// programs may print text before it.
func peekHead(b *bufio.Reader) []byte {
	for n := 1; ; n = b.Buffered() + 1 {
		_, err := b.Peek(min(n, maxPeek))
		head, _ := b.Peek(b.Buffered())
		if err != nil || len(head) >= maxPeek {
			return head
		}
		for line := range bytes.Lines(head) {
			if bytes.HasPrefix(bytes.TrimLeft(line, "\ufeff \t"), []byte("{")) && bytes.HasSuffix(line, []byte("\n")) {
				return head
			}
		}
	}
}

package sdkstore

import (
	"errors"
	"io"
	"slices"

	"rehome/internal/scratch"
)

// Spool holds bytes to be read again in any order: in memory as long as they
// are few, then in a file.
type Spool struct {
	held   []byte
	file   *scratch.File
	Size   int64
	window Window // on the file
}

// Window reads pieces of a file that mostly follow one another: what comes after
// such a piece is read along with it.
type Window struct {
	In io.ReaderAt
	at int64 // of b
	b  []byte
}

// readAhead is how much is read along.
const readAhead = 32 << 10

// Read gives a piece. It is valid until the next call.
func (w *Window) Read(at int64, n int) ([]byte, error) {
	end := w.at + int64(len(w.b))
	if at < w.at || at+int64(n) > end {
		size := n
		if at > w.at && at <= end {
			size = max(n, readAhead)
		}
		w.at, w.b = at, slices.Grow(w.b[:0], size)[:size]
		got, err := w.In.ReadAt(w.b, at)
		if w.b = w.b[:got]; got < n {
			return nil, err
		}
	}
	from := int(at - w.at)
	return w.b[from : from+n : from+n], nil
}

// spoolHeld is how much is held in memory.
const spoolHeld = 8 << 20

// Add appends some bytes and tells where they are.
func (s *Spool) Add(p []byte) (at int64, err error) {
	at = s.Size
	s.Size += int64(len(p))
	if len(s.held)+len(p) > spoolHeld {
		if err := s.flush(); err != nil {
			return at, err
		}
	}
	if len(p) > spoolHeld {
		_, err = s.file.Write(p)
		return at, err
	}
	s.held = append(s.held, p...)
	return at, nil
}

// flush moves what is held into the file. Then the memory is a buffer for what
// comes next.
func (s *Spool) flush() (err error) {
	if s.file == nil {
		if s.file, err = scratch.NewFile("rows"); err != nil {
			return err
		}
		s.window.In = s.file
	}
	_, err = s.file.Write(s.held)
	s.held = s.held[:0]
	return err
}

// Read gives bytes back. They are valid until the next call.
func (s *Spool) Read(at int64, n int) ([]byte, error) {
	if at < 0 || n < 0 || at+int64(n) > s.Size {
		return nil, errors.New("beyond the spool")
	}
	from := s.Size - int64(len(s.held)) // of what is held
	if at >= from {
		at -= from
		return s.held[at : at+int64(n) : at+int64(n)], nil
	}
	if at+int64(n) > from { // cannot be: what is added is held or written whole
		return nil, errors.New("across the spool's end")
	}
	return s.window.Read(at, n)
}

// Close lets go of everything.
func (s *Spool) Close() error {
	f := s.file
	*s = Spool{}
	if f == nil {
		return nil
	}
	return f.Close()
}

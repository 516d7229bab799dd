// Package lines cuts text into lines and says where each one lies, so that it
// can be read again without reading what is in front of it.
package lines

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
)

// Line is one line of a file.
type Line struct {
	Number int    // from 1
	Offset int64  // where it begins
	Bytes  []byte // without its line end; valid until the next step
	Ended  bool   // a line end follows: the last line of a file may have none
	Long   bool   // it is longer than allowed, and Bytes is only its beginning
}

// Blank reports a line of nothing but blanks.
func (l *Line) Blank() bool { return len(bytes.TrimSpace(l.Bytes)) == 0 && !l.Long }

// Pieces of a text grow as it is read: who wants a line or two does not read
// much more than those.
const (
	firstPiece = 4 << 10
	mostPiece  = 256 << 10
)

// mostBegun is how much of a line is held in one piece while it is read. The rest of a
// longer one waits in pieces, so that one that turns out to be longer than allowed has
// not been copied over and over.
const mostBegun = 1 << 20

// Each yields the lines of a text. Of one longer than most it keeps only the
// beginning. A byte order mark in front of the first line is passed over.
func Each(ctx context.Context, r io.Reader, most int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		c := cutter{most: most, yield: yield}
		buffer := make([]byte, firstPiece)
		for {
			if err := ctx.Err(); err != nil {
				yield(Line{}, err)
				return
			}
			n, err := r.Read(buffer)
			if !c.take(buffer[:n]) {
				return
			}
			if n == len(buffer) && n < mostPiece {
				buffer = make([]byte, 2*n)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				yield(Line{}, err)
				return
			}
		}
		if c.some {
			c.give(nil, false)
		}
	}
}

// Text is Each for a text in memory, which its lines are slices of.
func Text(b []byte, most int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		c := cutter{most: most, yield: yield}
		if c.take(b) && c.some {
			c.give(nil, false)
		}
	}
}

// cutter cuts pieces into lines.
type cutter struct {
	most  int
	yield func(Line, error) bool
	held  []byte   // what earlier pieces held of the present line
	more  [][]byte // what follows held; nil if the line is too long
	size  int      // of both
	long  bool
	some  bool // the present line has a byte
	n     int
	from  int64 // where it begins
	at    int64 // behind what was taken
}

func (c *cutter) take(p []byte) bool {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			c.some, c.at = true, c.at+int64(len(p))
			c.hold(p)
			return true
		}
		c.at += int64(i + 1)
		if !c.give(p[:i], true) {
			return false
		}
		p = p[i+1:]
	}
	return true
}

func (c *cutter) hold(p []byte) {
	if c.size+len(p) > c.most {
		p, c.long = p[:c.most-c.size], true
	}
	c.size += len(p)
	n := min(len(p), max(0, mostBegun-len(c.held)))
	c.held = append(c.held, p[:n]...)
	switch {
	case c.long:
		c.more = nil
	case n < len(p):
		c.more = append(c.more, bytes.Clone(p[n:]))
	}
}

// whole returns what is held of the present line.
func (c *cutter) whole() []byte {
	if len(c.more) == 0 {
		return c.held
	}
	out := append(make([]byte, 0, c.size), c.held...)
	for _, p := range c.more {
		out = append(out, p...)
	}
	c.more = nil
	return out
}

func (c *cutter) give(rest []byte, ended bool) bool {
	if len(c.held) > 0 || c.long || len(rest) > c.most {
		c.hold(rest)
		rest = c.whole()
	}
	c.n++
	l := Line{Number: c.n, Offset: c.from, Bytes: rest, Ended: ended, Long: c.long}
	if c.n == 1 {
		if bare, ok := bytes.CutPrefix(l.Bytes, []byte("\ufeff")); ok {
			l.Bytes, l.Offset = bare, l.Offset+3
		}
	}
	c.held, c.size, c.long, c.some, c.from = c.held[:0], 0, false, false, c.at
	return c.yield(l, nil)
}

// Conflict reports whether text has a line that git leaves where two versions of a file
// conflict. No line of JSON looks like it.
func Conflict(text []byte) bool {
	for line := range bytes.Lines(text) {
		for _, begin := range []string{"<<<<<<< ", "||||||| ", ">>>>>>> "} {
			if bytes.HasPrefix(line, []byte(begin)) {
				return true
			}
		}
		if string(bytes.TrimRight(line, "\r\n")) == "=======" {
			return true
		}
	}
	return false
}

package streamjson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// capture is a file that is being read.
type capture struct {
	io.ReaderAt
	name, path string
	size       int64
	folded     int64 // lines of which one was made
	outline    *outline
	view       formats.View
}

// open makes the first pass.
func open(ctx context.Context, l *formats.Location, v formats.View, f *os.File) (*capture, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	c := &capture{ReaderAt: f, name: l.Name(), path: l.Path, size: info.Size(), view: v}
	if c.size <= mostWhole {
		b := make([]byte, c.size)
		if _, err := f.ReadAt(b, 0); err == nil {
			if line := whole(b); line != nil {
				c.folded = int64(bytes.Count(bytes.TrimRight(b, "\n"), []byte("\n")))
				c.ReaderAt, c.size = bytes.NewReader(line), int64(len(line))
			}
		}
	}
	c.outline, err = survey(ctx, io.NewSectionReader(c, 0, c.size), c.size)
	return c, err
}

func decode(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		fail := func(err error) { yield(nil, jsonl.Failure(ctx, formatName, l.Path, err)) }
		if !l.IsRegular() {
			fail(errors.New("not a regular file"))
			return
		}
		f, err := os.Open(l.Path)
		if err != nil {
			fail(err)
			return
		}
		defer f.Close()
		c, err := open(ctx, l, v, f)
		if err != nil {
			fail(err)
			return
		}
		if c.outline.now == nil {
			c.nothing(sel)
			return
		}
		for _, t := range c.outline.threads {
			if sel.Includes(t.id) && !yield(c.session(ctx, t, sel), nil) {
				return
			}
		}
	}
}

// nothing accounts for a file in which no session is.
func (c *capture) nothing(sel session.Selection) {
	lost := int64(c.outline.filled) + c.folded // of the one line that they became, all are
	n := int64(c.outline.front.count) + c.folded
	sel.Account.Add(session.Account{Read: n, Converted: n - lost, Unreadable: lost})
	if lost > 0 {
		c.view.OnLoss.Add(loss.Loss{Code: loss.StreamEmpty, At: c.at(c.outline.front.line)})
	}
}

func (c *capture) at(line int) store.Addr { return store.Addr{File: c.name, Line: line} }

func (t *thread) head() session.Head {
	h := session.Head{
		ID: t.id, Agent: session.CursorCLI, Title: t.title, Workspace: t.cwd,
		Created: guess(t.first), Updated: guess(t.last), Turns: int64(len(t.runs)),
	}
	for _, p := range t.pieces {
		h.Bytes += p.to - p.from
	}
	return h
}

func (c *capture) session(ctx context.Context, t *thread, sel session.Selection) *session.Session {
	s := &session.Session{Head: t.head(), Model: t.model}
	for i, r := range t.runs {
		if r.length == 0 {
			s.Missing = append(s.Missing, fmt.Sprintf("the result of run %d", i+1))
		}
	}
	s.Messages = func(yield func(*session.Message, error) bool) {
		b := newBuilder(c.name, c.view.OnLoss, func(m *session.Message) bool { return yield(m, nil) })
		b.cwd, b.ending = t.cwd, c.ending(t)
		defer func() { sel.Account.Add(b.tally) }()
		b.tally.Read, b.tally.Converted = c.folded, c.folded
		if err := c.read(ctx, t, b); err != nil {
			yield(nil, jsonl.Failure(ctx, formatName, c.path, err))
		}
	}
	return s
}

// read passes the lines of a session to a builder. The file may grow meanwhile, but what
// was there must stay.
func (c *capture) read(ctx context.Context, t *thread, b *builder) error {
	for _, p := range t.pieces {
		n := 0
		for l, err := range lines.Each(ctx, io.NewSectionReader(c, p.from, p.to-p.from), jsonl.MaxLine) {
			if err != nil {
				return err
			}
			l.Number += p.line - 1
			if b.line(read(l)); b.over {
				return b.err
			}
			n++
		}
		if n != p.count {
			return formats.Changed("", "")
		}
	}
	b.finish()
	return b.err
}

// ending reads how a run ended.
func (c *capture) ending(t *thread) func(int) (end, error) {
	return func(number int) (end, error) {
		if number > len(t.runs) {
			return end{}, formats.Changed("", "")
		}
		r := t.runs[number-1]
		e := end{first: r.first, last: r.last, line: r.line}
		if r.length == 0 {
			return e, nil
		}
		raw := make([]byte, r.length)
		if _, err := c.ReadAt(raw, r.result); err != nil && !errors.Is(err, io.EOF) {
			return e, err
		}
		line := read(lines.Line{Bytes: raw})
		if line.kind != ended {
			return e, formats.Changed("", "")
		}
		e.result = line.raw
		return e, nil
	}
}

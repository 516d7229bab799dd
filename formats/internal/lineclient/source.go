package lineclient

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Source has the records of one session, where it is: as lines of a file, or as what a codec
// makes of other records. A record begins at an offset, the size of which only its source knows.
type Source interface {
	// At is where the session is, in errors.
	At() string
	// Each yields the records in their order.
	Each(ctx context.Context) iter.Seq2[jsonl.Line, error]
	// Record reads one record again, by its number, from 1, its offset and its size.
	Record(ctx context.Context, number int, offset int64, size int) (jsonl.Line, error)
	// Close is called after some records were read again, which others can follow.
	Close() error
	// Addr are the addresses of the records of the store that a record is made of.
	Addr(number int) []store.Addr
	// Older accounts for other records of the session, which say nothing new.
	Older(ctx context.Context) (session.Account, error)
}

// parted is a source in which records of the store have several of these: Count is how many
// have only this one.
type parted interface{ Count(number int) int }

// linesOf is a session in a file.
type linesOf struct {
	store *jsonl.Store
	file  *jsonl.File
	size  int64
	view  formats.View
	open  *os.File
}

// source returns the records of a session in the first bytes of a file.
func (c *Client) source(s *jsonl.Store, f *jsonl.File, size int64, v formats.View) Source {
	src := Source(&linesOf{s, f, size, v, nil})
	if c.Replay != nil {
		src = c.Replay(src)
	}
	return src
}

func (f *linesOf) At() string { return f.file.Path }

func (f *linesOf) Each(ctx context.Context) iter.Seq2[jsonl.Line, error] {
	return f.store.Lines(ctx, f.file, f.size)
}

func (f *linesOf) Record(_ context.Context, number int, offset int64, size int) (l jsonl.Line, err error) {
	if f.open == nil {
		if f.open, err = f.store.Root.Open(f.file.Path); err != nil {
			return l, err
		}
	}
	b := make([]byte, size)
	if n, err := f.open.ReadAt(b, offset); err != nil && (err != io.EOF || n < len(b)) {
		return l, err
	}
	return jsonl.Parse(lines.Line{Number: number, Offset: offset, Bytes: b, Ended: true}), nil
}

func (f *linesOf) Close() error {
	if f.open == nil {
		return nil
	}
	defer func() { f.open = nil }()
	return f.open.Close()
}

func (f *linesOf) Addr(number int) []store.Addr {
	return []store.Addr{{File: f.file.Name, Line: number}}
}

func (f *linesOf) Older(ctx context.Context) (sum session.Account, err error) {
	for _, older := range f.file.Older {
		lines, err := f.store.Superseded(ctx, f.file, older, f.view.OnLoss, nil)
		if err != nil {
			return sum, err
		}
		sum.Add(lines)
	}
	return sum, nil
}

// results takes the results out of an answer, as messages of their own.
func results(m *session.Message) (out []*session.Message) {
	m.Parts = slices.DeleteFunc(m.Parts, func(p session.Part) bool {
		r, is := p.(*session.ToolResult)
		if is {
			id := fmt.Sprintf("%s/%d", m.ID, len(out)+1)
			out = append(out, &session.Message{ID: id, Branch: m.Branch, Role: session.Tool, Archived: m.Archived, Parts: []session.Part{r}, Origin: m.Origin})
		}
		return is
	})
	return out
}

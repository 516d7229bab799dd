package claudecode

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
)

// mostHead is how much of each end of a file is read to list it, as the client
// does.
const mostHead = 64 << 10

func heads(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	return func(yield func(*session.Head, error) bool) {
		s, err := openShelf(l)
		if err != nil {
			yield(nil, failure(ctx, l.Path, err))
			return
		}
		defer s.close()
		buffer := make([]byte, mostHead)
		for _, e := range s.sessions {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			h, err := s.head(ctx, e, buffer)
			if v.Cwd != "" {
				h.Workspace = v.Cwd
			}
			if err != nil {
				err = failure(ctx, e.path, err)
			}
			if !yield(h, err) {
				return
			}
		}
	}
}

// head is what both ends of a file tell.
func (s *shelf) head(ctx context.Context, e *entry, buffer []byte) (*session.Head, error) {
	h := &session.Head{ID: e.id, Agent: session.ClaudeCode, Turns: -1, Bytes: -1}
	if e.parent != nil {
		h.Parent = &session.Link{Session: e.parent.id, Call: e.call, Title: e.title, Kind: e.kind}
	}
	f, err := s.root.Open(e.path)
	if err != nil {
		return h, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return h, err
	}
	h.Bytes = info.Size()
	n, err := f.ReadAt(buffer, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return h, err
	}
	v := emptySurvey(e.parent != nil)
	v.part(buffer[:n], false)
	if from := h.Bytes - mostHead; from > 0 {
		if n, err = f.ReadAt(buffer, max(from, mostHead)); err != nil && !errors.Is(err, io.EOF) {
			return h, err
		}
		v.part(buffer[:n], from > mostHead)
	}
	h.Title, h.Workspace, h.Created, h.Updated = v.called(), v.cwd, v.first, v.last
	if e.parent != nil && e.title != "" {
		h.Title = e.title
	}
	if h.Bytes <= mostHead && (v.main || len(v.threads) == 1) { // else what was gone back on is not told from what was not
		err = v.arrange(ctx)
		h.Turns = v.turns
		return h, err
	}
	return h, nil
}

// part takes the whole lines of a piece of a file.
func (s *survey) part(b []byte, inside bool) {
	if inside {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	for line := range bytes.Lines(b) {
		s.add(&lines.Line{Bytes: bytes.TrimSuffix(line, []byte("\n"))})
	}
}

func (s *survey) named(kind string, line []byte) {
	switch kind {
	case "custom-title":
		s.title = text(line, "customTitle")
	case "ai-title":
		s.generated = text(line, "aiTitle")
	default:
		s.legacy = text(line, "summary")
	}
}

// called is the session's title, in the client's order.
func (s *survey) called() string {
	for _, t := range []string{s.title, s.generated, s.legacy, s.prompt} {
		if t != "" {
			return t
		}
	}
	return ""
}

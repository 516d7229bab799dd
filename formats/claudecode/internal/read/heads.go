package read

import (
	"context"
	"errors"
	"io"
	"iter"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/session"
)

// Heads lists the sessions of a config folder, a project's folder or a file.
func Heads(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	return func(yield func(*session.Head, error) bool) {
		s, err := outline.OpenStore(l)
		if err != nil {
			yield(nil, outline.Failure(ctx, l.Path, err))
			return
		}
		defer s.Close()
		buffer := make([]byte, outline.MaxHead)
		for _, e := range s.Sessions {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			h, err := head(ctx, s, e, buffer)
			if v.Cwd != "" {
				h.Workspace = v.Cwd
			}
			if err != nil {
				err = outline.Failure(ctx, e.Path, err)
			}
			if !yield(h, err) {
				return
			}
		}
	}
}

// head reads the head of a session from both ends of its file.
func head(ctx context.Context, s *outline.Store, e *outline.File, buffer []byte) (*session.Head, error) {
	h := &session.Head{ID: e.ID, Agent: session.ClaudeCode, Turns: -1, Bytes: -1}
	if e.Parent != nil {
		h.Parent = &session.Link{Session: e.Parent.ID, Call: e.Call, Title: e.Title, Kind: e.Kind}
	}
	f, err := s.Root.Open(e.Path)
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
	v := outline.NewTree(e.Parent != nil)
	v.Part(buffer[:n], false)
	if from := h.Bytes - outline.MaxHead; from > 0 {
		if n, err = f.ReadAt(buffer, max(from, outline.MaxHead)); err != nil && !errors.Is(err, io.EOF) {
			return h, err
		}
		v.Part(buffer[:n], from > outline.MaxHead)
	}
	h.Title, h.Workspace, h.Created, h.Updated = v.DisplayTitle(), v.Cwd, v.First, v.Last
	if e.Parent != nil && e.Title != "" {
		h.Title = e.Title
	}
	if h.Bytes <= outline.MaxHead && (v.Main || len(v.Threads) == 1) { // otherwise abandoned turns cannot be told apart
		err = v.Arrange(ctx)
		h.Turns = v.Turns
		return h, err
	}
	return h, nil
}

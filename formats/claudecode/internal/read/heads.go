package read

import (
	"cmp"
	"context"
	"iter"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/jsonl"
	"rehome/formats/session"
)

// Heads lists the sessions of a config folder, a project's folder or a file.
func Heads(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	return jsonl.Each(ctx, l, outline.Layout(l), func(s *jsonl.Store, f *jsonl.File, yield func(*session.Head, error) bool) bool {
		h, err := head(ctx, s, f)
		if v.Cwd != "" {
			h.Workspace = v.Cwd
		}
		return yield(h, err)
	})
}

// head reads the head of a session from both ends of its file.
func head(ctx context.Context, s *jsonl.Store, f *jsonl.File) (*session.Head, error) {
	h := &session.Head{ID: f.ID, Agent: session.ClaudeCode, Turns: -1, Bytes: -1}
	if f.Up != nil {
		h.Parent = &f.Link
	}
	ends, err := s.Ends(f)
	if err != nil {
		return h, err
	}
	h.Bytes = ends.Size
	v := outline.NewTree(f.Up != nil)
	v.Part(ends.Head, false)
	if from := h.Bytes - outline.MaxHead; from > 0 {
		again := max(0, outline.MaxHead-from) // bytes that Head has, too
		v.Part(ends.Tail[min(again, int64(len(ends.Tail))):], from > outline.MaxHead)
	}
	h.Title, h.Workspace, h.Created, h.Updated = v.DisplayTitle(), v.Cwd, v.First, v.Last
	h.Title = cmp.Or(f.Link.Title, h.Title)
	if h.Bytes <= outline.MaxHead && (v.Main || len(v.Threads) == 1) { // otherwise abandoned turns cannot be told apart
		err = v.Arrange(ctx)
		h.Turns = v.Turns
	}
	return h, err
}

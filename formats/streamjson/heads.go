package streamjson

import (
	"context"
	"io"
	"iter"
	"os"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/session"
)

// mostHeads is how long a file is read whole to list what is in it: a capture
// has no index, and a session in its middle would not be seen otherwise.
const mostHeads = 8 << 20

func heads(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	return func(yield func(*session.Head, error) bool) {
		list, err := list(ctx, l, v)
		if err != nil {
			yield(nil, jsonl.Failure(ctx, formatName, l.Path, err))
			return
		}
		for i := range list {
			if !yield(&list[i], nil) {
				return
			}
		}
	}
}

func list(ctx context.Context, l *formats.Location, v formats.View) ([]session.Head, error) {
	f, err := os.Open(l.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > mostHeads {
		return ends(ctx, f, info.Size(), v)
	}
	c, err := open(ctx, l, v, f)
	if err != nil {
		return nil, err
	}
	var out []session.Head
	for _, t := range c.outline.threads {
		out = append(out, t.head())
	}
	return out, nil
}

// ends looks at a long file's beginning and end.
func ends(ctx context.Context, f *os.File, size int64, v formats.View) ([]session.Head, error) {
	first, err := survey(ctx, io.NewSectionReader(f, 0, jsonl.MaxEnd), jsonl.MaxEnd)
	if err != nil {
		return nil, err
	}
	last, err := survey(ctx, io.NewSectionReader(f, size-jsonl.MaxEnd, jsonl.MaxEnd), jsonl.MaxEnd)
	if err != nil {
		return nil, err
	}
	for _, t := range first.threads {
		t.last = session.Stamp{}
	}
	for _, t := range last.threads {
		switch known := first.byID[t.id]; {
		case known != nil:
			known.last = t.last
		case strings.HasPrefix(t.id, anonymous) && len(first.threads) > 0:
		default:
			t.first, t.title = session.Stamp{}, ""
			first.threads = append(first.threads, t)
		}
	}
	if len(first.threads) > 0 && v.OnNotice != nil {
		v.OnNotice(f.Name() + ": read only the beginning and the end of this large file")
	}
	var out []session.Head
	for _, t := range first.threads {
		h := t.head()
		h.Turns, h.Bytes = -1, -1
		out = append(out, h)
	}
	return out, nil
}

package canonical

import (
	"bytes"
	"context"
	"io/fs"
	"iter"
	"os"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// arrange lists the files of a folder by their names, but each behind the one
// its first session is a child of.
func arrange(root *os.Root, strange func(path string)) ([]string, error) {
	var names []string
	err := fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == ".":
		case hidden(e) && e.IsDir():
			return fs.SkipDir
		case hidden(e), e.IsDir():
		case !e.Type().IsRegular() || !strings.HasSuffix(path, ending):
			strange(path)
		default:
			names = append(names, path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	type key struct{ agent, id string }
	at := map[key]int{}
	parents := make([]key, len(names))
	for i, name := range names {
		h := firstHead(root, name)
		if h == nil {
			continue
		}
		at[key{h.Agent, h.ID}] = i
		if h.Parent != nil {
			parents[i] = key{h.Agent, h.Parent.Session}
		}
	}
	out := make([]string, 0, len(names))
	done := make([]bool, len(names))
	for i := range names {
		var above []int // i and its ancestors that are not out yet
		for n := i; !done[n]; {
			done[n] = true
			above = append(above, n)
			up, ok := at[parents[n]]
			if !ok {
				break
			}
			n = up
		}
		for n := len(above) - 1; n >= 0; n-- {
			out = append(out, names[above[n]])
		}
	}
	return out, nil
}

// firstHead is the head of the first session of a file, nil if that cannot be
// read: decoding it will say why.
func firstHead(root *os.Root, name string) *session.Head {
	f, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	for l, err := range lines.Each(context.Background(), f, maxLine) {
		if err != nil || l.Long {
			return nil
		}
		return headOf(l.Bytes)
	}
	return nil
}

// headOf is the head that a line is, nil if it is none.
func headOf(line []byte) *session.Head {
	fit, _, err := rawjson.Line(bytes.TrimSuffix(line, []byte("\r")))
	if err != nil || kindOf(fit) != "session" {
		return nil
	}
	s, err := new(parser).head(fit)
	if err != nil {
		return nil
	}
	return &s.Head
}

// heads reads the heads alone, and how many bytes each session takes.
func heads(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	return func(yield func(*session.Head, error) bool) {
		if !l.Dir() {
			f, err := os.Open(l.Path)
			if err != nil {
				yield(nil, (&decoder{}).fail(l.Path, err))
				return
			}
			headsOf(ctx, l.Path, f, yield)
			return
		}
		root, err := os.OpenRoot(l.Path)
		if err != nil {
			yield(nil, (&decoder{}).fail(l.Path, err))
			return
		}
		defer root.Close()
		files, err := arrange(root, func(string) {})
		if err != nil {
			yield(nil, (&decoder{}).fail(l.Path, err))
			return
		}
		for _, name := range files {
			f, err := root.Open(name)
			if err == nil && headsOf(ctx, l.Path+"/"+name, f, yield) {
				continue
			}
			if err != nil {
				yield(nil, (&decoder{}).fail(l.Path+"/"+name, err))
			}
			return
		}
	}
}

// headsOf looks at the beginning of each line only. It reports whether more is
// wanted.
func headsOf(ctx context.Context, path string, f *os.File, yield func(*session.Head, error) bool) bool {
	defer f.Close()
	var at *session.Head
	for l, err := range lines.Each(ctx, f, maxLine) {
		if err != nil {
			yield(nil, (&decoder{}).fail(path, err))
			return false
		}
		size := int64(len(l.Bytes)) + 1
		if !typed(l.Bytes) {
			if at != nil {
				at.Bytes += size
			}
			continue
		}
		if at != nil && !yield(at, nil) {
			return false
		}
		if at = headOf(l.Bytes); at != nil {
			at.Bytes = size
		}
	}
	return at == nil || yield(at, nil)
}

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

// heads lists what decode yields, and how many bytes each session takes.
func heads(ctx context.Context, l *formats.Location, _ formats.View) iter.Seq2[*session.Head, error] {
	return func(yield func(*session.Head, error) bool) {
		d := &decoder{ctx: ctx, headsOnly: true}
		d.yield = func(s *session.Session, err error) bool {
			if err != nil && (s == nil || s.ID == "" || s.Agent == "") {
				return yield(nil, err) // there is nothing to list
			}
			return yield(&s.Head, err)
		}
		d.all(l)
	}
}

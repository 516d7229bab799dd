package canonical

import (
	"context"
	"io/fs"
	"iter"
	"os"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
)

// oldSidecar ends the name of a file beside text that unreleased builds wrote, and that is
// ignored: anyone could have an agent given what the text does not say.
const oldSidecar = ending + formats.SidecarSuffix

// arrange lists the files of a folder by name, but a file whose first session is a subagent
// after that of its parent. It calls other for each file that is not canonical.
func arrange(root *os.Root, other func(path string)) ([]string, error) {
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
			other(path)
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
	return jsonl.Families(names, func(i int) int {
		if up, ok := at[parents[i]]; ok {
			return up
		}
		return -1
	}), nil
}

// firstHead returns the head of the first session of a file, nil if it cannot be read:
// decode reports why.
func firstHead(root *os.Root, name string) *session.Head {
	f, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	for l, err := range lines.Each(context.Background(), f, maxLine) {
		line := jsonl.Parse(l)
		if err != nil || kindOf(line.Object) != "session" {
			return nil
		}
		s, err := new(parser).head(line.Object)
		if err != nil {
			return nil
		}
		return &s.Head
	}
	return nil
}

// heads lists the sessions that decode yields, and their sizes.
func heads(ctx context.Context, l *formats.Location, _ formats.View) iter.Seq2[*session.Head, error] {
	return func(yield func(*session.Head, error) bool) {
		d := &decoder{ctx: ctx, headsOnly: true}
		d.yield = func(s *session.Session, err error) bool {
			if err != nil && (s == nil || s.ID == "" || s.Agent == "") {
				return yield(nil, err) // nothing to list
			}
			return yield(&s.Head, err)
		}
		d.all(l)
	}
}

// scan searches the lines of sessions.
func scan(ctx context.Context, l *formats.Location, _ formats.View, s *formats.Scan) (err error) {
	d := &decoder{ctx: ctx, headsOnly: true, scan: s.Take}
	d.yield = func(one *session.Session, fault error) bool {
		if one == nil {
			err = fault
		}
		return true
	}
	d.all(l)
	return err
}

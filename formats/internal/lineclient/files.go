package lineclient

import (
	"bytes"
	"context"
	"io"
	"iter"
	"path"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

const idMark = "{id}"

func (c *Client) probe(_ context.Context, l *formats.Location) (formats.Match, error) {
	if l.IsDir() {
		if jsonl.Holds(l, c.layout()) {
			return formats.Match{Score: 90, Evidence: []string{"a folder with sessions of " + c.Home.Title}}, nil
		}
		return formats.Match{}, nil
	}
	if c.isHead(l.FirstLine()) {
		return formats.Match{Score: 85, Evidence: []string{"a first line of kind " + c.Head.Kind + " with an id and a time"}}, nil
	}
	return formats.Match{}, nil
}

// isHead reports whether a line is the head of a session of this client. Those of others
// can have a type and an id, too, and say more besides.
func (c *Client) isHead(line []byte) bool {
	f := members.Split(line, "")
	return c.kindOf(f) == c.Head.Kind && f.Text(c.Head.ID) != "" && f.Time(c.Head.Created).Known() && f.Peek("agent") == nil
}

// layout finds the files of a store, which is the home of the client, one of the folders
// below it, or a file.
func (c *Client) layout() jsonl.Layout {
	return jsonl.Layout{
		Format: c.Name,
		Family: family,
		Enter: func(dir string) bool {
			return slices.ContainsFunc(c.Files, func(p string) bool { return enters(p, dir) })
		},
		Match: func(p string, named bool) (jsonl.File, bool) {
			for _, pattern := range c.Files {
				if id, _, ok := matches(pattern, p); ok {
					return jsonl.File{ID: id}, true
				}
			}
			return jsonl.File{ID: strings.TrimSuffix(path.Base(p), path.Ext(p))}, named
		},
		Sure: func(s *jsonl.Store, f *jsonl.File) bool {
			full := slices.ContainsFunc(c.Files, func(pattern string) bool {
				_, full, ok := matches(pattern, f.Path)
				return ok && full
			})
			return full || c.storedID(s, f) != ""
		},
		Identify: func(s *jsonl.Store, f *jsonl.File) {
			if id := c.storedID(s, f); id != "" {
				f.ID = id
			}
		},
		Compare: func(a, b *jsonl.File) int { return strings.Compare(path.Base(a.Path), path.Base(b.Path)) },
	}
}

// enters reports whether a folder of a store can lead to the files of a pattern. The store
// can begin at any folder of the pattern.
func enters(pattern, dir string) bool {
	want, have := strings.Split(path.Dir(pattern), "/"), strings.Split(dir, "/")
	for from := range want {
		if len(have) <= len(want)-from && each(want[from:], have) {
			return true
		}
	}
	return false
}

// matches reports whether a file of a store is one of a pattern, the id in its name, and
// whether all folders of the pattern are there.
func matches(pattern, p string) (id string, full, ok bool) {
	want, have := strings.Split(path.Dir(pattern), "/"), strings.Split(path.Dir(p), "/")
	if path.Dir(p) == "." {
		have = nil
	}
	if len(have) > len(want) || !each(want[len(want)-len(have):], have) {
		return "", false, false
	}
	before, after, _ := strings.Cut(path.Base(pattern), idMark)
	rest, ok := strings.CutSuffix(path.Base(p), after)
	if !ok {
		return "", false, false
	}
	if sep, wild := strings.CutPrefix(before, "*"); wild {
		_, rest, ok = strings.Cut(rest, sep)
	} else {
		rest, ok = strings.CutPrefix(rest, before)
	}
	return rest, len(have) == len(want), ok && rest != ""
}

// each reports whether the names of folders match patterns, one by one.
func each(patterns, names []string) bool {
	for i, name := range names {
		if ok, err := path.Match(patterns[i], name); !ok || err != nil {
			return false
		}
	}
	return true
}

// maxHead is how much of a file is read for its first line.
const maxHead = 1 << 20

// storedID returns the id in the head of a session, by which the client knows it.
func (c *Client) storedID(s *jsonl.Store, f *jsonl.File) string {
	file, err := s.Root.Open(f.Path)
	if err != nil {
		return ""
	}
	defer file.Close()
	for l, err := range lines.Each(context.Background(), io.LimitReader(file, maxHead), maxHead) {
		if err != nil {
			break
		}
		if r := jsonl.Parse(l); r.Object != nil {
			if f := members.Split(r.Object, ""); c.kindOf(f) == c.Head.Kind {
				return f.Text(c.Head.ID)
			}
			break
		}
	}
	return ""
}

// heads lists a store by the ends of its files.
func (c *Client) heads(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	return jsonl.Each(ctx, l, c.layout(), func(s *jsonl.Store, f *jsonl.File, yield func(*session.Head, error) bool) bool {
		h, err := c.head(s, f, v.Cwd)
		return yield(&h.Head, err)
	})
}

// listed is what the ends of a file state.
type listed struct {
	session.Head
	prompted bool // the title is the first prompt
}

func (c *Client) head(s *jsonl.Store, f *jsonl.File, cwd string) (h listed, err error) {
	h.Head = session.Head{ID: f.ID, Agent: c.Agent, Workspace: cwd, Turns: -1, Bytes: -1}
	ends, err := s.Ends(f)
	if err != nil {
		return h, err
	}
	h.Bytes = ends.Size
	prompt := ""
	take := func(line []byte) {
		r := c.parse(jsonl.Parse(lines.Line{Bytes: line, Ended: true}))
		k := c.Kinds[r.Kind]
		switch {
		case r.Object == nil:
			return
		case r.Kind == c.Head.Kind && !h.Created.Known():
			h.Created = r.line.Time(c.Head.Created)
			if h.Workspace == "" {
				h.Workspace = r.line.Text(c.Head.Cwd)
			}
		case k.Title != "":
			h.Title = firstLine(r.Text(k.Title))
		case k.Prompt && prompt == "":
			prompt = c.words(r, k)
		}
		if r.Time.Known() {
			h.Updated = r.Time
		}
	}
	for line := range bytes.Lines(ends.Head) {
		take(line)
	}
	if ends.Size > jsonl.MaxEnd {
		for line := range bytes.Lines(ends.Tail) {
			take(line)
		}
	}
	if h.Title == "" {
		h.Title, h.prompted = prompt, prompt != ""
	}
	return h, nil
}

// words returns the first line of what a prompt says.
func (c *Client) words(r *Record, k Kind) string {
	for _, p := range k.Say(r) {
		if t, ok := p.(*session.Text); ok && firstLine(t.Text) != "" {
			return firstLine(t.Text)
		}
	}
	return ""
}

// kindOf returns the kind of a line.
func (c *Client) kindOf(line *members.Fields) string {
	var words []string
	for _, p := range c.Line.Kind {
		name, inner, nested := strings.Cut(p, "/")
		v := line.Peek(name)
		if nested {
			v = rawjson.Last(v, inner)
		}
		if word := rawjson.Text(v); word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

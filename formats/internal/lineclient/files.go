package lineclient

import (
	"bytes"
	"cmp"
	"context"

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

// In patterns of files.
const (
	idMark     = "{id}"
	parentMark = "{parent}" // a folder with the name of the session that began this one
)

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
	r := c.parse(jsonl.Line{Object: line})
	return r.Kind == c.Head.Kind && r.Text(c.Head.ID) != "" && r.Fields.Time(c.Head.Created).Known() && r.Peek("agent") == nil
}

// layout finds the files of a store, which is the home of the client, one of the folders
// below it, or a file.
func (c *Client) layout() jsonl.Layout {
	if c.Layout != nil {
		y := c.Layout()
		y.Format, y.Family = c.Name, family
		return y
	}
	y := jsonl.Layout{
		Format: c.Name,
		Family: family,
		Enter: func(dir string) bool {
			return slices.ContainsFunc(c.Files, func(p string) bool { return enters(p, dir) })
		},
		Match: func(p string, named bool) (jsonl.File, bool) {
			for _, pattern := range c.Files {
				if id, _, ok := matches(pattern, p); ok {
					f := jsonl.File{ID: id}
					if dir := path.Base(path.Dir(p)); path.Base(path.Dir(pattern)) == parentMark && dir != "." {
						f.Link.Session = dir
					}
					return f, true
				}
			}
			return jsonl.File{ID: strings.TrimSuffix(path.Base(p), path.Ext(p))}, named
		},
		Sure: func(s *jsonl.Store, f *jsonl.File) bool {
			full := slices.ContainsFunc(c.Files, func(pattern string) bool {
				_, full, ok := matches(pattern, f.Path)
				return ok && full
			})
			return full || c.pattern(f.Path) <= 0 && c.storedID(s, f) != ""
		},
		Identify: func(s *jsonl.Store, f *jsonl.File) {
			if id := c.storedID(s, f); id != "" {
				f.ID = id
			}
		},
		Compare: func(a, b *jsonl.File) int {
			return cmp.Or(cmp.Compare(c.pattern(a.Path), c.pattern(b.Path)), strings.Compare(path.Base(a.Path), path.Base(b.Path)))
		},
	}
	if c.Move != nil && c.Move.Project != nil {
		y.Better = c.better
	}
	return y
}

// pattern returns which of Files a file is of: subagents follow the sessions that began them.
func (c *Client) pattern(p string) int {
	return slices.IndexFunc(c.Files, func(pattern string) bool {
		_, _, ok := matches(pattern, p)
		return ok
	})
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
	if path.Base(pattern) == path.Base(p) { // a folder has the id
		at := slices.Index(want, idMark)
		if at -= len(want) - len(have); at < 0 {
			return path.Base(p), false, true
		}
		return have[at], len(have) == len(want), true
	}
	before, after, named := strings.Cut(path.Base(pattern), idMark)
	rest, ok := strings.CutSuffix(path.Base(p), after)
	if !named {
		return "", false, false
	}
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
		if patterns[i] == idMark || patterns[i] == parentMark {
			continue
		}
		if ok, err := path.Match(patterns[i], name); !ok || err != nil {
			return false
		}
	}
	return true
}

// maxHead is how much of a file is read for its first line, which can have the system
// prompt and the tools.
const maxHead = 8 << 20

// begin returns the first line of a session, if it is the head; nil otherwise.
func (c *Client) begin(s *jsonl.Store, f *jsonl.File) *Record {
	for l, err := range s.Lines(context.Background(), f, maxHead) {
		if err != nil {
			break // decoding the file reports it
		}
		if l.Object != nil {
			if r := c.parse(l); r.Kind == c.Head.Kind {
				return r
			}
			break
		}
	}
	return nil
}

// storedID returns the id in the head of a session, by which the client knows it.
func (c *Client) storedID(s *jsonl.Store, f *jsonl.File) string {
	if r := c.begin(s, f); r != nil {
		return r.Text(c.Head.ID)
	}
	return ""
}

// families returns files with each followed by those of the sessions that it started.
func (c *Client) families(s *jsonl.Store, files []*jsonl.File) []*jsonl.File {
	if c.Head.Parent == nil {
		at := map[*jsonl.File]int{}
		for i, f := range files {
			at[f] = i + 1
		}
		return jsonl.Families(files, func(i int) int { return at[files[i].Up] - 1 })
	}
	index := map[string]int{}
	for i, f := range files {
		index[f.ID] = i
	}
	return jsonl.Families(files, func(i int) int {
		if r := c.begin(s, files[i]); r != nil {
			if up := c.Head.Parent(r); up != nil {
				if n, ok := index[up.Session]; ok {
					return n
				}
			}
		}
		return -1
	})
}

// heads lists a store by the ends of its files.
func (c *Client) heads(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	y := c.layout()
	if c.Head.Parent == nil {
		y.Order = c.families
	}
	return jsonl.Each(ctx, l, y, func(s *jsonl.Store, f *jsonl.File, yield func(*session.Head, error) bool) bool {
		in := c.input(ctx, s, f, v.Cwd)
		return yield(&in.Head, in.Err)
	})
}

// input reads the ends of a file: the head and the first prompt, the last title and the last
// time. The end of a compressed file cannot be read without the rest.
func (c *Client) input(ctx context.Context, s *jsonl.Store, f *jsonl.File, cwd string) (in Input) {
	in = Input{Ctx: ctx, Store: s, File: f, c: c, Head: session.Head{ID: f.ID, Agent: c.Agent, Workspace: cwd, Turns: -1, Bytes: -1}}
	ends, err := s.Ends(f)
	if err != nil {
		in.Err = err
		return in
	}
	h := &in.Head
	h.Bytes = ends.Size
	prompt := ""
	for l, err := range s.Lines(ctx, f, maxHead) {
		if in.Err = err; err != nil {
			return in
		}
		if l.Offset > jsonl.MaxEnd || prompt != "" {
			break
		}
		switch r := c.parse(l); {
		case r.Object == nil:
		case r.Kind == c.Head.Kind && in.First == nil:
			c.name(&in, r)
		case c.prompts(r):
			prompt = c.words(r)
		default:
			h.Title = cmp.Or(c.title(r), h.Title)
		}
	}
	if !f.Packed() {
		if ends.Size > jsonl.MaxEnd {
			c.ending(h, ends.Head)
		}
		c.ending(h, ends.Tail)
	}
	if c.Beside != nil {
		c.Beside(s, f, h)
	}
	if cwd != "" {
		h.Workspace = cwd
	}
	if h.Title == "" {
		h.Title, in.Prompted = prompt, prompt != ""
	}
	if f.Link.Session != "" {
		h.Parent = &session.Link{Session: f.Link.Session}
	}
	return in
}

// name takes what the head of a session states.
func (c *Client) name(in *Input, r *Record) {
	h := &in.Head
	in.First, h.Created = bytes.Clone(r.Fields.All()), r.Fields.Time(c.Head.Created)
	cwd := r.Text(c.Head.Cwd)
	if name, inner, nested := strings.Cut(c.Head.Cwd, "/"); nested {
		cwd = rawjson.TextAt(r.Peek(name), inner)
	}
	h.Workspace = cmp.Or(h.Workspace, cwd)
	if c.Head.Parent == nil {
		return
	}
	if up := c.Head.Parent(r); up != nil && up.Session != "" && up.Session != h.ID {
		h.Parent = up
	}
}

// ending takes the last title and the last time of some lines.
func (c *Client) ending(h *session.Head, b []byte) {
	for line := range bytes.Lines(b) {
		if slices.ContainsFunc(c.titles, func(word []byte) bool { return bytes.Contains(line, word) }) {
			h.Title = cmp.Or(c.title(c.parse(jsonl.Parse(lines.Line{Bytes: line, Ended: true}))), h.Title)
		}
	}
	for known := false; len(b) > 0 && !known; {
		i := bytes.LastIndexByte(b[:len(b)-1], '\n') + 1
		if at := members.Split(b[i:], "").Time(c.Line.Time); at.Known() { // also of a line that breaks off
			h.Updated, known = at, true
		}
		b = b[:i]
	}
}

// title returns the name that the user gave to the session, "" if a line has none.
func (c *Client) title(r *Record) string {
	if k := c.Kinds[r.Kind]; k.Title != "" {
		return FirstLine(r.Text(k.Title))
	}
	return ""
}

// words returns the first line of what a prompt says.
func (c *Client) words(r *Record) string {
	for _, p := range c.Kinds[r.Kind].Say(r) {
		if t, ok := p.(*session.Text); ok && FirstLine(t.Text) != "" {
			return FirstLine(t.Text)
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

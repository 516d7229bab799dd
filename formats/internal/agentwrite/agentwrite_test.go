package agentwrite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/agentwrite"
	"rehome/formats/internal/cursortools"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// blobs is a store in memory.
type blobs struct {
	data  map[agentstate.ID][]byte
	order []agentstate.ID
}

func (b *blobs) Blob(_ context.Context, id agentstate.ID) ([]byte, error) { return b.data[id], nil }

// held is a session in memory.
type held struct {
	session.Session
	list  []*session.Message
	files []*session.File
}

// hold copies a session.
func hold(t *testing.T, s *session.Session) *held {
	t.Helper()
	h := &held{Session: *s}
	if s.Messages != nil {
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			h.list = append(h.list, m)
		}
	}
	if s.Files != nil {
		for f, err := range s.Files {
			if err != nil {
				t.Fatal(err)
			}
			h.files = append(h.files, f)
		}
	}
	return h
}

// written is the graph of a session, and what was reported.
type written struct {
	blobs
	root  agentstate.ID
	notes map[loss.Code]int
	text  []string
}

// write writes a session and its subagents.
func write(t *testing.T, o agentwrite.Options, h *held, children ...*held) *written {
	t.Helper()
	w := &written{blobs: blobs{data: map[agentstate.ID][]byte{}}, notes: map[loss.Code]int{}}
	o.Put = func(_ context.Context, id agentstate.ID, data []byte) error {
		if _, ok := w.data[id]; !ok {
			w.data[id], w.order = append([]byte{}, data...), append(w.order, id)
		}
		return nil
	}
	o.OnLoss = func(l loss.Loss) {
		if !slices.Contains(agentwrite.Losses(), l.Code) {
			t.Errorf("%s is not declared", l.Code)
		}
		w.notes[l.Code]++
		w.text = append(w.text, fmt.Sprint(l.Code, " ", l.At.File, ": ", l.What()))
	}
	tell := func(h *held) *agentwrite.Conversation {
		c := agentwrite.New(&h.Session, o)
		for _, m := range h.list {
			if err := c.Message(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range h.files {
			if err := c.File(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.End(t.Context()); err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := tell(h)
	for _, child := range children {
		if err := c.Adopt(t.Context(), &child.Head, tell(child)); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if w.root, err = c.Root(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// read decodes the graph again.
func (w *written) read(t *testing.T, like *session.Session) (family []*held) {
	t.Helper()
	st, err := agentstate.Read(t.Context(), agentstate.Options{Blobs: w, Root: w.root, Note: func(l loss.Loss) { t.Errorf("reading: %s %s", l.At.File, l.What()) }})
	if err != nil || st.Broken() != "" {
		t.Fatal(err, st.Broken())
	}
	var add func(st *agentstate.State, h session.Head)
	add = func(st *agentstate.State, h session.Head) {
		s := &session.Session{Head: h}
		st.Fill(s)
		s.Messages = st.Messages(t.Context())
		family = append(family, hold(t, s))
		for _, c := range st.Children() {
			child, err := c.Open(t.Context())
			if err != nil || child.Broken() != "" {
				t.Fatal(err, child.Broken())
			}
			add(child, session.Head{ID: c.ID, Title: c.Title, Created: c.Created, Updated: c.Updated, Parent: &session.Link{Session: s.ID, Call: c.Call}})
		}
	}
	add(st, session.Head{ID: like.ID, Agent: like.Agent})
	return family
}

// plain is a message without what a graph does not hold, or holds in other words.
func plain(s *session.Session, m *session.Message, calls map[string]cursortools.Call) string {
	out := *m
	out.ID, out.Parent, out.Origin, out.Extras, out.Parts = "", "", nil, nil, nil
	if m.Turn != nil {
		t := *m.Turn
		t.ID, t.Status, t.Error, t.Usage, t.Extras = "", "", "", nil, nil
		out.Turn = &t
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case *session.Text:
			out.Parts = append(out.Parts, &session.Text{Text: p.Text})
		case *session.Injected:
			one := session.Injected{Tag: p.Tag, Text: p.Text, Data: p.Data}
			if p.Text != "" {
				one.Data = nil
			}
			out.Parts = append(out.Parts, &one)
		case *session.Thinking:
			if p.Text == "" && !isCursor(s) {
				continue
			}
			one := *p
			one.Source, one.Extras = session.Source{}, nil
			if !isCursor(s) {
				one.Signature = ""
			}
			out.Parts = append(out.Parts, &one)
		case *session.ToolCall:
			one := *p
			one.Source, one.Extras, one.Args = session.Source{}, nil, nil
			if k, ok := calls[p.ID]; ok {
				one.Kind, one.Name, one.Input = k.Kind, k.Name, k.Input
			}
			out.Parts = append(out.Parts, &one)
		case *session.ToolResult:
			one := session.ToolResult{Call: p.Call, Error: p.Error}
			for _, part := range p.Content {
				switch part := part.(type) {
				case *session.Text:
					one.Content = append(one.Content, &session.Text{Text: part.Text})
				case *session.Media:
					one.Content = append(one.Content, &session.Media{Mime: part.Mime, Data: part.Data})
				case *session.Opaque:
					one.Content = append(one.Content, part)
				}
			}
			if len(one.Content) == 0 && len(p.Value) > 0 {
				one.Content = append(one.Content, &session.Text{Text: string(p.Value)})
			}
			out.Parts = append(out.Parts, &one)
		case *session.Media:
			one := *p
			one.Source, one.Extras = session.Source{}, nil
			out.Parts = append(out.Parts, &one)
		case *session.Boundary:
			out.Parts = append(out.Parts, &session.Boundary{Archived: p.Archived})
		case *session.Summary:
			out.Parts = append(out.Parts, &session.Summary{Text: p.Text})
		}
	}
	if len(out.Parts) == 0 && (len(m.Parts) > 0 || m.Turn == nil) {
		return ""
	}
	return string(session.AppendMessage(nil, &out))
}

func isCursor(s *session.Session) bool { return strings.HasPrefix(s.Agent, "cursor-") }

// spelled returns the calls of a session as Cursor spells them.
func spelled(h *held) map[string]cursortools.Call {
	results := map[string]*session.ToolResult{}
	for _, m := range h.list {
		for _, p := range m.Parts {
			if r, ok := p.(*session.ToolResult); ok {
				results[r.Call] = r
			}
		}
	}
	out := map[string]cursortools.Call{}
	for _, m := range h.list {
		for _, p := range m.Parts {
			if c, ok := p.(*session.ToolCall); ok {
				out[c.ID] = cursortools.Spell(h.Agent, c, results[c.ID])
			}
		}
	}
	return out
}

// same requires that a session comes back.
func same(t *testing.T, was, is *held, w *written) {
	t.Helper()
	calls := spelled(was)
	lines := func(h *held, calls map[string]cursortools.Call) (out []string) {
		for _, m := range h.list {
			if line := plain(&was.Session, m, calls); line != "" && m.Branch == "" {
				out = append(out, line)
			}
		}
		return out
	}
	want, got := lines(ordered(was), calls), lines(is, nil)
	if w.notes[loss.MessageKept] > 0 {
		slices.Sort(want)
		slices.Sort(got)
	}
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			t.Errorf("missing: %s", want[i])
		case i >= len(want):
			t.Errorf("too many: %s", got[i])
		case want[i] != got[i]:
			t.Errorf("message %d\n was %s\n is  %s", i, want[i], got[i])
		default:
			continue
		}
		t.Log(strings.Join(w.text, "\n"))
		break
	}
}

// ordered moves results to their calls, as models' APIs require.
func ordered(h *held) *held {
	out := &held{Session: h.Session}
	of := map[string]int{} // calls: the message after which results come
	late := map[int][]*session.Message{}
	for i, m := range h.list {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case *session.ToolCall:
				of[p.ID] = i
			case *session.ToolResult:
				if at, ok := of[p.Call]; ok {
					late[at] = append(late[at], m)
					delete(of, p.Call)
				}
			}
		}
	}
	moved := map[*session.Message]bool{}
	for _, list := range late {
		for _, m := range list {
			moved[m] = true
		}
	}
	for i, m := range h.list {
		if !moved[m] {
			out.list = append(out.list, m)
		}
		out.list = append(out.list, late[i]...)
	}
	return out
}

// decode returns the sessions of a store.
func decode(t *testing.T, path string) (out []*held) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	found, err := all.Registry().Detect(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range found[0].Format.Sessions.Decode(t.Context(), l, formats.View{OnLoss: func(loss.Loss) {}, OnNotice: func(string) {}}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, hold(t, s))
	}
	return out
}

// TestSamples writes sessions of every client and reads them again.
func TestSamples(t *testing.T) {
	for _, dir := range []string{"claude/config/projects/-home-ann-app", "claude/shapes/projects/-home-ann-app"} {
		paths, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", filepath.FromSlash(dir), "*.jsonl"))
		if err != nil || len(paths) == 0 {
			t.Fatal(err)
		}
		for _, path := range paths {
			all := decode(t, path)
			for _, h := range all {
				if h.Parent != nil {
					continue
				}
				t.Run(filepath.Base(path)+" "+h.ID, func(t *testing.T) {
					var children []*held
					for _, child := range all {
						if child.Parent != nil && child.Parent.Session == h.ID {
							children = append(children, child)
						}
					}
					w := write(t, agentwrite.Options{}, h, children...)
					family := w.read(t, &h.Session)
					same(t, h, family[0], w)
					for i, child := range children {
						same(t, child, family[1+i], w)
					}
					if os.Getenv("DUMP") != "" {
						for _, id := range w.order {
							t.Logf("%s %q", id.Short(), w.data[id])
						}
					}
				})
			}
		}
	}
}

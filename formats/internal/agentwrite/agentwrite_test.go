package agentwrite_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"rehome/formats/formatstest"
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
	h.Graph = nil // its store is closed by then
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

// each yields what is in memory.
func each[T any](list []*T) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for _, one := range list {
			if !yield(one, nil) {
				return
			}
		}
	}
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
		for m := range formatstest.Fleeting(each(h.list)) {
			if err := c.Message(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		for f := range formatstest.Fleeting(each(h.files)) {
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
	w.reached(t)
	return w
}

// reached requires that the root leads to each blob that was stored.
func (w *written) reached(t *testing.T) {
	t.Helper()
	x := &agentstate.Index{}
	for i, id := range w.order {
		x.Add(id, uint64(i), w.data[id])
	}
	strays := map[agentstate.ID]bool{}
	for id := range w.data {
		strays[id] = true
	}
	g := agentstate.Graph{Index: x, Found: func(f agentstate.Fault) { t.Errorf("%s: %s", f.Path, fmt.Sprintf(f.Says, f.Args...)) }}
	g.Read = func(_ context.Context, place uint64) ([]byte, error) {
		delete(strays, w.order[place])
		return w.data[w.order[place]], nil
	}
	g.Prompt = func(agentstate.ID, []byte, string) {}
	if there, err := g.Walk(t.Context(), w.root); !there || err != nil {
		t.Error(there, err)
	}
	if x.Reached() == x.Len() {
		return
	}
	for id := range strays { // some are content, which is not read
		if bytes := w.data[id]; len(bytes) > 300 {
			t.Errorf("stored for nothing, perhaps: %s %q", id.Short(), bytes[:300])
		} else {
			t.Errorf("stored for nothing, perhaps: %s %q", id.Short(), bytes)
		}
	}
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
	out.Archived = m.Archived && m.Role != session.System
	if m.Role == session.Tool && !slices.ContainsFunc(m.Parts, func(p session.Part) bool { _, ok := p.(*session.ToolResult); return ok }) {
		out.Role, out.Simulated = session.User, true
	}
	if m.Turn != nil {
		t := *m.Turn
		t.Number, t.ID, t.Status, t.Error, t.Usage, t.Extras = 0, "", "", "", nil, nil
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
			if strings.TrimSpace(p.Text) == "" {
				one.Start, one.End, one.Millis = session.Stamp{}, session.Stamp{}, 0
			}
			out.Parts = append(out.Parts, &one)
		case *session.ToolCall:
			one := *p
			one.Source, one.Extras, one.Args, one.Child, one.Kind = session.Source{}, nil, nil, "", ""
			if k, ok := calls[p.ID]; ok {
				one.Name, one.Input = k.Name, k.Input
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
			if len(p.Content) == 0 {
				one.Content = shown(p, calls)
			}
			out.Parts = append(out.Parts, &one)
		case *session.Media:
			one := *p
			one.Source, one.Extras = session.Source{}, nil
			out.Parts = append(out.Parts, &one)
		case *session.Boundary:
			out.Parts = append(out.Parts, &session.Boundary{})
		case *session.Summary:
			out.Parts = append(out.Parts, &session.Summary{Text: p.Text})
		}
	}
	if len(out.Parts) == 0 && (len(m.Parts) > 0 || m.Turn == nil) {
		return ""
	}
	return string(session.AppendMessage(nil, &out))
}

// shown is what a model is told of a result whose text the source does not have.
func shown(r *session.ToolResult, calls map[string]cursortools.Call) (out []session.Part) {
	k, ok := calls[r.Call]
	if !ok {
		return nil
	}
	if text := cursortools.Shown(k.Kind, r.Value); strings.TrimSpace(text) != "" {
		out = append(out, &session.Text{Text: text})
	}
	for _, data := range cursortools.Images(r.Value) {
		out = append(out, &session.Media{Mime: "image/png", Data: data})
	}
	return out
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

// head is the head of a session, as far as the root of a conversation holds it.
func head(h *held) string {
	s := session.Session{Head: session.Head{Workspace: h.Workspace}, Mode: h.Mode, Branch: h.Branch, Repos: h.Repos, Plan: h.Plan, Context: h.Context, Todos: slices.Clone(h.Todos)}
	if !agentstate.HasMode(s.Mode) {
		s.Mode = ""
	}
	if h.Workspace != "" {
		s.Folders = h.Folders
	}
	for i := range s.Todos {
		s.Todos[i].Extras = nil
	}
	return string(session.AppendHead(nil, &s))
}

// same requires that a session comes back.
func same(t *testing.T, was, is *held, w *written) {
	t.Helper()
	if want, got := head(was), head(is); want != got {
		t.Errorf("head\n was %s\n is  %s", want, got)
	}
	for i, f := range was.files {
		if w.notes[loss.FileStatesMerged] > 0 {
			break
		}
		want, got := *f, session.File{}
		if want.Origin, want.Extras = nil, nil; i < len(is.files) {
			got = *is.files[i]
		}
		got.Origin, got.Extras = nil, nil
		if want, got := string(session.AppendFile(nil, &want)), string(session.AppendFile(nil, &got)); want != got {
			t.Errorf("file\n was %s\n is  %s", want, got)
		}
	}
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
	unknown := func(line string) bool { return strings.Contains(line, "(The result of this call is not known.)") }
	want, got = slices.DeleteFunc(want, unknown), slices.DeleteFunc(got, unknown)
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

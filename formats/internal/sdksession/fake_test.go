package sdksession

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/transcript"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// fake is a store of text: documents line by line, transcripts by path, and a
// conversation instead of checkpoints.
type fake struct {
	docs        [3][]string
	transcripts map[string]string
	graphs      map[string]*fakeGraph
	order       []sdkdoc.Kind // in which documents are taken in
	reads       int
	notes       []string
	books       session.SharedAccount
}

func (f *fake) Line(_ context.Context, k sdkdoc.Kind, p Place) ([]byte, error) {
	f.reads++
	b, _, err := rawjson.Line([]byte(f.docs[k][p.Row-1]))
	return b, err
}

func (f *fake) At(k sdkdoc.Kind, p Place) store.Addr {
	return store.Addr{File: k.File(), Line: int(p.Row)}
}

func (f *fake) add(k sdkdoc.Kind, lines ...string) { f.docs[k] = append(f.docs[k], lines...) }

// run adds a run and its events: each a message without what all have.
func (f *fake) run(agent, id string, number int, more string, messages ...string) {
	f.add(sdkdoc.Run, fmt.Sprintf(`{"runId":%q,"agentId":%q,"turnNumber":%d%s}`, id, agent, number, more))
	for i, m := range messages {
		f.add(sdkdoc.Event, eventLine(agent, id, i+1, m))
	}
}

func eventLine(agent, run string, seq int, message string) string {
	return fmt.Sprintf(`{"runId":%q,"seq":%d,"offset":"%d","eventType":"run_stream_event","payload":{"schemaVersion":1,"type":"sdk_message","agentId":%q,"runId":%q,"message":{"agent_id":%q,"run_id":%q,%s}},"payloadRef":null,"idempotencyKey":null,"createdAt":"2026-01-01T00:00:%02d.000Z"}`,
		run, seq, seq, agent, run, agent, run, message, seq%60)
}

// Messages of events.
func says(text string) string {
	return `"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":` + quote(text) + `}]}`
}

func asks(text string) string {
	return `"type":"user","message":{"role":"user","content":[{"type":"text","text":` + quote(text) + `}]}`
}

func thinks(text string) string { return `"type":"thinking","text":` + quote(text) }

func calls(id, more string) string {
	return `"type":"tool_call","call_id":` + quote(id) + `,"name":"shell",` + more
}

func quote(text string) string { return string(session.AppendString(nil, text)) }

const (
	running = `"status":"running","args":{"command":"ls"}`
	worked  = `"status":"completed","args":{"command":"ls"},"result":{"status":"success","value":{"exitCode":0}}`
	thought = `"type":"thinking","text":"","thinking_duration_ms":7`
)

// store is the fake as a Store.
func (f *fake) store() *Store {
	x := NewIndex()
	order := f.order
	if order == nil {
		order = []sdkdoc.Kind{sdkdoc.Agent, sdkdoc.Run, sdkdoc.Event}
	}
	for _, k := range order {
		for i, line := range f.docs[k] {
			b, _, err := rawjson.Line([]byte(line))
			if err != nil || !x.Add(k, b, Place{Row: int64(i + 1), Len: uint32(len(line))}) {
				f.notes = append(f.notes, fmt.Sprintf("refused %s:%d", k.File(), i+1))
			}
		}
	}
	s := &Store{Index: x, Lines: f, Names: Names{Catalog: "agents", Runs: "runs", Events: "events", State: "state"}}
	s.Note = func(n loss.Loss) {
		f.notes = append(f.notes, fmt.Sprintf("%s %s %s", n.Kind(), n.At, strings.Join(append([]string{string(n.Code)}, n.Args...), " ")))
	}
	for _, path := range sorted(f.transcripts) {
		if file, ok := transcript.Named(path); ok {
			s.Transcripts = append(s.Transcripts, file)
		}
	}
	s.Open = func(t transcript.File) (*io.SectionReader, func() error, error) {
		text := f.transcripts[t.Path]
		return io.NewSectionReader(strings.NewReader(text), 0, int64(len(text))), func() error { return nil }, nil
	}
	s.CheckpointAgents = sorted(f.graphs)
	s.Checkpoints = func(_ context.Context, agent string) (*Checkpoints, error) {
		g := f.graphs[agent]
		if g == nil {
			return nil, nil
		}
		return &Checkpoints{Blobs: g, All: func(func(agentstate.ID, error) bool) {}, At: func(agentstate.ID) store.Addr { return store.Addr{File: "state"} },
			Count: 5, Root: agentstate.ID{1}, Named: true, Close: func() error { return nil }}, nil
	}
	s.Read = func(_ context.Context, o agentstate.Options) (Graph, error) { return o.Blobs.(*fakeGraph), nil }
	return s
}

// fakeGraph is a conversation.
type fakeGraph struct {
	turns    []agentstate.Turn
	messages []*session.Message
	broken   string
}

func (g *fakeGraph) Blob(context.Context, agentstate.ID) ([]byte, error) { return nil, nil }
func (g *fakeGraph) Broken() string                                      { return g.broken }
func (g *fakeGraph) Fill(s *session.Session)                             {}
func (g *fakeGraph) Turns() []agentstate.Turn                            { return g.turns }
func (g *fakeGraph) Before(turn int) (id string) {
	for _, m := range g.messages {
		if m.Turn != nil {
			if turn--; turn < 0 {
				break
			}
		}
		if m.Branch == "" {
			id = m.ID
		}
	}
	return id
}
func (g *fakeGraph) Children() []*agentstate.Child { return nil }
func (g *fakeGraph) Reached() int64                { return 3 }
func (g *fakeGraph) Opaque() int64                 { return 0 }
func (g *fakeGraph) Unreadable() int64             { return 0 }
func (g *fakeGraph) Members() (a, b, c int64)      { return 0, 0, 0 }

func (g *fakeGraph) Messages(context.Context) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		for _, m := range g.messages {
			again := *m
			if m.Turn != nil {
				t := *m.Turn
				again.Turn = &t
			}
			if !yield(&again, nil) {
				return
			}
		}
	}
}

// turn adds a turn: the prompt, and what follows as "say", "think:…", "call:id",
// "result:id"; parts of one message are joined by " + ".
func (g *fakeGraph) turn(request, prompt string, follows ...string) {
	t := agentstate.Turn{RequestID: request, Prompt: prompt}
	user := &session.Message{ID: fmt.Sprintf("g%d", len(g.messages)), Role: session.User, Turn: &session.Turn{Number: len(g.turns) + 1, RequestID: request}}
	if prompt != "" {
		user.Parts = []session.Part{&session.Text{Text: prompt}}
	}
	g.messages = append(g.messages, user)
	for _, f := range follows {
		m := &session.Message{ID: fmt.Sprintf("g%d", len(g.messages)), Role: session.Assistant}
		for _, p := range strings.Split(f, " + ") {
			kind, text, ok := strings.Cut(p, ":")
			if !ok {
				kind, text = "", p
			}
			switch kind {
			case "think":
				m.Parts = append(m.Parts, &session.Thinking{Text: text})
			case "call":
				t.Calls = append(t.Calls, text)
				m.Parts = append(m.Parts, &session.ToolCall{ID: text, Name: "Shell"})
			case "result":
				m.Role = session.Tool
				m.Parts = append(m.Parts, &session.ToolResult{Call: text})
			default:
				m.Parts = append(m.Parts, &session.Text{Text: text})
			}
		}
		if m.Role == session.Assistant {
			t.Answers++
		}
		g.messages = append(g.messages, m)
	}
	g.turns = append(g.turns, t)
}

// tell is all sessions of a store, a line for each message.
func (f *fake) tell(t *testing.T) string {
	t.Helper()
	f.notes, f.reads, f.books = nil, 0, session.SharedAccount{}
	var b strings.Builder
	for s, err := range f.store().Sessions(t.Context(), session.Selection{Account: &f.books}) {
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("session " + s.ID)
		if len(s.Missing) > 0 {
			b.WriteString(" without " + strings.Join(s.Missing, ", "))
		}
		for _, x := range s.Extras {
			b.WriteString(" +" + x.Name)
		}
		b.WriteByte('\n')
		ids := map[string]bool{}
		from := map[string]string{}
		for _, one := range s.Branches {
			from[one.Name] = one.From
		}
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			if ids[m.ID] {
				t.Errorf("two messages have the id %s", m.ID)
			}
			ids[m.ID] = true
			if at, listed := from[m.Branch]; listed && m.Turn != nil && at != m.Parent {
				t.Errorf("%s: the branch follows %q, and the message %q", m.ID, at, m.Parent)
			}
			b.WriteString("  " + line(m) + "\n")
		}
	}
	if !f.books.Total().Balanced() {
		t.Errorf("the books do not balance: %+v", f.books.Total())
	}
	return b.String()
}

func line(m *session.Message) string {
	b := m.ID + " " + string(m.Role)
	if m.Archived {
		b += " archived"
	}
	if m.Branch != "" {
		b += " in " + m.Branch
	}
	if m.Parent != "" {
		b += " after " + m.Parent
	}
	if t := m.Turn; t != nil {
		b += fmt.Sprintf(" turn %d", t.Number)
		for _, s := range []string{t.ID, t.Status, t.Error} {
			if s != "" {
				b += " " + s
			}
		}
		for _, x := range t.Extras {
			if x.Name == "retries" {
				b += " retries " + string(x.Raw)
			}
		}
	}
	for _, p := range m.Parts {
		b += " | " + part(p)
	}
	return b
}

func part(p session.Part) string {
	from := func(o session.Source) string {
		if o.From != "" {
			return " <" + o.From
		}
		return ""
	}
	switch p := p.(type) {
	case *session.Text:
		return p.Text + from(p.Source)
	case *session.Thinking:
		return fmt.Sprintf("think:%s %d%s", p.Text, p.Millis, from(p.Source))
	case *session.ToolCall:
		extras := ""
		for _, e := range p.Extras {
			if e.Name == "event.args" && len(p.Args) > 0 { // calls of the fake graph have none
				extras += " " + e.Name + "=" + string(e.Raw)
			}
		}
		return "call:" + p.ID + string(p.Args) + extras + from(p.Source)
	case *session.ToolResult:
		return strings.TrimSpace(fmt.Sprintf("result:%s %s %s", p.Call, p.Status, p.Value)) + fmt.Sprint(map[bool]string{true: " failed"}[p.Error]) + from(p.Source)
	case *session.Opaque:
		return "opaque:" + p.Kind + " " + string(p.Raw) + from(p.Source)
	case *session.Boundary:
		return fmt.Sprintf("boundary:%d", p.Archived)
	case *session.Summary:
		return "summary:" + p.Text + from(p.Source)
	}
	return fmt.Sprintf("%T", p)
}

func same(t *testing.T, got, want string) {
	t.Helper()
	want = strings.TrimPrefix(want, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

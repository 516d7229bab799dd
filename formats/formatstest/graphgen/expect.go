package graphgen

import (
	"slices"
	"strconv"

	"rehome/formats/session"
)

// Container is where a session was read from.
type Container int

// The containers. The SDK's two say the same.
const (
	Chat Container = iota
	SDK
)

// Session is one that a store must decode to, held as a whole.
type Session struct {
	session.Session
	List  []*session.Message
	Snaps []*session.File
}

// Expected is what the plan means: the session, and then those of its
// subagents.
func (p *Plan) Expected(in Container) []*Session {
	s := p.expected(in)
	out := []*Session{s}
	children := slices.Clone(p.children)
	slices.SortStableFunc(children, func(a, b *Child) int { return a.field() - b.field() })
	for _, c := range children {
		kind := c.custom
		if kind == "" {
			kind = "explore"
		}
		s.Children = append(s.Children, session.Link{Session: c.ID, Call: c.call, Title: c.title, Kind: kind, Status: "success"})
		child := c.Plan.expected(Chat)
		child.Agent, child.Title = s.Agent, c.title
		child.Parent = &session.Link{Session: p.ID, Call: c.call}
		child.Created, child.Updated = session.Stored(c.created), session.Stored(c.used)
		child.Model, child.Status = c.Model, "idle"
		out = append(out, child)
	}
	return out
}

// field is where the state keeps a subagent. They come in the fields' order.
func (c *Child) field() int {
	if c.inline {
		return 16
	}
	return 31
}

func (p *Plan) expected(in Container) *Session {
	s := &Session{}
	s.ID, s.Title, s.Workspace, s.Model = p.ID, p.Name, p.Cwd, p.Model
	s.Agent, s.Mode = session.CursorCLI, "agent"
	s.Created, s.Updated = session.Stored(p.created), session.Stored(p.updated)
	if in == SDK {
		s.Agent, s.Status = session.CursorSDK, "idle"
	}
	if p.Shape != PromptsOnly {
		p.expectState(s)
	}
	if p.Shape != SpineOnly {
		s.List = append(s.List, &session.Message{Role: session.System, Parts: []session.Part{&session.Text{Text: p.system}}})
		s.List = append(s.List, &session.Message{Role: session.User, Simulated: true, Parts: injected(p.context)})
	}
	number, runs := 0, 0
	var beside []*session.Message // what only events tell, if there is a conversation
	live := slices.ContainsFunc(p.turns, func(t *turn) bool { return !t.run.lost })
	for i, t := range p.turns {
		for _, a := range p.archives {
			if a.upTo == i {
				s.compacted(a)
			}
		}
		if t.shell == nil {
			runs++
		}
		switch {
		case t.run.lost && in == Chat:
		case t.run.lost && live:
			name := "run-" + strconv.Itoa(runs)
			s.Branches = append(s.Branches, session.Branch{Name: name})
			list := p.turnMessages(t, number+1, in)
			for _, m := range list {
				m.Branch = name
			}
			beside = append(beside, list...)
		default:
			number++
			s.List = append(s.List, p.turnMessages(t, number, in)...)
		}
	}
	if p.pending != nil {
		waiting := *p
		waiting.Shape = PromptsOnly // it stands in the state as a prompt, and nowhere else
		s.List = append(s.List, waiting.answer(p.pending, Chat))
	}
	s.List = append(s.List, beside...)
	return s
}

// compacted sets the boundary: all in front of it but the system prompt is
// archived.
func (s *Session) compacted(a archive) {
	n := 0
	for _, m := range s.List[1:] {
		if !m.Archived && m.Role != session.System {
			m.Archived = true
			n++
		}
	}
	s.List = append(s.List, &session.Message{Role: session.System, Parts: []session.Part{&session.Boundary{Archived: n}, &session.Summary{Text: a.summary}}})
}

func (p *Plan) expectState(s *Session) {
	s.Branch, s.Plan = p.branch, p.plan
	s.Context = &session.Context{Used: int64(p.used[0]), Max: int64(p.used[1])}
	for _, r := range p.repos {
		s.Repos = append(s.Repos, session.Repo{Path: r[0], Branch: r[1]})
	}
	for _, t := range p.todos {
		s.Todos = append(s.Todos, session.Todo{ID: t.id, Content: t.content, Status: []string{"", "pending", "in_progress", "completed", "cancelled"}[t.status],
			Created: session.Stored(t.created), Updated: session.Stored(t.updated), DependsOn: t.needs})
	}
	for _, f := range p.files {
		file := &session.File{Path: f.path, After: &session.Body{Bytes: f.after}}
		if f.before != nil {
			file.Before = &session.Body{Bytes: f.before}
		}
		s.Snaps = append(s.Snaps, file)
	}
}

func injected(list []envelope) (out []session.Part) {
	for _, e := range list {
		out = append(out, &session.Injected{Tag: e.tag, Text: e.text})
	}
	return out
}

// record is what is known of a turn as such.
func (p *Plan) record(t *turn, number int, in Container) *session.Turn {
	r := &session.Turn{Number: number}
	if t.shell != nil {
		r.Kind = "shell"
	} else {
		r.RequestID = t.request
	}
	if spine := p.Shape != PromptsOnly && p.Shape != Archived && !t.run.lost; spine {
		r.Start, r.End = session.Stored(t.start), session.Stored(t.end)
		if t.shell == nil {
			r.Model, r.Mode = t.display, "agent"
		}
	}
	if in == SDK && t.shell == nil {
		r.ID, r.Status, r.Error, r.Model = t.run.id, t.run.ending, t.run.err, p.Model
		u := t.run.usage
		r.Usage = &session.Usage{Input: u[0], Output: u[1], CacheRead: u[2], CacheWrite: u[3], Total: u[4], Reasoning: -1}
		r.Start, r.End = session.Stored(t.start), session.Stored(t.end)
	}
	return r
}

func (p *Plan) turnMessages(t *turn, number int, in Container) []*session.Message {
	if t.shell != nil {
		value := jsonText("stdout", quote(t.shell.out), "stderr", quote(t.shell.err), "exitCode", num(int64(t.shell.code)))
		status := "success"
		if t.shell.code != 0 {
			status = "failure"
		}
		return []*session.Message{
			{Role: session.User, Turn: p.record(t, number, in), Parts: []session.Part{&session.Text{Text: t.shell.command}}},
			{Role: session.Tool, Parts: []session.Part{&session.ToolResult{Status: status, Value: session.Raw(value), Error: t.shell.code != 0}}},
		}
	}
	user := &session.Message{Role: session.User, Turn: p.record(t, number, in)}
	if p.Shape != SpineOnly {
		user.Parts = injected(t.around)
	}
	if t.attached != nil {
		user.Parts = append(user.Parts, &session.Injected{Tag: "file", Data: session.Raw(jsonText("content", quote(t.attached.content), "path", quote(t.attached.path)))})
	}
	user.Parts = append(user.Parts, &session.Text{Text: t.prompt})
	if t.image != nil {
		user.Parts = append(user.Parts, &session.Media{Mime: "image/jpeg", Data: t.image})
	}
	out := []*session.Message{user}
	if t.run.lost {
		return append(out, p.streamed(t, t.responses)...)
	}
	for _, r := range t.responses {
		out = append(out, p.answer(r, in))
		for _, c := range r.calls {
			out = append(out, &session.Message{Role: session.Tool, Parts: []session.Part{c.expectResult(p.Shape, false)}})
		}
	}
	if in == SDK {
		out = append(out, p.streamed(t, nil)...)
	}
	return out
}

// streamed is what only the events tell of a turn: the responses given, and
// the one it was cancelled in. A stream of events does not say where one
// response ends and the next begins, unless there is a call between them.
func (p *Plan) streamed(t *turn, list []*response) (out []*session.Message) {
	if t.run.more != nil {
		list = append(slices.Clone(list), t.run.more)
	}
	var m *session.Message
	for _, r := range list {
		told := r.told()
		if m == nil {
			m = &session.Message{Role: session.Assistant}
			out = append(out, m)
		}
		for _, part := range p.answer(told, SDK).Parts {
			text, ok := part.(*session.Text)
			if last := len(m.Parts) - 1; ok && last >= 0 {
				if before, ok := m.Parts[last].(*session.Text); ok {
					before.Text += text.Text
					continue
				}
			}
			m.Parts = append(m.Parts, part)
		}
		if len(told.calls) == 0 {
			continue
		}
		m = nil
		for _, c := range told.calls {
			if r != t.run.more {
				out = append(out, &session.Message{Role: session.Tool, Parts: []session.Part{c.expectResult(p.Shape, true)}})
			}
		}
	}
	return out
}

// told is a response as far as events tell of it.
func (r *response) told() *response {
	out := *r
	out.signed, out.redacted, out.calls = "", "", nil
	for _, c := range r.calls {
		if c.announced {
			told := *c
			told.name, told.input, told.args, told.told = c.kind, "", nil, true
			out.calls = append(out.calls, &told)
		}
	}
	return &out
}

func (p *Plan) answer(r *response, in Container) *session.Message {
	m := &session.Message{Role: session.Assistant}
	prompts := p.Shape != SpineOnly
	if r.redacted != "" && prompts {
		m.Parts = append(m.Parts, &session.Thinking{Redacted: true, Data: r.redacted})
	}
	if r.thinking != "" {
		think := &session.Thinking{Text: r.thinking}
		if prompts {
			think.Signature = r.signed
		}
		if p.spine() || in == SDK { // events tell it, too
			think.Millis = int64(r.took)
		}
		m.Parts = append(m.Parts, think)
	}
	if r.text != "" {
		m.Parts = append(m.Parts, &session.Text{Text: r.text})
	}
	for _, c := range r.calls {
		m.Parts = append(m.Parts, c.expect(p))
	}
	return m
}

func (p *Plan) spine() bool { return p.Shape != PromptsOnly && p.Shape != Archived }

func (c *call) expect(p *Plan) *session.ToolCall {
	out := &session.ToolCall{ID: c.id, Name: c.kind, Kind: c.kind}
	if c.told {
		out.Args = session.Raw(c.eventArgs)
		return out
	}
	if p.Shape != SpineOnly {
		out.Name, out.Input = c.name, session.Raw(c.input)
	}
	if p.spine() && c.args != nil {
		out.Args = session.Raw(c.args.json())
		out.Start, out.End = session.Stored(c.start), session.Stored(c.end)
	}
	if c.child != nil {
		out.Child = c.child.ID
	}
	return out
}

func (c *call) expectResult(shape Shape, lost bool) *session.ToolResult {
	out := &session.ToolResult{Call: c.id, Status: c.outcome, Error: c.failed}
	if lost {
		out.Status, out.Error, out.Value = "success", c.failed && c.outcome != "failure", session.Raw(c.eventResult())
		if out.Error {
			out.Status = "error"
		}
		return out
	}
	if shape != SpineOnly {
		for _, x := range c.content {
			if x.image != nil {
				out.Content = append(out.Content, &session.Media{Mime: x.mime, Data: x.image})
			} else {
				out.Content = append(out.Content, &session.Text{Text: x.text})
			}
		}
	}
	if shape != PromptsOnly && shape != Archived {
		out.Value = session.Raw(c.result.json())
	} else {
		out.Status = ""
	}
	return out
}

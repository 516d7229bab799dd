package session

// The types of line.
const (
	headLine    = "session"
	messageLine = "message"
	fileLine    = "file"
)

// version is that of the schema, canonical-1.
const version = 1

// AppendHead appends the line that a session begins with, without a line end.
func AppendHead(dst []byte, s *Session) []byte {
	p := pen{b: dst}
	p.open('{')
	p.mustText("type", headLine)
	p.mustNum("version", version)
	p.mustText("id", s.ID)
	p.mustText("agent", s.Agent)
	p.text("title", s.Title)
	p.text("workspace", s.Workspace)
	p.texts("folders", s.Folders)
	p.stamp("created", s.Created)
	p.stamp("updated", s.Updated)
	if s.Parent != nil {
		p.name("parent")
		p.link(s.Parent)
	}
	p.text("status", s.Status)
	p.text("mode", s.Mode)
	p.text("model", s.Model)
	p.text("branch", s.Branch)
	p.repos(s.Repos)
	p.todos(s.Todos)
	p.text("plan", s.Plan)
	if s.Context != nil {
		p.name("context")
		p.open('{')
		p.mustNum("used", s.Context.Used)
		p.mustNum("max", s.Context.Max)
		p.close('}')
	}
	p.children(s.Children)
	p.branches(s.Branches)
	p.texts("missing", s.Missing)
	p.extras(s.Extras)
	p.close('}')
	return p.b
}

func (p *pen) link(l *Link) {
	p.open('{')
	p.mustText("session", l.Session)
	p.text("call", l.Call)
	p.text("title", l.Title)
	p.text("kind", l.Kind)
	p.text("status", l.Status)
	p.close('}')
}

func (p *pen) repos(list []Repo) {
	if len(list) == 0 {
		return
	}
	p.name("repos")
	p.open('[')
	for _, r := range list {
		p.next()
		p.open('{')
		p.mustText("path", r.Path)
		p.text("branch", r.Branch)
		p.close('}')
	}
	p.close(']')
}

func (p *pen) todos(list []Todo) {
	if len(list) == 0 {
		return
	}
	p.name("todos")
	p.open('[')
	for _, t := range list {
		p.next()
		p.open('{')
		p.text("id", t.ID)
		p.mustText("content", t.Content)
		p.text("status", t.Status)
		p.stamp("created", t.Created)
		p.stamp("updated", t.Updated)
		p.texts("needs", t.DependsOn)
		p.extras(t.Extras)
		p.close('}')
	}
	p.close(']')
}

func (p *pen) children(list []Link) {
	if len(list) == 0 {
		return
	}
	p.name("children")
	p.open('[')
	for i := range list {
		p.next()
		p.link(&list[i])
	}
	p.close(']')
}

func (p *pen) branches(list []Branch) {
	if len(list) == 0 {
		return
	}
	p.name("branches")
	p.open('[')
	for _, b := range list {
		p.next()
		p.open('{')
		p.mustText("name", b.Name)
		p.text("from", b.From)
		p.close('}')
	}
	p.close(']')
}

// AppendMessage appends a message's line, without a line end.
func AppendMessage(dst []byte, m *Message) []byte {
	p := pen{b: dst}
	p.open('{')
	p.mustText("type", messageLine)
	p.mustText("id", m.ID)
	p.text("parent", m.Parent)
	p.text("branch", m.Branch)
	p.mustText("role", string(m.Role))
	if m.Turn != nil {
		p.turn(m.Turn)
	}
	p.stamp("at", m.At)
	p.stamp("end", m.End)
	p.text("model", m.Model)
	p.flag("simulated", m.Simulated)
	p.flag("archived", m.Archived)
	p.parts("parts", m.Parts)
	p.texts("origin", m.Origin)
	p.extras(m.Extras)
	p.close('}')
	return p.b
}

func (p *pen) turn(t *Turn) {
	p.name("turn")
	p.open('{')
	p.mustNum("number", int64(t.Number))
	p.text("id", t.ID)
	p.text("requestId", t.RequestID)
	p.text("kind", t.Kind)
	p.text("model", t.Model)
	p.text("mode", t.Mode)
	p.text("status", t.Status)
	p.text("error", t.Error)
	if t.Usage != nil {
		p.usage(t.Usage)
	}
	p.stamp("start", t.Start)
	p.stamp("end", t.End)
	p.extras(t.Extras)
	p.close('}')
}

func (p *pen) usage(u *Usage) {
	p.name("usage")
	p.open('{')
	for _, c := range [...]struct {
		name string
		n    int64
	}{{"input", u.Input}, {"output", u.Output}, {"cacheRead", u.CacheRead}, {"cacheWrite", u.CacheWrite}, {"reasoning", u.Reasoning}, {"total", u.Total}} {
		if c.n >= 0 {
			p.mustNum(c.name, c.n)
		}
	}
	p.close('}')
}

// AppendFile appends a snapshot's line, without a line end.
func AppendFile(dst []byte, f *File) []byte {
	p := pen{b: dst}
	p.open('{')
	p.mustText("type", fileLine)
	p.mustText("path", f.Path)
	p.body("before", f.Before)
	p.body("after", f.After)
	p.texts("origin", f.Origin)
	p.extras(f.Extras)
	p.close('}')
	return p.b
}

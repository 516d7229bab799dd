package session

// The types of lines.
const (
	headLine    = "session"
	messageLine = "message"
	fileLine    = "file"
)

// version is the version of the schema, canonical-1.
const version = 1

// AppendHead appends the line of a session head, without a line break.
func AppendHead(dst []byte, s *Session) []byte {
	w := jsonWriter{b: dst}
	w.open('{')
	w.mustText("type", headLine)
	w.mustNum("version", version)
	w.mustText("id", s.ID)
	w.mustText("agent", s.Agent)
	w.text("title", s.Title)
	w.text("workspace", s.Workspace)
	w.texts("folders", s.Folders)
	w.stamp("created", s.Created)
	w.stamp("updated", s.Updated)
	if s.Parent != nil {
		w.name("parent")
		w.link(s.Parent)
	}
	w.text("status", s.Status)
	w.text("mode", s.Mode)
	w.text("model", s.Model)
	w.text("branch", s.Branch)
	w.repos(s.Repos)
	w.todos(s.Todos)
	w.text("plan", s.Plan)
	if s.Context != nil {
		w.name("context")
		w.open('{')
		w.mustNum("used", s.Context.Used)
		w.mustNum("max", s.Context.Max)
		w.close('}')
	}
	w.children(s.Children)
	w.branches(s.Branches)
	w.texts("missing", s.Missing)
	w.extras(s.Extras)
	w.close('}')
	return w.b
}

func (w *jsonWriter) link(l *Link) {
	w.open('{')
	w.mustText("session", l.Session)
	w.text("call", l.Call)
	w.text("title", l.Title)
	w.text("kind", l.Kind)
	w.text("status", l.Status)
	w.close('}')
}

func (w *jsonWriter) repos(list []Repo) {
	writeObjects(w, "repos", list, func(r *Repo) {
		w.mustText("path", r.Path)
		w.text("branch", r.Branch)
	})
}

func (w *jsonWriter) todos(list []Todo) {
	writeObjects(w, "todos", list, func(t *Todo) {
		w.text("id", t.ID)
		w.mustText("content", t.Content)
		w.text("status", t.Status)
		w.stamp("created", t.Created)
		w.stamp("updated", t.Updated)
		w.texts("needs", t.DependsOn)
		w.extras(t.Extras)
	})
}

func (w *jsonWriter) children(list []Link) { writeArray(w, "children", list, w.link) }

func (w *jsonWriter) branches(list []Branch) {
	writeObjects(w, "branches", list, func(b *Branch) {
		w.mustText("name", b.Name)
		w.text("from", b.From)
	})
}

// AppendMessage appends the line of a message, without a line break.
func AppendMessage(dst []byte, m *Message) []byte {
	w := jsonWriter{b: dst}
	w.open('{')
	w.mustText("type", messageLine)
	w.mustText("id", m.ID)
	w.text("parent", m.Parent)
	w.text("branch", m.Branch)
	w.mustText("role", string(m.Role))
	if m.Turn != nil {
		w.turn(m.Turn)
	}
	w.stamp("at", m.At)
	w.stamp("end", m.End)
	w.text("model", m.Model)
	w.flag("simulated", m.Simulated)
	w.flag("archived", m.Archived)
	w.parts("parts", m.Parts)
	w.texts("origin", m.Origin)
	w.extras(m.Extras)
	w.close('}')
	return w.b
}

func (w *jsonWriter) turn(t *Turn) {
	w.name("turn")
	w.open('{')
	w.mustNum("number", int64(t.Number))
	w.text("id", t.ID)
	w.text("requestId", t.RequestID)
	w.text("kind", t.Kind)
	w.text("model", t.Model)
	w.text("mode", t.Mode)
	w.text("status", t.Status)
	w.text("error", t.Error)
	if t.Usage != nil {
		w.usage(t.Usage)
	}
	w.stamp("start", t.Start)
	w.stamp("end", t.End)
	w.extras(t.Extras)
	w.close('}')
}

func (w *jsonWriter) usage(u *Usage) {
	w.name("usage")
	w.open('{')
	for _, c := range [...]struct {
		name string
		n    int64
	}{{"input", u.Input}, {"output", u.Output}, {"cacheRead", u.CacheRead}, {"cacheWrite", u.CacheWrite}, {"reasoning", u.Reasoning}, {"total", u.Total}} {
		if c.n >= 0 {
			w.mustNum(c.name, c.n)
		}
	}
	w.close('}')
}

// AppendFile appends the line of a file snapshot, without a line break.
func AppendFile(dst []byte, f *File) []byte {
	w := jsonWriter{b: dst}
	w.open('{')
	w.mustText("type", fileLine)
	w.mustText("path", f.Path)
	w.body("before", f.Before)
	w.body("after", f.After)
	w.texts("origin", f.Origin)
	w.extras(f.Extras)
	w.close('}')
	return w.b
}

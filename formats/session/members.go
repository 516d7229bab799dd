package session

// The members of each record, in the order in which they are written.

func (s *Session) members(v Visitor) {
	v.Required("type", Constant(`"session"`))
	v.Required("version", Constant(`1`))
	v.Required("id", &s.ID)
	v.Required("agent", &s.Agent)
	v.Optional("title", &s.Title)
	v.Optional("workspace", &s.Workspace)
	v.Optional("folders", &s.Folders)
	v.Optional("created", &s.Created)
	v.Optional("updated", &s.Updated)
	v.Optional("parent", object(&s.Parent))
	v.Optional("status", &s.Status)
	v.Optional("mode", &s.Mode)
	v.Optional("model", &s.Model)
	v.Optional("branch", &s.Branch)
	v.Optional("repos", objects(&s.Repos))
	v.Optional("todos", objects(&s.Todos))
	v.Optional("plan", &s.Plan)
	v.Optional("context", object(&s.Context))
	v.Optional("children", objects(&s.Children))
	v.Optional("branches", objects(&s.Branches))
	v.Optional("missing", &s.Missing)
	v.Optional("extras", &s.Extras)
}

func (l *Link) members(v Visitor) {
	v.Required("session", &l.Session)
	v.Optional("call", &l.Call)
	v.Optional("title", &l.Title)
	v.Optional("kind", &l.Kind)
	v.Optional("status", &l.Status)
}

func (r *Repo) members(v Visitor) {
	v.Required("path", &r.Path)
	v.Optional("branch", &r.Branch)
}

func (t *Todo) members(v Visitor) {
	v.Optional("id", &t.ID)
	v.Required("content", &t.Content)
	v.Optional("status", &t.Status)
	v.Optional("created", &t.Created)
	v.Optional("updated", &t.Updated)
	v.Optional("needs", &t.DependsOn)
	v.Optional("extras", &t.Extras)
}

func (c *Context) members(v Visitor) {
	v.Required("used", &c.Used)
	v.Required("max", &c.Max)
}

func (b *Branch) members(v Visitor) {
	v.Required("name", &b.Name)
	v.Optional("from", &b.From)
}

func (e *Extra) members(v Visitor) {
	v.Required("name", &e.Name)
	v.Optional("raw", &e.Raw)
}

func (m *Message) members(v Visitor) {
	v.Required("type", Constant(`"message"`))
	v.Required("id", &m.ID)
	v.Optional("parent", &m.Parent)
	v.Optional("branch", &m.Branch)
	v.Required("role", (*string)(&m.Role))
	v.Optional("turn", object(&m.Turn))
	v.Optional("at", &m.At)
	v.Optional("end", &m.End)
	v.Optional("model", &m.Model)
	v.Optional("simulated", &m.Simulated)
	v.Optional("archived", &m.Archived)
	v.Optional("parts", &m.Parts)
	v.Optional("origin", &m.Origin)
	v.Optional("extras", &m.Extras)
}

func (t *Turn) members(v Visitor) {
	v.Required("number", &t.Number)
	v.Optional("id", &t.ID)
	v.Optional("requestId", &t.RequestID)
	v.Optional("kind", &t.Kind)
	v.Optional("model", &t.Model)
	v.Optional("mode", &t.Mode)
	v.Optional("status", &t.Status)
	v.Optional("error", &t.Error)
	v.Optional("usage", object(&t.Usage))
	v.Optional("start", &t.Start)
	v.Optional("end", &t.End)
	v.Optional("extras", &t.Extras)
}

func (u *Usage) members(v Visitor) {
	v.Optional("input", (*Count)(&u.Input))
	v.Optional("output", (*Count)(&u.Output))
	v.Optional("cacheRead", (*Count)(&u.CacheRead))
	v.Optional("cacheWrite", (*Count)(&u.CacheWrite))
	v.Optional("reasoning", (*Count)(&u.Reasoning))
	v.Optional("total", (*Count)(&u.Total))
}

func (f *File) members(v Visitor) {
	v.Required("type", Constant(`"file"`))
	v.Required("path", &f.Path)
	v.Optional("before", object(&f.Before))
	v.Optional("after", object(&f.After))
	v.Optional("origin", &f.Origin)
	v.Optional("extras", &f.Extras)
}

// The content of a file is text if that is possible, so that people can read and compare
// it, and otherwise base64.
func (b *Body) members(v Visitor) {
	v.Optional("text", (*UTF8)(&b.Bytes))
	v.Optional("base64", (*Binary)(&b.Bytes))
}

func (t *Text) members(v Visitor) {
	v.Required("type", Constant(`"text"`))
	v.Required("text", &t.Text)
	v.Optional("from", &t.From)
	v.Optional("extras", &t.Extras)
}

func (t *Injected) members(v Visitor) {
	v.Required("type", Constant(`"context"`))
	v.Optional("tag", &t.Tag)
	v.Optional("text", &t.Text)
	v.Optional("data", &t.Data)
	v.Optional("from", &t.From)
	v.Optional("extras", &t.Extras)
}

func (t *Thinking) members(v Visitor) {
	v.Required("type", Constant(`"thinking"`))
	v.Optional("text", &t.Text)
	v.Optional("signature", &t.Signature)
	v.Optional("redacted", &t.Redacted)
	v.Optional("data", &t.Data)
	v.Optional("millis", &t.Millis)
	v.Optional("start", &t.Start)
	v.Optional("end", &t.End)
	v.Optional("from", &t.From)
	v.Optional("extras", &t.Extras)
}

func (t *ToolCall) members(v Visitor) {
	v.Required("type", Constant(`"tool_call"`))
	v.Required("id", &t.ID)
	v.Required("name", &t.Name)
	v.Optional("kind", &t.Kind)
	v.Optional("input", &t.Input)
	v.Optional("args", &t.Args)
	v.Optional("start", &t.Start)
	v.Optional("end", &t.End)
	v.Optional("child", &t.Child)
	v.Optional("from", &t.From)
	v.Optional("extras", &t.Extras)
}

func (t *ToolResult) members(v Visitor) {
	v.Required("type", Constant(`"tool_result"`))
	v.Required("call", &t.Call)
	v.Optional("status", &t.Status)
	v.Optional("error", &t.Error)
	v.Optional("content", &t.Content)
	v.Optional("value", &t.Value)
	v.Optional("from", &t.From)
	v.Optional("extras", &t.Extras)
}

func (t *Media) members(v Visitor) {
	v.Required("type", Constant(`"media"`))
	v.Optional("mime", &t.Mime)
	v.Optional("name", &t.Name)
	v.Optional("base64", &t.Data)
	v.Optional("uri", &t.URI)
	v.Optional("from", &t.From)
	v.Optional("extras", &t.Extras)
}

func (t *Summary) members(v Visitor) {
	v.Required("type", Constant(`"summary"`))
	v.Required("text", &t.Text)
	v.Optional("from", &t.From)
	v.Optional("extras", &t.Extras)
}

func (t *Boundary) members(v Visitor) {
	v.Required("type", Constant(`"boundary"`))
	v.Optional("archived", &t.Archived)
	v.Optional("extras", &t.Extras)
}

func (t *Opaque) members(v Visitor) {
	v.Required("type", Constant(`"opaque"`))
	v.Optional("kind", &t.Kind)
	v.Optional("raw", &t.Raw)
	v.Optional("from", &t.From)
}

package agentstate

import (
	"bytes"
	"context"
	"net/url"
	"strings"

	"rehome/formats/internal/wire"
	"rehome/formats/session"
)

// Fill sets the fields of dst that are not set yet to what the state says of the whole
// session.
func (s *State) Fill(dst *session.Session) {
	r, extras := &s.root, len(dst.Extras)
	if dst.Mode == "" {
		dst.Mode = r.mode
	} else if r.mode != "" && r.mode != dst.Mode {
		r.extras = append(r.extras, session.Extra{Name: "mode", Raw: quoted(r.mode)})
	}
	s.fillFolders(dst)
	if dst.Branch == "" {
		dst.Branch = r.branch
	} else if r.branch != "" && r.branch != dst.Branch {
		r.extras = append(r.extras, session.Extra{Name: "activeBranchName", Raw: quoted(r.branch)})
	}
	if dst.Repos == nil {
		dst.Repos = r.repos
	}
	if dst.Todos == nil {
		dst.Todos = s.todos
	}
	if dst.Plan == "" {
		dst.Plan = s.planText
	}
	if dst.Context == nil {
		dst.Context = r.context
	}
	s.fillCreated(dst)
	for _, c := range s.children {
		dst.Children = append(dst.Children, session.Link{Session: c.ID, Call: c.Call, Title: c.Title, Kind: c.Kind, Status: c.Status})
	}
	s.fillBranches(dst)
	dst.Extras = append(dst.Extras, r.extras...)
	dst.Graph = &session.Graph{Copy: s.copy, Extras: len(dst.Extras) - extras}
	if len(r.files) > 0 && dst.Files == nil {
		dst.Files = s.walkFiles(s.ctx)
	}
}

// fillCreated keeps the time that dst has: a conversation can begin later than its session
// was created.
func (s *State) fillCreated(dst *session.Session) {
	began := stored(s.root.started)
	switch {
	case !began.Known():
	case !dst.Created.Known():
		dst.Created = began
	case dst.Created != began:
		dst.Extras = append(dst.Extras, session.Extra{Name: "conversationStartedTimestampMs", Raw: quoted(number(int(s.root.started)))})
	}
}

// fillFolders converts the URIs of the workspace to paths.
func (s *State) fillFolders(dst *session.Session) {
	for _, uri := range s.root.uris {
		path, ok := FilePath(uri)
		switch {
		case !ok:
			dst.Extras = append(dst.Extras, session.Extra{Name: "previousWorkspaceUris", Raw: quoted(uri)})
		case dst.Workspace == "":
			dst.Workspace = path
		case path != dst.Workspace:
			dst.Folders = append(dst.Folders, path)
		}
	}
}

// FilePath returns the path in a file:// URI, as it is written on the machine that it
// comes from.
func FilePath(uri string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(uri, "file://")
	if !ok || !strings.HasPrefix(rest, "/") {
		return "", false
	}
	path, err := url.PathUnescape(rest)
	if err != nil {
		return "", false
	}
	if len(path) > 2 && path[2] == ':' && (path[1]|0x20 >= 'a' && path[1]|0x20 <= 'z') {
		path = strings.ReplaceAll(path[1:], "/", `\`)
	}
	return path, true
}

// gather reads the small blobs that the root refers to besides messages: todos, plan,
// summary.
func (s *State) gather(ctx context.Context) error {
	for _, id := range s.root.todos {
		b, err := s.read(ctx, id, "todo")
		if err != nil {
			return err
		}
		if b != nil {
			s.ledger.mark(id, claimed)
			s.todos = append(s.todos, s.todo(b))
		}
	}
	var err error
	if s.planText, err = s.textBlob(ctx, s.root.plan, "plan", codecs().plan); err != nil {
		return err
	}
	summary, err := s.textBlob(ctx, s.root.summary, "summary", codecs().summary)
	if err != nil {
		return err
	}
	if summary != "" {
		s.root.extras = append(s.root.extras, session.Extra{Name: "summary", Raw: quoted(summary)})
	}
	for _, id := range s.gauges {
		extras, err := s.aside(ctx, id, "promptContextUsageSnapshot", "context usage")
		if err != nil {
			return err
		}
		s.root.extras = append(s.root.extras, extras...)
	}
	return nil
}

// textBlob reads a blob that holds one text. It returns "" for the zero id.
func (s *State) textBlob(ctx context.Context, id ID, what string, c *wire.Codec[oneText]) (text string, err error) {
	if id == (ID{}) {
		return "", nil
	}
	b, err := s.read(ctx, id, what)
	if b == nil || err != nil {
		return "", err
	}
	s.ledger.mark(id, claimed)
	m := c.Decode(b)
	var extras []session.Extra
	text = s.text(m.Text, what, &extras)
	s.root.extras = append(s.root.extras, append(extras, s.keep(c.Message, &m.Unknown)...)...)
	return text, nil
}

// todo decodes a TodoItem.
func (s *State) todo(b []byte) (t session.Todo) {
	c := codecs().todo
	m := c.Decode(b)
	t.ID = s.text(m.ID, "id", &t.Extras)
	t.Content = s.text(m.Content, "content", &t.Extras)
	if t.Status = word(c.Message, "status", m.Status); t.Status == "" {
		c.Release(m, "status")
	}
	t.Created, t.Updated = stored(m.Created), stored(m.Updated)
	for need := range m.Needs.All() {
		t.DependsOn = append(t.DependsOn, s.text(need, "dependencies", &t.Extras))
	}
	t.Extras = append(t.Extras, s.keep(c.Message, &m.Unknown)...)
	return t
}

// openSteps reads a conversation that consists of the steps that a parent's call kept.
func (s *State) openSteps(ctx context.Context, c *Child) error {
	b, err := c.stepBytes(ctx)
	if b == nil || err != nil {
		s.broken = "its steps are missing"
		return err
	}
	s.at = c.steps.step
	s.root.id = c.steps.step
	outer := s.parseCall(s.decodeStep(b).Call)
	whole, err := s.whole(ctx, &outer)
	if err != nil {
		return err
	}
	s.asked = bytes.Clone(codecs().task.Decode(whole.args).Prompt)
	t := turnLine{line: -1, region: -1, firstAnchor: -1, lastAnchor: -1, text: s.hash(s.asked), prompt: clip(s.asked)}
	for step := range wire.List(bytes.Clone(successOf(whole).Steps)).All() {
		s.inline = append(s.inline, step)
	}
	s.turns = append(s.turns, t)
	for _, b := range s.inline {
		if err := s.outlineStepBytes(ctx, c.steps.step, b); err != nil {
			return err
		}
	}
	s.turns[0].to = int32(len(s.steps))
	s.makePlan()
	s.forget()
	return s.settleChildren(ctx)
}

// stepBytes returns the parent's step that holds the steps of a subagent.
func (c *Child) stepBytes(ctx context.Context) ([]byte, error) {
	if c.steps.inline {
		return c.parent.inline[c.steps.ordinal], nil
	}
	return c.parent.read(ctx, c.steps.step, "step")
}

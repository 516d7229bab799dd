package agentwrite

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/envelope"
	"rehome/formats/internal/filename"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// turn is a turn that is not stored yet.
type turn struct {
	agentstate.AgentTurn
	at   int // in Root.Turns
	open int // calls without a result
	last bool

	shell   bool
	command string
	output  session.Raw
}

// ask writes the message that a turn begins with.
func (c *Conversation) ask(ctx context.Context, m *session.Message, parts []session.Part) error {
	if err := c.closeTurn(ctx); err != nil {
		return err
	}
	c.last = nil
	c.turn = &turn{at: len(c.root.Turns), AgentTurn: agentstate.AgentTurn{More: c.record(m.Turn)}}
	c.root.Turns = append(c.root.Turns, agentstate.ID{})
	if c.o.Turn != nil {
		c.o.Turn(len(c.root.Turns), m.Turn)
	}
	c.root.Timing(m.Turn.Start, m.Turn.End)
	u := agentstate.User{More: c.user, Mode: m.Turn.Mode, Simulated: m.Simulated, Start: m.Turn.Start, End: m.End}
	mark := c.identify(&u, m)
	switch {
	case m.Turn.Kind == agentstate.ShellTurn && isCommand(m, parts):
		if c.o.Runs != nil {
			c.o.Runs.Turn(m, "")
		}
		if c.messageID != "" || len(c.user) > 0 { // of a message of the user, which it has none of
			c.note(loss.MessageMetadata)
		}
		c.shell(m, parts[0].(*session.Text))
		return nil
	case m.Turn.Kind == agentstate.ShellTurn:
		mark = flag(mark, "shell")
	case m.Turn.Kind != "":
		c.note(loss.TurnRecord)
	}
	t := c.turn
	t.Request, t.Model = c.clean(m.Turn.RequestID), c.clean(m.Turn.Model)
	if u.Mode != "" && !agentstate.HasMode(u.Mode) {
		c.note(loss.TurnRecord)
		u.Mode = ""
	}
	sent, err := c.asked(ctx, &u, parts)
	if err != nil {
		return err
	}
	if c.o.Runs != nil {
		t.Request = c.clean(c.o.Runs.Turn(m, typed(sent)))
	}
	if t.User, err = c.b.User(ctx, &u); err != nil {
		return err
	}
	var cursor []byte
	if t.Request != "" {
		cursor = member(cursor, "requestId", t.Request)
	}
	if m.Model != "" {
		cursor = member(cursor, "modelName", c.clean(m.Model))
	}
	mark = turnTimes(mark, m.Turn)
	return c.tell(ctx, m, session.User, sent, cursor, times(mark, m, clocked(exact(m.Turn.Start), sent), exact(m.End)), true)
}

// typed returns what the user asked, as the prompt message has it, with halves of characters
// that a string of protobuf cannot hold.
func typed(sent []session.Part) string {
	var texts []string
	for _, p := range sent {
		if t, ok := p.(*session.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// asked sorts the parts of a prompt into a message of the user, and returns those that the
// prompt message holds.
func (c *Conversation) asked(ctx context.Context, u *agentstate.User, parts []session.Part) (sent []session.Part, err error) {
	var texts []string
	usual := inUsualOrder(parts)
	for _, p := range parts {
		switch p := p.(type) {
		case *session.Injected:
			switch place := placeOf(p); {
			case usual && place == attachedPlace:
				c.extras(p.Extras)
				u.Attached = append(u.Attached, p)
				continue
			case usual && place == hookPlace:
				c.extras(p.Extras)
				u.Hooks = append(u.Hooks, p)
				continue
			}
		case *session.Text:
			texts = append(texts, valid(p.Text)) // the prompt message keeps halves of characters
			if texts[len(texts)-1] != p.Text && rawjson.Text(session.AppendString(nil, p.Text)) != p.Text {
				c.note(loss.TextRepaired)
			}
		case *session.Media:
			at, err := c.attach(ctx, p)
			if err != nil {
				return nil, err
			}
			u.Media = append(u.Media, at)
		}
		sent = append(sent, p)
	}
	u.Text = strings.Join(texts, "\n")
	return sent, nil
}

// identify gives a message of the user its id, and returns the mark that states it.
func (c *Conversation) identify(u *agentstate.User, m *session.Message) (mark []byte) {
	if u.ID = c.messageID; u.ID != "" {
		return member(nil, "turn", u.ID)
	}
	u.ID = filename.NamedUUID("rehome user message", c.s.Agent, c.s.ID, m.ID)
	return member(nil, "message", u.ID)
}

// turnTimes appends the times of a turn to a mark, if they are not those that reading would
// find.
func turnTimes(mark []byte, t *session.Turn) []byte {
	if t.Start != exact(t.Start) && !timed(t) {
		mark = moment(mark, "start", t.Start)
	}
	if t.End != exact(t.End) {
		mark = moment(mark, "stop", t.End)
	}
	return mark
}

// The order in which reading puts the parts of a prompt.
const (
	contextPlace = iota
	attachedPlace
	hookPlace
	textPlace
)

func placeOf(p session.Part) int {
	in, ok := p.(*session.Injected)
	switch {
	case !ok:
		return textPlace
	case in.Tag == "hook" && len(in.Data) == 0 && utf8.ValidString(in.Text):
		return hookPlace
	case agentstate.Attaches(in):
		return attachedPlace
	}
	return contextPlace
}

// inUsualOrder reports whether parts are in that order. If not, context of all kinds stays
// in the prompt message, which keeps any order.
func inUsualOrder(parts []session.Part) bool {
	return slices.IsSortedFunc(parts, func(a, b session.Part) int { return placeOf(a) - placeOf(b) })
}

// timed reports whether the start of a turn follows from its end and its duration.
func timed(t *session.Turn) bool {
	end := exact(t.End)
	return t.Start.Inferred() && t.Start.Millis() > 0 && t.Start.Millis() < end.Millis()
}

// clocked returns the time that reading would find: in the text for the model, if nothing
// states it.
func clocked(at session.Stamp, parts []session.Part) session.Stamp {
	for _, p := range parts {
		if in, ok := p.(*session.Injected); ok && in.Tag == envelope.Clock && !at.Known() {
			return session.Inferred(-1) // to the minute, so it is stated
		}
	}
	return at
}

// record reports what the state has no place for in the record of a turn, and returns the
// fields that it has a place for.
func (c *Conversation) record(t *session.Turn) (more []byte) {
	more, rest := c.fields("AgentConversationTurnStructure", t.Extras, "userMessage", "steps", "requestId", "routedModelDisplayName")
	if t.Kind == agentstate.ShellTurn {
		more, rest = nil, t.Extras
	}
	noRun := c.o.Turn == nil && (c.o.Runs == nil || t.Kind == agentstate.ShellTurn)
	if len(rest) > 0 || noRun && (t.ID != "" || t.Status != "" || t.Error != "" || t.Usage != nil) {
		c.note(loss.TurnRecord)
	}
	return more
}

// attach stores the content of an image or a file of a prompt.
func (c *Conversation) attach(ctx context.Context, m *session.Media) (at agentstate.AttachedMedia, err error) {
	c.extras(m.Extras)
	at.Media = m
	if m.Data != nil {
		at.Blob, err = c.b.Blob(ctx, m.Data)
	}
	return at, err
}

// tell writes a prompt message in the role of the user. If begins is set, a turn begins
// with it.
func (c *Conversation) tell(ctx context.Context, m *session.Message, role session.Role, parts []session.Part, cursor, mark []byte, begins bool) error {
	p := c.newPrompt(session.User)
	if text, media, ok := c.enveloped(parts, begins); ok {
		for _, part := range parts {
			if in, given := part.(*session.Injected); given {
				c.extras(in.Extras)
			}
		}
		if text != "" {
			p.textPart(text, provided{}, nil)
		}
		for _, part := range media {
			p.media(part.(*session.Media), true)
		}
	} else {
		mark = flag(mark, "parts")
		for _, part := range parts {
			c.userPart(p, part)
		}
	}
	switch {
	case role == session.System:
		mark = member(mark, "role", "system")
	case m.Simulated && !begins:
		mark = flag(mark, "simulated")
	case !begins:
		mark = flag(mark, "aside")
	}
	c.begun = true
	return c.put(ctx, p, cursor, mark)
}

// enveloped returns the text that Cursor itself would send: context in tags, then the
// prompt in its tag; and the media that follow. ok is false if that would not be read as
// the same parts.
func (c *Conversation) enveloped(parts []session.Part, begins bool) (text string, media []session.Part, ok bool) {
	var b strings.Builder
	var want []envelope.Piece
	i := 0
	for ; i < len(parts); i++ {
		in, ok := parts[i].(*session.Injected)
		if !ok {
			break
		}
		if in.Tag == "" || len(in.Data) > 0 {
			return "", nil, false
		}
		want = append(want, envelope.Piece{Tag: in.Tag, Text: in.Text})
	}
	if begins {
		if i == len(parts) {
			return "", nil, false
		}
		if t, ok := parts[i].(*session.Text); ok {
			if strings.TrimSpace(t.Text) == "" || len(t.Extras) > 0 || !utf8.ValidString(t.Text) {
				return "", nil, false
			}
			want = append(want, envelope.Piece{Tag: envelope.Query, Text: t.Text})
			i++
		}
	}
	if media = parts[i:]; slices.ContainsFunc(media, func(p session.Part) bool { m, ok := p.(*session.Media); return !ok || m.Data == nil || m.Name != "" }) {
		return "", nil, false
	}
	if !begins && len(media) > 0 {
		return "", nil, false
	}
	for i, w := range want {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("<" + w.Tag + ">\n" + w.Text + "\n</" + w.Tag + ">")
	}
	return b.String(), media, slices.Equal(envelope.Split(b.String()), want)
}

// userPart writes one part by itself, with a mark that says what it is.
func (c *Conversation) userPart(p *prompt, part session.Part) {
	switch part := part.(type) {
	case *session.Text:
		c.extras(part.Extras)
		p.textPart(part.Text, provided{}, member(nil, "as", "text"))
	case *session.Injected:
		c.extras(part.Extras)
		mark := member(member(nil, "as", "context"), "tag", part.Tag)
		text := part.Text
		if len(part.Data) > 0 {
			if text == "" {
				text, mark = string(part.Data), flag(mark, "data")
			} else {
				c.note(loss.AttachmentRecord)
			}
		}
		p.textPart(text, provided{}, mark)
	case *session.Media:
		c.extras(part.Extras)
		p.media(part, true)
	case *session.Summary:
		c.extras(part.Extras)
		p.textPart(part.Text, provided{}, member(nil, "as", "summary"))
	default:
		c.note(loss.PartOpaque)
	}
}

// aside writes a message of the user or of the system that begins no turn.
func (c *Conversation) aside(ctx context.Context, m *session.Message, role session.Role, parts []session.Part) error {
	if len(parts) == 0 {
		c.note(loss.MessageEmpty)
		return nil
	}
	if parts = c.tellable(role, parts); len(parts) == 0 {
		return nil
	}
	c.group, c.loose = nil, true
	if role == session.System && !c.begun {
		if text, ok := parts[0].(*session.Text); ok && len(parts) == 1 {
			c.extras(text.Extras)
			if m.Archived {
				c.note(loss.SystemPromptKept)
			}
			p := c.newPrompt(role)
			p.text("content", text.Text)
			p.parts = -1
			c.lead = len(c.prompts) + 1
			return c.put(ctx, p, nil, times(nil, m, session.Stamp{}, session.Stamp{}))
		}
	}
	var cursor []byte
	if m.Model != "" {
		cursor = member(cursor, "modelName", c.clean(m.Model))
	}
	if role == session.System {
		c.note(loss.NoticeSent)
	}
	return c.tell(ctx, m, role, parts, cursor, times(nil, m, clocked(session.Stamp{}, parts), session.Stamp{}), false)
}

// tellable returns the parts that a model can be told, and reports the others.
func (c *Conversation) tellable(role session.Role, parts []session.Part) []session.Part {
	opaque := func(p session.Part) bool { _, ok := p.(*session.Opaque); return ok }
	if !slices.ContainsFunc(parts, opaque) {
		return parts
	}
	out := make([]session.Part, 0, len(parts))
	for _, p := range parts {
		if !opaque(p) {
			out = append(out, p)
		} else if role != session.System {
			c.note(loss.PartOpaque)
		} else {
			c.note(loss.MessageMetadata) // the client wrote it for itself
		}
	}
	return out
}

package agentstate

import (
	"context"

	"rehome/formats/internal/wire"
	"rehome/formats/session"
)

// stepBytes returns the bytes of a step, valid until the next read.
func (s *State) stepBytes(ctx context.Context, i int32) ([]byte, error) {
	l := &s.steps[i]
	if s.within() {
		s.at = s.root.id
		return s.inline[i], nil
	}
	return s.read(ctx, l.id, "step")
}

// stepPart returns a step as a part. part is what a prompt message says of the same, nil
// if nothing does: the step adds to it.
func (s *State) stepPart(ctx context.Context, i int32, part session.Part, m *session.Message) (session.Part, error) {
	l := &s.steps[i]
	b, err := s.stepBytes(ctx, i)
	if b == nil || err != nil {
		return part, err
	}
	span(m, l)
	if !s.within() {
		m.Origin = append(m.Origin, s.origin(l.id)...)
	} else if len(m.Origin) == 0 {
		m.Origin = s.origin(s.root.id)
	}
	fields := s.decodeStep(b)
	extras := s.keep(codecs().step.Message, &fields.Unknown)
	switch {
	case fields.Text != nil:
		part = s.stepText(fields.Text, part)
	case fields.Call != nil:
		if part, err = s.stepCall(ctx, l, fields.Call, part); err != nil {
			return nil, err
		}
	case fields.Thinking != nil:
		part = s.stepThinking(fields.Thinking, part)
	}
	switch t := part.(type) {
	case *session.Text:
		t.Extras = append(t.Extras, extras...)
	case *session.Thinking:
		t.Extras = append(t.Extras, extras...)
	case *session.ToolCall:
		t.Extras = append(t.Extras, extras...)
	default:
		if part == nil {
			return &session.Opaque{Kind: "step", Raw: object(extras)}, nil
		}
		m.Extras = append(m.Extras, extras...)
	}
	return part, nil
}

// object returns extras as one object.
func object(extras []session.Extra) session.Raw {
	out := session.Raw{'{'}
	for i, e := range extras {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(session.AppendString(out, e.Name), ':')
		out = append(out, e.Raw...)
	}
	return append(out, '}')
}

// stepText decodes an AssistantMessage.
func (s *State) stepText(b []byte, part session.Part) session.Part {
	t, ok := part.(*session.Text)
	if !ok {
		t = &session.Text{}
	}
	c, m := codecs().text, s.reused.text.Decode(b) // span takes its times
	if m.Text != nil {
		t.Text = s.text(m.Text, "text", &t.Extras)
	}
	t.Extras = append(t.Extras, s.keep(c.Message, &m.Unknown)...)
	return t
}

// stepThinking decodes a ThinkingMessage.
func (s *State) stepThinking(b []byte, part session.Part) session.Part {
	t, ok := part.(*session.Thinking)
	if !ok {
		t = &session.Thinking{}
	}
	c := codecs().thinking
	m := c.Decode(b)
	if m.Text != nil {
		t.Text = s.text(m.Text, "text", &t.Extras)
	}
	t.Millis, t.Start, t.End = int64(m.Millis), stored(m.Started), stored(m.Completed)
	t.Extras = append(t.Extras, s.keep(c.Message, &m.Unknown)...)
	return t
}

// stepCall decodes a ToolCall without its result.
func (s *State) stepCall(ctx context.Context, l *stepLine, b []byte, part session.Part) (session.Part, error) {
	t, ok := part.(*session.ToolCall)
	if !ok {
		t = &session.ToolCall{}
	}
	outer := s.parseCall(b)
	c, err := s.whole(ctx, &outer)
	if err != nil {
		return nil, err
	}
	s.ledger.took(c.seen)
	t.ID, t.Kind = string(s.names.get(l.call)), kindName(c)
	if t.Name == "" {
		t.Name = t.Kind
	}
	t.Start, t.End = stored(uint64(l.start)), stored(uint64(l.end))
	t.Child = s.started[t.ID]
	args, _ := c.schemas()
	switch {
	case args != nil:
		t.Args = s.spell(args, c.args)
	case len(c.args) > 0:
		t.Args = rawField("args", c.args)
	}
	for h := range c.hooks.All() {
		in := s.hook(h)
		t.Extras = append(t.Extras, session.Extra{Name: "hookAdditionalContext", Raw: append(append([]byte(`{"content":`), quoted(in.Text)...), '}')})
		t.Extras = append(t.Extras, in.Extras...)
	}
	if c.kind != nil {
		t.Extras = append(t.Extras, s.leftover(c.kind.Message, c.bodyRest)...)
	} else if len(c.bodyRest) > 0 {
		t.Extras = append(t.Extras, session.Extra{Name: "body", Raw: rawBytes(c.num, c.bodyRest)})
	}
	t.Extras = append(t.Extras, s.leftover(codecs().call.Message, c.rest)...)
	return t, nil
}

// kindName returns the client's name for the kind of a call.
func kindName(c *toolCall) string {
	if c.kind == nil {
		return "tool-" + number(c.num)
	}
	name := c.kind.Name
	return name[:len(name)-len("ToolCall")]
}

// schemas returns the messages of a call's arguments and result; nil if the table does not
// have them.
func (c *toolCall) schemas() (args, result *wire.Message) {
	if c.kind == nil || c.kind.Message == nil || c.short {
		return nil, nil
	}
	if f := c.kind.Message.Named("args"); f != nil {
		args = f.Message
	}
	if f := c.kind.Message.Named("result"); f != nil {
		result = f.Message
	}
	return args, result
}

// rawField returns the arguments or the result of a call of unknown kind.
func rawField(name string, b []byte) session.Raw {
	return rawBytes(codecs().body.Message.Named(name).Num, b)
}

// rawBytes returns a field whose message is unknown.
func rawBytes(num int, b []byte) session.Raw {
	return wire.AppendField(nil, &wire.Reader{Num: num, Type: wire.Bytes, Body: b})
}

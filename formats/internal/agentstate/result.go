package agentstate

import (
	"context"

	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/wire"
	"rehome/formats/session"
)

// stepResult adds what a call's step says to its result.
func (s *State) stepResult(ctx context.Context, i int32, t *session.ToolResult, m *session.Message) error {
	l := &s.steps[i]
	b, err := s.stepBytes(ctx, i)
	if b == nil || err != nil {
		return err
	}
	t.Call = string(s.names.get(l.call))
	m.At = stored(uint64(l.end))
	if !s.within() {
		m.Origin = append(m.Origin, s.origin(l.id)...)
	} else if len(m.Origin) == 0 {
		m.Origin = s.origin(s.root.id)
	}
	outer := s.parseCall(s.decodeStep(b).Call)
	c, err := s.whole(ctx, &outer)
	if err != nil || !c.hasResult {
		return err
	}
	_, schema := c.schemas()
	if schema == nil {
		t.Value = rawField("result", c.result)
		return nil
	}
	t.Status = status(schema, c.result)
	t.Error = t.Error || toolmap.Failed(t.Status) || saysError(schema, c.result)
	s.refs = s.refs[:0]
	t.Value = s.spell(schema, c.result)
	return s.resultBlobs(ctx, t)
}

// status returns the case of a result: the last field of its oneof.
func status(m *wire.Message, b []byte) (name string) {
	for r := wire.Read(b); r.Next(); {
		if f := m.Field(r.Num); f != nil && f.OneOf != "" {
			name = f.Name
		}
	}
	return name
}

// saysError reports a result in which the call succeeded and the tool behind it, as with
// MCP, failed.
func saysError(m *wire.Message, b []byte) bool {
	f := m.Named("success")
	if f == nil || f.Message == nil || f.Message.Named("isError") == nil {
		return false
	}
	said := false
	for r := wire.Read(b); r.Next(); {
		if !r.Is(f.Num, wire.Bytes) {
			continue
		}
		for in := wire.Read(r.Body); in.Next(); {
			if in.Is(f.Message.Named("isError").Num, wire.Varint) {
				said = in.Uint != 0
			}
		}
	}
	return said
}

// resultBlobs reads what a result keeps in blobs of its own. It is what the model was
// shown, if no prompt message says so.
func (s *State) resultBlobs(ctx context.Context, t *session.ToolResult) error {
	for _, r := range append([]ref(nil), s.refs...) {
		b, err := s.read(ctx, r.id, "tool output")
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		s.ledger.mark(r.id, claimed)
		switch {
		case len(t.Content) > 0:
			t.Extras = append(t.Extras, session.Extra{Name: r.name, Raw: carry(r.id, b)})
		case r.name == "contentBlobId":
			text := &session.Text{}
			text.Text = s.text(b, r.name, &text.Extras)
			t.Content = append(t.Content, text)
		default:
			t.Content = append(t.Content, &session.Media{Data: append([]byte{}, b...)})
		}
	}
	return nil
}

// shellMessage returns the message with the output of a shell command of the user.
func (s *State) shellMessage(ctx context.Context, p *planned) (*session.Message, error) {
	t := &s.turns[p.turn]
	b, err := s.read(ctx, t.output, "shell command output")
	if b == nil || err != nil {
		return nil, err
	}
	s.ledger.mark(t.output, claimed)
	result := &session.ToolResult{Status: "success"}
	if codecs().output.Decode(b).ExitCode != 0 {
		result.Status, result.Error = "failure", true
	}
	result.Value = s.spell(codecs().output.Message, b)
	return &session.Message{Role: session.Tool, Parts: []session.Part{result}, Origin: s.origin(t.output)}, nil
}

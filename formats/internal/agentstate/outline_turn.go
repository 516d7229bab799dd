package agentstate

import (
	"bytes"
	"context"

	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// outlineTurn reads a turn and its steps.
func (s *State) outlineTurn(ctx context.Context, id ID) error {
	t := turnLine{id: id, line: -1, region: -1, firstAnchor: -1, lastAnchor: -1, from: int32(len(s.steps))}
	b, err := s.read(ctx, id, "turn")
	if err != nil {
		return err
	}
	var steps []ID
	if b == nil {
		t.spoiled = true
	} else {
		s.ledger.mark(id, claimed)
		steps = s.parseTurn(&t, b, nil)
	}
	s.turns = append(s.turns, t)
	last := &s.turns[len(s.turns)-1]
	if err := s.outlineAsker(ctx, last); err != nil {
		return err
	}
	for _, step := range steps {
		if err := s.outlineStep(ctx, step); err != nil {
			return err
		}
	}
	last.to = int32(len(s.steps))
	return nil
}

// parseTurn decodes a ConversationTurnStructure. Fields that no struct holds are added to
// extras; if that is nil, nothing is counted either.
func (s *State) parseTurn(t *turnLine, b []byte, extras *[]session.Extra) (steps []ID) {
	keep := func(m *wire.Message, u *wire.Unknown) {
		if extras != nil {
			*extras = append(*extras, s.keep(m, u)...)
		}
	}
	c := codecs()
	outer := s.reused.turn.Decode(b)
	if outer.Agent != nil {
		m := s.reused.agent.Decode(outer.Agent)
		t.user, steps = m.User, m.Steps
		t.request = s.text(m.Request, "requestId", new([]session.Extra))
		t.model = s.text(m.Model, "routedModelDisplayName", new([]session.Extra))
		keep(c.agent.Message, &m.Unknown)
	}
	if outer.Shell != nil {
		m := c.shell.Decode(outer.Shell)
		t.shell, t.output = true, m.Output
		if m.Command != (ID{}) {
			t.user = m.Command
		}
		keep(c.shell.Message, &m.Unknown)
	}
	if keep(c.turn.Message, &outer.Unknown); extras == nil && outer.Cut > 0 {
		s.note(loss.TurnCut)
	}
	return steps
}

// outlineAsker reads the message that a turn begins with.
func (s *State) outlineAsker(ctx context.Context, t *turnLine) error {
	if t.user == (ID{}) {
		return nil
	}
	what := "user message"
	if t.shell {
		what = "shell command"
	}
	b, err := s.read(ctx, t.user, what)
	if b == nil || err != nil {
		return err
	}
	s.ledger.mark(t.user, claimed)
	var blob ID
	var text []byte
	if t.shell {
		text = codecs().command.Decode(b).Text
	} else {
		m := s.reused.user.Decode(b)
		text, blob, t.start = m.Text, m.TextBlob, stored(m.Started)
		t.message = string(bytes.ToValidUTF8(m.ID, []byte("\uFFFD")))
	}
	if len(text) == 0 && blob != (ID{}) {
		if text, err = s.read(ctx, blob, "user text"); err != nil {
			return err
		}
		s.ledger.mark(blob, claimed)
	}
	t.text = s.hash(text)
	t.prompt = clip(text)
	return nil
}

// clip returns the beginning of a text, cut between characters.
func clip(text []byte) string {
	if len(text) > promptBytes {
		n := promptBytes
		for n > promptBytes-4 && text[n]&0xc0 == 0x80 {
			n--
		}
		text = text[:n]
	}
	return string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
}

// outlineStep reads a step.
func (s *State) outlineStep(ctx context.Context, id ID) error {
	b, err := s.read(ctx, id, "step")
	if b == nil || err != nil {
		return err
	}
	s.ledger.mark(id, claimed)
	return s.outlineStepBytes(ctx, id, b)
}

func (s *State) outlineStepBytes(ctx context.Context, id ID, b []byte) error {
	l := newStep{stepLine: stepLine{id: id}}
	m := s.decodeStep(b)
	switch {
	case m.Text != nil:
		text := s.reused.text.Decode(m.Text)
		l.kind, l.start, l.end, l.key = textPart, int64(text.Started), int64(text.Completed), s.hash(text.Text)
	case m.Call != nil:
		l.kind = callPart
		if err := s.outlineCall(ctx, &l, m.Call); err != nil {
			return err
		}
	case m.Thinking != nil:
		text := codecs().thinking.Decode(m.Thinking)
		l.kind, l.start, l.end, l.key = thinkingPart, int64(text.Started), int64(text.Completed), s.hash(text.Text)
	}
	if m.Cut > 0 && !s.within() {
		s.note(loss.StepCut)
	}
	s.steps, s.keys = append(s.steps, l.stepLine), append(s.keys, l.key)
	return nil
}

// decodeStep decodes a step. It is one message: of several the first counts, and the
// others stay unknown. The result is valid until the next step is decoded.
func (s *State) decodeStep(b []byte) *step {
	c, m := codecs().step, s.reused.step.Decode(b)
	if m.Text != nil && m.Call != nil {
		c.Release(m, "toolCall")
	}
	if m.Thinking != nil && (m.Text != nil || m.Call != nil) {
		c.Release(m, "thinkingMessage")
	}
	return m
}

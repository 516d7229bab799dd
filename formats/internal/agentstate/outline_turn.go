package agentstate

import (
	"bytes"
	"context"

	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// outlineTurn reads one turn and its steps.
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

// parseTurn reads a ConversationTurnStructure. What it does not claim goes to
// extras, where that is wanted; else it counts nothing.
func (s *State) parseTurn(t *turnLine, b []byte, extras *[]session.Extra) (steps []ID) {
	outer := wire.Read(b)
	var rest []byte
	seen := int64(0)
	for outer.Next() {
		switch {
		case outer.Is(1, wire.Bytes):
			inner, ids := s.agentTurn(t, outer.Body, extras)
			steps = append(steps, ids...)
			seen += inner
		case outer.Is(2, wire.Bytes):
			t.shell = true
			seen += s.shellTurn(t, outer.Body, extras)
		default:
			rest = append(rest, outer.Raw...)
		}
	}
	if rest = append(rest, outer.Rest()...); extras != nil {
		s.ledger.took(seen)
		*extras = append(*extras, s.leftover("ConversationTurnStructure", rest)...)
	} else if len(outer.Rest()) > 0 {
		s.note(loss.TurnCut)
	}
	return steps
}

func (s *State) agentTurn(t *turnLine, b []byte, extras *[]session.Extra) (seen int64, steps []ID) {
	var rest []byte
	r := wire.Read(b)
	for seen = 1; r.Next(); {
		id, isID := asID(r.Body)
		switch {
		case isID && r.Is(1, wire.Bytes):
			t.user, t.hasUser = id, true
		case isID && r.Is(2, wire.Bytes):
			steps = append(steps, id)
		case r.Is(3, wire.Bytes):
			t.request = s.text(r.Body, "requestId", new([]session.Extra))
		case r.Is(7, wire.Bytes):
			t.model = s.text(r.Body, "routedModelDisplayName", new([]session.Extra))
		default:
			rest = append(rest, r.Raw...)
			continue
		}
		seen++
	}
	if extras != nil {
		*extras = append(*extras, s.leftover("AgentConversationTurnStructure", append(rest, r.Rest()...))...)
	}
	return seen, steps
}

func (s *State) shellTurn(t *turnLine, b []byte, extras *[]session.Extra) (seen int64) {
	var rest []byte
	r := wire.Read(b)
	for seen = 1; r.Next(); {
		id, isID := asID(r.Body)
		switch {
		case isID && r.Is(1, wire.Bytes):
			t.user, t.hasUser = id, true
		case isID && r.Is(2, wire.Bytes):
			t.output, t.hasOutput = id, true
		default:
			rest = append(rest, r.Raw...)
			continue
		}
		seen++
	}
	if extras != nil {
		*extras = append(*extras, s.leftover("ShellConversationTurnStructure", append(rest, r.Rest()...))...)
	}
	return seen
}

// outlineAsker reads who began a turn with what.
func (s *State) outlineAsker(ctx context.Context, t *turnLine) error {
	if !t.hasUser {
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
	text := []byte(nil)
	for r := wire.Read(b); r.Next(); {
		switch {
		case r.Is(1, wire.Bytes):
			text = r.Body
		case t.shell:
		case r.Is(2, wire.Bytes):
			t.message = string(bytes.ToValidUTF8(r.Body, []byte("\uFFFD")))
		case r.Is(18, wire.Bytes):
			blob, _ = asID(r.Body)
		case r.Is(25, wire.Varint):
			t.start = stored(r.Uint)
		}
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

// clip is the beginning of a text, on the border of a character.
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

// outlineStep reads one step.
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
	r := wire.Read(b)
	for r.Next() {
		if r.Type != wire.Bytes {
			continue
		}
		switch r.Num {
		case 1:
			l.kind = textPart
			l.outlineTimes(r.Body, 2, 3)
			l.key = s.hash(first(r.Body))
		case 2:
			l.kind = callPart
			if err := s.outlineCall(ctx, &l, r.Body); err != nil {
				return err
			}
		case 3:
			l.kind = thinkingPart
			l.outlineTimes(r.Body, 3, 4)
			l.key = s.hash(first(r.Body))
		}
	}
	if len(r.Rest()) > 0 && !s.within() {
		s.note(loss.StepCut)
	}
	s.steps, s.keys = append(s.steps, l.stepLine), append(s.keys, l.key)
	return nil
}

// first is the text that the first field of a message holds.
func first(b []byte) (text []byte) {
	for r := wire.Read(b); r.Next(); {
		if r.Is(1, wire.Bytes) {
			text = r.Body
		}
	}
	return text
}

func (l *stepLine) outlineTimes(b []byte, start, end int) {
	for r := wire.Read(b); r.Next(); {
		switch {
		case r.Is(start, wire.Varint):
			l.start = int64(r.Uint)
		case r.Is(end, wire.Varint):
			l.end = int64(r.Uint)
		}
	}
}

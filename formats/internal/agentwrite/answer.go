package agentwrite

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/cursortools"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// answer writes a message of the assistant: as one prompt message, and as steps.
func (c *Conversation) answer(ctx context.Context, m *session.Message, parts []session.Part) error {
	p := c.newPrompt(session.Assistant)
	p.text("id", "1") // as the client does for each
	var cursor []byte
	if m.Model != "" {
		cursor = member(nil, "modelName", c.clean(m.Model))
	}
	waits := c.own && slices.ContainsFunc(parts, calls) && !slices.ContainsFunc(parts, measured)
	if waits { // else the first blob that is stored does it, if there is any
		if err := c.release(ctx); err != nil {
			return err
		}
	}
	c.keeps = waits
	timed, steps := span{m: m, steps: c.turn != nil && !c.turn.shell}, 0
	if timed.steps {
		steps = len(c.turn.Steps)
	}
	var made []*call
	for _, part := range parts {
		var err error
		switch part := part.(type) {
		case *session.Text:
			err = c.said(ctx, p, part, &timed)
		case *session.Thinking:
			err = c.thought(ctx, p, part, cursor, &timed)
		case *session.ToolCall:
			k := c.call(p, part, cursor)
			if made = append(made, k); c.streams() {
				c.o.Runs.Call(k.id, &k.spelled, known(part.Start, m.At))
			}
			timed.add(part.Start, part.End)
		case *session.Media:
			c.extras(part.Extras)
			p.media(part, false)
		case *session.Opaque:
			c.note(loss.PartOpaque)
		default:
			c.userPart(p, part)
		}
		if err != nil {
			return err
		}
	}
	if p.parts == 0 {
		if len(parts) == 0 {
			c.note(loss.MessageEmpty)
		}
		return nil
	}
	c.begun = true
	if c.turn != nil && c.turn.shell && len(made) == 0 {
		c.note(loss.MessageReordered)
	}
	c.group, c.last = nil, nil
	if waits {
		c.last = &unanswered{doc: c.waiting(m, *p, cursor), at: len(c.prompts), steps: steps, calls: made}
	}
	err := c.put(ctx, p, cursor, times(nil, m, timed.at, timed.end))
	c.loose = c.loose && c.turn == nil
	c.reserve(made)
	c.keeps = false
	if err != nil {
		return err
	}
	return c.settle(ctx, maxHeld)
}

// unanswered is an answer that the session may end with: its calls have no results yet.
type unanswered struct {
	doc   []byte
	at    int // in prompts
	steps int // of the turn before it
	calls []*call
}

// calls reports whether a part is a call.
func calls(p session.Part) bool { _, ok := p.(*session.ToolCall); return ok }

// measured reports whether a part is reasoning whose time is known, which only a step states.
func measured(p session.Part) bool {
	t, ok := p.(*session.Thinking)
	return ok && (t.Millis != 0 || t.Start.Known() || t.End.Known())
}

// waiting returns the prompt message of such an answer, whose times no step states.
func (c *Conversation) waiting(m *session.Message, p prompt, cursor []byte) []byte {
	p.b = bytes.Clone(p.b)
	p.close(c.given.with(cursor), times(nil, m, session.Stamp{}, session.Stamp{}))
	return p.b
}

// suspend makes the last answer one that waits for its results, if the client had it as
// such: it is in the root itself, and in no turn, and nothing else of it is stored. If it
// were in its turn, too, it would be read from there: without its model and the input of
// its calls, which no step states.
func (c *Conversation) suspend() {
	u := c.last
	c.last = nil
	if u == nil || u.at+1+len(u.calls) != len(c.prompts) {
		return
	}
	for _, k := range u.calls {
		if k.done || len(k.Args) > 0 || k.Start.Known() || k.End.Known() {
			return
		}
	}
	for _, k := range u.calls {
		if len(k.Extras) > 0 { // which are in its step
			c.noteAt(k.at, loss.PartMetadata)
		}
		k.done = true
		if k.of != nil {
			k.of.open--
		}
	}
	if c.turn != nil && !c.turn.shell {
		c.turn.Steps = c.turn.Steps[:u.steps]
	}
	c.prompts = c.prompts[:u.at]
	c.later = nil
	c.root.Pending(u.doc)
}

// blob is one that is not stored yet.
type blob struct {
	id   agentstate.ID
	data []byte
}

// store stores a blob: those of an answer that may wait for its results when the next one
// shows that it does not.
func (c *Conversation) store(ctx context.Context, id agentstate.ID, data []byte) error {
	if c.keeps {
		c.later = append(c.later, blob{id, bytes.Clone(data)})
		return nil
	}
	if !c.late {
		if err := c.release(ctx); err != nil {
			return err
		}
	}
	return c.o.Put(ctx, id, data)
}

// release stores the blobs of an answer that does not wait.
func (c *Conversation) release(ctx context.Context) error {
	for _, b := range c.later {
		if err := c.o.Put(ctx, b.id, b.data); err != nil {
			return err
		}
	}
	c.later = nil
	return nil
}

// span is the time of an answer as its steps tell it.
type span struct {
	m       *session.Message
	steps   bool // it has some
	at, end session.Stamp
}

func (t *span) add(start, end session.Stamp) {
	if !t.steps {
		return
	}
	if start = exact(start); start.Known() && (!t.at.Known() || start.Millis() < t.at.Millis()) {
		t.at = start
	}
	if end = exact(end); end.Known() && end.Millis() > t.end.Millis() {
		t.end = end
	}
}

// exact returns a time as a step holds it; unknown if it cannot.
func exact(at session.Stamp) session.Stamp {
	if !at.Known() || at.Inferred() || at.Millis() <= 0 || at.Millis() > 1<<53 {
		return session.Stamp{}
	}
	return at
}

// said writes a text. One that is blank is no step: nothing could tell it from others.
func (c *Conversation) said(ctx context.Context, p *prompt, t *session.Text, timed *span) error {
	var o provided
	fields, rest := c.fields("AssistantMessage", c.provide(&o, t.Extras), "text", "startedAtMs", "completedAtMs")
	text := c.clean(t.Text)
	p.textPart(text, o, nil)
	if strings.TrimSpace(text) == "" {
		c.extras(append(rest, extrasOf(fields)...))
		return nil
	}
	outer, rest := c.fields("ConversationStep", rest)
	c.extras(rest)
	timed.add(timed.m.At, timed.m.End)
	if c.streams() {
		c.o.Runs.Text(text, timed.m.At)
	}
	return c.step(ctx, agentstate.TextStep(text, exact(timed.m.At), exact(timed.m.End), fields, outer))
}

// thought writes reasoning. A signature is of use only to the client that has it.
func (c *Conversation) thought(ctx context.Context, p *prompt, t *session.Thinking, cursor []byte, timed *span) error {
	var o provided
	fields, rest := c.fields("ThinkingMessage", c.provide(&o, t.Extras), "text", "durationMs", "startedAtMs", "completedAtMs")
	outer, rest := c.fields("ConversationStep", rest)
	c.extras(rest)
	one := *t
	if !c.own {
		switch {
		case t.Redacted:
			c.note(loss.ThinkingRedacted)
			return nil
		case strings.TrimSpace(t.Text) == "":
			c.note(loss.ThinkingHidden)
			return nil
		case c.o.DropThinking:
			c.note(loss.ThinkingUnsigned)
			return nil
		case t.Signature != "":
			c.note(loss.SignatureDropped)
			one.Signature = ""
		}
	}
	one.Text = c.clean(one.Text)
	kind := "reasoning"
	if t.Redacted {
		kind = "redacted-reasoning"
	}
	p.part(kind)
	if !t.Redacted || one.Text != "" {
		p.text("text", one.Text)
	}
	if t.Data != "" {
		p.text("data", t.Data)
	}
	if one.Signature != "" {
		p.text("signature", one.Signature)
	}
	p.options(o.with(cursor), nil)
	p.end()
	if t.Redacted || strings.TrimSpace(one.Text) == "" {
		if len(fields)+len(outer) > 0 || t.Millis != 0 || t.Start.Known() || t.End.Known() {
			c.note(loss.PartMetadata)
		}
		return nil
	}
	if one.Millis < 0 || one.Millis > 1<<32-1 || t.Start != exact(t.Start) || t.End != exact(t.End) {
		c.note(loss.PartMetadata)
		one.Millis = max(0, min(one.Millis, 1<<32-1))
	}
	timed.add(one.Start, one.End)
	if c.streams() {
		c.o.Runs.Thinking(&one, known(one.Start, timed.m.At))
	}
	return c.step(ctx, agentstate.ThinkingStep(&one, fields, outer))
}

// streams reports whether the runs are told what the current turn holds.
func (c *Conversation) streams() bool { return c.o.Runs != nil && c.turn != nil && !c.turn.shell }

// known returns the first time that is known.
func known(a, b session.Stamp) session.Stamp {
	if a.Known() {
		return a
	}
	return b
}

// step adds a step to the current turn. Before the first prompt there is none.
func (c *Conversation) step(ctx context.Context, data []byte) error {
	if c.turn == nil || c.turn.shell {
		return nil
	}
	id, err := c.b.Blob(ctx, data)
	c.turn.Steps = append(c.turn.Steps, id)
	return err
}

// call writes a call as part of a prompt message, and reserves its step.
func (c *Conversation) call(p *prompt, t *session.ToolCall, cursor []byte) *call {
	k := &call{ToolCall: *t, of: c.turn, id: c.callID(t.ID), at: c.at}
	k.Input, k.Args, k.Extras = bytes.Clone(t.Input), bytes.Clone(t.Args), nil
	var o provided
	k.Extras = c.provide(&o, t.Extras)
	for i := range k.Extras { // they wait for the result, and belong to the message
		k.Extras[i].Raw = bytes.Clone(k.Extras[i].Raw)
	}
	k.spelled = cursortools.Begin(c.s.Agent, &k.ToolCall)
	if k.Child != "" {
		c.started[k.Child] = c.at
	}
	p.part("tool-call")
	p.text("toolCallId", k.id)
	p.text("toolName", k.spelled.Name)
	input, mark := k.spelled.Input, []byte(nil)
	if len(input) == 0 { // the model's own are not known
		if mark = flag(nil, "unstated"); len(k.Args) > 0 {
			input = k.Args
		}
	}
	switch {
	case len(input) == 0:
		input = session.Raw("{}")
	case input[0] != '{':
		c.note(loss.ArgumentsRepaired)
		input, mark = append(append(session.Raw(`{"input":`), input...), '}'), flag(mark, "wrapped")
	}
	p.raw("args", input)
	p.options(o.with(cursor), mark)
	p.end()
	if k.of != nil && k.of.shell {
		k.of = nil
	}
	if k.of != nil {
		k.step = len(k.of.Steps)
		k.of.Steps = append(k.of.Steps, agentstate.ID{})
		k.of.open++
	}
	return k
}

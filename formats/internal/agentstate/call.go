package agentstate

import (
	"bytes"
	"context"

	"rehome/formats/internal/wire"
	"rehome/formats/loss"
)

// maxTruncated is how many truncated calls may refer to one another.
const maxTruncated = 4

// toolCall is a ToolCall taken apart into its kind and its pieces.
type toolCall struct {
	kind         *wire.Field // of ToolCall; nil for one that the table does not know
	num          int         // its number; 0 if there is none
	body         []byte      // the message of the kind
	raw          []byte      // with its tag
	args, result []byte
	hasResult    bool
	short        bool // truncated: another step holds the call
	id           []byte
	start, end   uint64
	hooks        wire.List
	rest         []byte // unknown fields of ToolCall
	bodyRest     []byte // and of the kind's message
	seen         int64
}

// parseCall decodes a ToolCall, without what is nested in its arguments and its result.
func (s *State) parseCall(b []byte) toolCall {
	m := s.reused.call.Decode(b)
	c := toolCall{id: m.ID, start: m.Started, end: m.Completed, hooks: m.Hooks, seen: int64(m.Fields)}
	r := wire.Read(m.Raw)
	for r.Next() {
		f := codecs().call.Message.Field(r.Num)
		if r.Type == wire.Bytes && (f == nil || f.OneOf != "") && c.takes(f, &r) {
			c.rest = append(c.rest, c.raw...) // the last one counts
			c.num, c.kind, c.body, c.raw = r.Num, f, r.Body, r.Raw
			c.seen++
		} else {
			c.rest = append(c.rest, r.Raw...)
		}
	}
	c.rest = append(c.rest, r.Rest()...)
	s.openCall(&c)
	if len(c.id) == 0 {
		c.id = c.innerID()
	}
	return c
}

// takes decides which of several fields is the kind: one that the table knows before any
// other, and of the unknown ones the first that looks like a call.
func (c *toolCall) takes(f *wire.Field, r *wire.Reader) bool {
	if f != nil || c.num == 0 {
		return true
	}
	return c.kind == nil && !callShape(c.body) && callShape(r.Body)
}

// callShape reports whether bytes can be a call: they hold arguments and a result.
func callShape(b []byte) bool {
	r := wire.Read(b)
	for r.Next() {
		if r.Type == wire.Bytes && r.Num <= 2 {
			continue
		}
		if r.Num > 32 {
			return false
		}
	}
	return len(r.Rest()) == 0
}

// openCall decodes the message of the kind. In a truncated call, the id of another step
// stands where others have their arguments.
func (s *State) openCall(c *toolCall) {
	if c.short = c.kind != nil && c.kind == codecs().truncatedKind; c.short {
		c.bodyRest = bytes.Clone(c.body) // outlives the read of that step
		return
	}
	m := s.reused.body.Decode(c.body)
	c.args, c.result, c.hasResult, c.bodyRest = m.Args, m.Result, m.Result != nil, m.Raw
	c.seen += int64(m.Fields)
}

// innerID returns the id of a call that only its arguments state.
func (c *toolCall) innerID() []byte {
	if c.kind == nil || c.kind.Message == nil {
		return nil
	}
	args := c.kind.Message.Named("args")
	if args == nil || args.Message == nil {
		return nil
	}
	f := args.Message.Named("toolCallId")
	if f == nil {
		return nil
	}
	for r := wire.Read(c.args); r.Next(); {
		if r.Is(f.Num, wire.Bytes) {
			return r.Body
		}
	}
	return nil
}

// task is a call that started a subagent.
type task struct {
	call, agent, kind, model, title string
	step                            ID
	inline                          bool
	ordinal                         int
	steps                           int
}

// outlineCall outlines a call; a truncated one by the step that holds it in full.
func (s *State) outlineCall(ctx context.Context, l *newStep, b []byte) error {
	c := s.parseCall(b)
	id := bytes.Clone(c.id)
	inner, err := s.whole(ctx, &c)
	if err != nil {
		return err
	}
	if len(id) == 0 {
		id = bytes.Clone(inner.id)
	}
	l.start, l.end, l.result = int64(c.start), int64(c.end), inner.hasResult || c.hasResult
	if l.start == 0 {
		l.start, l.end = int64(inner.start), int64(inner.end)
	}
	if id = bytes.ToValidUTF8(id, []byte("\uFFFD")); len(id) == 0 {
		id = []byte(s.nameless(l))
	}
	l.key = s.hash(id)
	l.call = s.names.add(id, l.key)
	if inner.kind == codecs().taskKind {
		s.outlineTask(l, inner)
	}
	return nil
}

// nameless returns an id for a call that has none.
func (s *State) nameless(l *newStep) string {
	return "step-" + l.id.Short() + "-" + number(len(s.steps)+1)
}

// whole follows a truncated call to the step that holds it in full. The result is valid
// until the next read.
func (s *State) whole(ctx context.Context, c *toolCall) (*toolCall, error) {
	for range maxTruncated {
		if !c.short {
			return c, nil
		}
		id := codecs().truncated.Decode(c.body).Step
		if id == (ID{}) {
			return c, nil
		}
		b, err := s.read(ctx, id, "full step of a shortened call")
		if b == nil || err != nil {
			return c, err
		}
		s.ledger.mark(id, claimed)
		full := codecs().step.Decode(b)
		if full.Call == nil {
			s.spoiled(loss.StepNotCall)
			return c, nil
		}
		next := s.parseCall(full.Call)
		next.rest = append(next.rest, c.rest...)
		c = &next
	}
	return c, nil
}

// outlineTask records a call that started a subagent, and how many of its steps the call
// kept.
func (s *State) outlineTask(l *newStep, c *toolCall) {
	t := task{call: string(s.names.get(l.call)), step: l.id, inline: s.within(), ordinal: len(s.steps)}
	args, success := codecs().task.Decode(c.args), successOf(c)
	t.title, t.model, t.agent = clip(args.Title), clip(args.Model), clip(args.Child)
	t.kind, _ = subagentKind(args.Type)
	if success.Child != nil {
		t.agent = clip(success.Child)
	}
	for range success.Steps.All() {
		t.steps++
	}
	s.tasks = append(s.tasks, t)
}

// successOf returns the result of a call that started a subagent, if it is a success.
func successOf(c *toolCall) *taskSuccess {
	return codecs().success.Decode(codecs().taskCases.Decode(c.result).Body)
}

package agentstate

import (
	"bytes"
	"context"

	"rehome/formats/internal/wire"
	"rehome/formats/loss"
)

// Numbers of ToolCall beside those of the kinds.
const (
	callHooks     = 54
	callID        = 57
	callStarted   = 59
	callCompleted = 60

	kindTask      = 19
	kindTruncated = 34

	maxTruncated = 4 // steps that stand for steps
)

// toolCall is a ToolCall taken apart: which kind it is, and its pieces.
type toolCall struct {
	kind         *wire.Field // of ToolCall; nil for one that the table does not know
	num          int         // its number; 0 if there is none
	body         []byte      // the XToolCall
	raw          []byte      // with its tag
	args, result []byte
	hasResult    bool
	id           []byte
	start, end   uint64
	hooks        [][]byte
	rest         []byte // what is left, of ToolCall
	bodyRest     []byte // and of XToolCall
	seen         int64
}

// parseCall reads a ToolCall without spelling any of it.
func parseCall(b []byte) toolCall {
	var c toolCall
	m := wire.Messages().Message("ToolCall")
	r := wire.Read(b)
	for r.Next() {
		switch {
		case r.Is(callID, wire.Bytes):
			c.id = r.Body
		case r.Is(callStarted, wire.Varint):
			c.start = r.Uint
		case r.Is(callCompleted, wire.Varint):
			c.end = r.Uint
		case r.Is(callHooks, wire.Bytes):
			c.hooks = append(c.hooks, r.Body)
		case r.Type == wire.Bytes && (m.Field(r.Num) == nil || m.Field(r.Num).OneOf != "") && c.takes(m, &r):
			c.rest = append(c.rest, c.raw...) // of several the last counts
			c.num, c.kind, c.body, c.raw = r.Num, m.Field(r.Num), r.Body, r.Raw
		default:
			c.rest = append(c.rest, r.Raw...)
			continue
		}
		c.seen++
	}
	c.rest = append(c.rest, r.Rest()...)
	c.open()
	if len(c.id) == 0 {
		c.id = c.innerID()
	}
	return c
}

// takes decides between several fields that could be the kind: one that the
// table knows counts before any other, and of those the first that looks like a
// call.
func (c *toolCall) takes(m *wire.Message, r *wire.Reader) bool {
	if m.Field(r.Num) != nil || c.num == 0 {
		return true
	}
	return c.kind == nil && !callShape(c.body) && callShape(r.Body)
}

// callShape reports whether bytes can be a call: arguments, a result.
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

// open takes the XToolCall apart: args are its field 1, the result its field 2.
func (c *toolCall) open() {
	var args, result joint
	r := wire.Read(c.body)
	for r.Next() {
		switch {
		case r.Is(1, wire.Bytes) && (c.kind == nil || c.num != kindTruncated):
			args.add(r.Body)
		case r.Is(2, wire.Bytes) && c.num != kindTruncated:
			result.add(r.Body)
			c.hasResult = true
		default:
			c.bodyRest = append(c.bodyRest, r.Raw...)
			continue
		}
		c.seen++
	}
	c.args, c.result = args.bytes, result.bytes
	if len(r.Rest()) > 0 {
		c.bodyRest = append(c.bodyRest, r.Rest()...)
	}
}

// joint is what a message says that is stated several times. Stated once it is
// a view of where it stands.
type joint struct {
	bytes []byte
	own   bool
}

func (j *joint) add(b []byte) {
	switch {
	case len(j.bytes) == 0:
		j.bytes = b
	case j.own:
		j.bytes = append(j.bytes, b...)
	default:
		j.bytes, j.own = append(j.bytes[:len(j.bytes):len(j.bytes)], b...), true
	}
}

// innerID is the call's id where only its arguments state it.
func (c *toolCall) innerID() []byte {
	if c.kind == nil || c.kind.Message == nil {
		return nil
	}
	args := c.kind.Message.Field(1)
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

// outlineCall outlines a call; one that was truncated by the step it stands
// for.
func (s *State) outlineCall(ctx context.Context, l *newStep, b []byte) error {
	c := parseCall(b)
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
	if inner.num == kindTask {
		s.outlineTask(l, inner)
	}
	return nil
}

// nameless makes up an id for a call that has none.
func (s *State) nameless(l *newStep) string {
	return "step-" + l.id.short() + "-" + number(len(s.steps)+1)
}

// whole follows a truncated call to the step that has all of it. The bytes are
// valid until the next read.
func (s *State) whole(ctx context.Context, c *toolCall) (*toolCall, error) {
	for range maxTruncated {
		if c.num != kindTruncated {
			return c, nil
		}
		id, ok := asID(first(c.body))
		if !ok {
			return c, nil
		}
		b, err := s.read(ctx, id, "full step of a shortened call")
		if b == nil || err != nil {
			return c, err
		}
		s.ledger.mark(id, claimed)
		found := false
		for r := wire.Read(b); r.Next(); {
			if r.Is(2, wire.Bytes) {
				next := parseCall(r.Body)
				next.rest = append(next.rest, c.rest...)
				c, found = &next, true
				break
			}
		}
		if !found {
			s.spoiled(loss.StepNotCall)
			return c, nil
		}
	}
	return c, nil
}

// outlineTask remembers a call that started a subagent, and how many of its
// steps the call kept.
func (s *State) outlineTask(l *newStep, c *toolCall) {
	t := task{call: string(s.names.get(l.call)), step: l.id, inline: s.within(), ordinal: len(s.steps)}
	for r := wire.Read(c.args); r.Next(); {
		switch {
		case r.Is(1, wire.Bytes):
			t.title = clip(r.Body)
		case r.Is(3, wire.Bytes):
			t.kind, _ = subagentKind(r.Body)
		case r.Is(4, wire.Bytes):
			t.model = clip(r.Body)
		case r.Is(6, wire.Bytes) && t.agent == "":
			t.agent = clip(r.Body)
		}
	}
	for r := wire.Read(taskSuccess(c)); r.Next(); {
		switch {
		case r.Is(1, wire.Bytes):
			t.steps++
		case r.Is(2, wire.Bytes):
			t.agent = clip(r.Body)
		}
	}
	s.tasks = append(s.tasks, t)
}

func taskSuccess(c *toolCall) (success []byte) {
	for r := wire.Read(c.result); r.Next(); {
		if r.Is(1, wire.Bytes) {
			success = r.Body
		}
	}
	return success
}

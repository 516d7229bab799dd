package streamjson

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"

	"rehome/formats/internal/members"
	"rehome/formats/session"
)

// call is a tool call that waits for its result.
type call struct {
	line int
	args [sha256.Size]byte
}

var callNames = []string{"type", "subtype", "call_id", "tool_call", "model_call_id", "session_id", "timestamp_ms"}

// step is a tool_call line taken apart.
type step struct {
	id, response string
	tool
	more []session.Extra // of the line itself
}

// step is false for a line that says no more than others did, or nothing that
// can be understood.
func (b *builder) step(e event) (s step, ok bool) {
	var o members.Object
	o.Split(e.raw, "", callNames)
	body := o.Raw(3)
	if len(body) == 0 || body[0] != '{' {
		return s, false
	}
	s.id = string(plain(o.Raw(2)))
	if s.id == "" {
		s.id = innerID(body)
	}
	if s.id == "" {
		s.id = fmt.Sprintf("line-%d", e.line)
	}
	if _, waits := b.open[s.id]; b.done[s.id] || waits && e.kind == called && (b.msg == nil || b.msg.calls[s.id] == nil) {
		return s, false
	}
	b.top(&o, 5, 6)
	o.Text(2)
	s.response = o.Text(4)
	s.tool = b.tool(body, s.id)
	s.more = b.count(&o)
	return s, true
}

// called takes the start of a call.
func (b *builder) called(e event) {
	s, ok := b.step(e)
	if !ok {
		b.opaque(e)
		return
	}
	if b.msg != nil && b.msg.calls[s.id] != nil {
		b.msg.add(e.line)
		b.msg.calls[s.id].Extras = extras(b.msg.calls[s.id].Extras, s.more...)
		fold(b.msg.calls[s.id], &s.tool, b.msg.untimed[s.id])
		return
	}
	b.call(e, s)
	b.open[s.id] = call{e.line, sha256.Sum256(s.args)}
}

// call adds a call to the message of its response.
func (b *builder) call(e event, s step) *session.ToolCall {
	if d := b.msg; d != nil {
		another := s.response != "" && d.response != "" && s.response != d.response
		if another || len(b.held) > 0 && (s.response == "" || s.response != d.response) {
			b.close()
		}
	}
	d := b.assistant(e)
	b.rest(d)
	d.respond(s.response)
	c := &session.ToolCall{ID: s.id, Name: s.name, Kind: s.kind, Input: s.input, Args: s.args, Start: s.start, Child: s.child}
	c.Extras = append(s.more, s.extras...)
	if !c.Start.Known() && e.kind == called {
		c.Start = e.at
	}
	if d.calls == nil {
		d.calls, d.untimed = map[string]*session.ToolCall{}, map[string]bool{}
	}
	d.untimed[s.id] = !s.start.Known()
	d.calls[s.id] = c
	d.Parts = append(d.Parts, c)
	return c
}

// returned takes the end of a call. Some calls have no start.
func (b *builder) returned(e event) {
	s, ok := b.step(e)
	if !ok {
		b.opaque(e)
		return
	}
	wait, waits := b.open[s.id]
	r := &session.ToolResult{Call: s.id, Value: s.result}
	r.Status, r.Error = status(s.result)
	m := &session.Message{Role: session.Tool, At: e.at, Parts: []session.Part{r}, Origin: []string{b.addr(e.line).String()}}
	if !m.At.Known() {
		m.At = s.end
	}
	end := s.end
	if !end.Known() {
		end = e.at
	}
	var c *session.ToolCall
	switch {
	case !waits:
		more := s.more
		s.more = nil
		c = b.call(e, s)
		s.more = more
	case b.msg != nil && b.msg.calls[s.id] != nil:
		c = b.msg.calls[s.id]
		b.msg.add(e.line)
		fold(c, &s.tool, b.msg.untimed[s.id])
	default: // its message is out already
		if len(s.args) > 2 && sha256.Sum256(s.args) != wait.args {
			r.Extras = append(r.Extras, session.Extra{Name: "args", Raw: s.args})
		}
		r.Extras = extras(r.Extras, s.extras...)
	}
	if c != nil {
		c.End = end
	}
	r.Extras = append(r.Extras, s.more...)
	if s.response != "" && (b.msg == nil || c == nil || s.response != b.msg.response) {
		r.Extras = append(r.Extras, session.Extra{Name: "model_call_id", Raw: session.AppendString(nil, s.response)})
	}
	delete(b.open, s.id)
	if b.done == nil {
		b.done = map[string]bool{}
	}
	b.done[s.id] = true
	b.hold(e, m, c != nil)
}

// hold keeps a result until the message with its call is out.
func (b *builder) hold(e event, m *session.Message, wait bool) {
	if !wait {
		if b.turn != nil || len(b.loose) > 0 {
			b.header()
		}
		b.put(m, span{})
		return
	}
	b.held = append(b.held, m)
	if b.heldLen += len(e.raw); b.heldLen > mostHeld {
		b.close()
	}
}

// fold adds what a later line says of a call: the last arguments that are not
// empty count, for the end knows more than the start did. A call is untimed if only the time of
// its line is known.
func fold(c *session.ToolCall, t *tool, untimed bool) {
	c.Args, c.Extras = latest(c.Args, t.args, "args", c.Extras)
	c.Input, c.Extras = latest(c.Input, t.input, "arguments", c.Extras)
	if t.kind != c.Kind || t.name != c.Name {
		c.Extras = extras(c.Extras, session.Extra{Name: "kind", Raw: session.AppendString(nil, t.kind+" "+t.name)})
	}
	if t.start.Known() {
		if c.Start.Known() && !untimed && c.Start != t.start {
			c.Extras = extras(c.Extras, session.Extra{Name: "tool_call.startedAtMs", Raw: strconv.AppendInt(nil, c.Start.Millis(), 10)})
		}
		c.Start = t.start
	}
	if t.child != "" {
		c.Child = t.child
	}
	c.Extras = extras(c.Extras, t.extras...)
}

func latest(have, next session.Raw, name string, list []session.Extra) (session.Raw, []session.Extra) {
	const none = len("{}")
	if len(next) <= none && len(have) > 0 || bytes.Equal(have, next) {
		return have, list
	}
	if len(have) > none {
		list = append(list, session.Extra{Name: name, Raw: have})
	}
	return next, list
}

// opaque carries a line as it is.
func (b *builder) opaque(e event) {
	b.tally.Converted--
	b.tally.CarriedRaw++
	p := b.whole(e)
	switch {
	case b.number == 0 || b.turn != nil: // there is no message it could be in
		b.loose = append(b.loose, p)
		b.looseAt.add(e.line)
		if b.looseN += len(e.raw); b.looseN > mostLoose {
			b.header()
		}
	case b.turns.over:
		if len(b.held) > 0 {
			b.close()
		}
		b.want(session.System)
		b.msg.add(e.line)
		b.msg.size += len(e.raw)
		b.msg.Parts = append(b.msg.Parts, p)
	default:
		if len(b.held) > 0 {
			b.close()
		}
		d := b.assistant(e)
		d.Parts = append(d.Parts, p)
	}
}

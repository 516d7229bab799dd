package sdkwrite

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"rehome/formats/internal/cursortools"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/session"
)

// run is the run of a turn.
type run struct {
	session.Turn
	number int
	start  int64
	model  string // of its last message
	result string // its last text
}

// asked is a call that waits for its result.
type asked struct {
	call *session.ToolCall
	from *run
}

// message writes what the runs and the transcript have of a message, and returns the
// message as the conversation is to have it.
func (a *agent) message(m *session.Message) *session.Message {
	if m.Branch != "" {
		return m
	}
	if m.Turn != nil {
		m = a.turn(m)
	}
	if m.Role == session.User && a.title == "" && !m.Simulated {
		for _, p := range m.Parts {
			if t, ok := p.(*session.Text); ok && a.title == "" {
				a.title = firstLine(t.Text)
			}
		}
	}
	a.copy.begin(m)
	for _, p := range m.Parts {
		a.part(m, p)
	}
	a.copy.end()
	if a.run != nil {
		a.events.tick(m.At)
		a.events.tick(m.End)
		a.run.model = cmp.Or(m.Model, a.run.model)
	}
	return m
}

// turn begins the run of a turn, and returns its message with the request id by which a
// reader finds the turn. A command that the user ran is no run.
func (a *agent) turn(m *session.Message) *session.Message {
	a.endRun("")
	if m.Turn.Kind == "shell" {
		return m
	}
	a.turns++
	r := &run{Turn: *m.Turn, number: a.turns}
	r.ID, r.RequestID = a.ids.run(m.Turn, r.number), a.ids.request(m.Turn, r.number)
	a.run = r
	at := r.Start
	if !inReach(at) {
		at = m.At
	}
	a.events.tick(at)
	if r.start = a.events.now; inReach(r.Start) {
		r.start = r.Start.Millis()
	}
	if a.turns == 1 {
		a.first = r.start
	}
	a.events.run(r.ID)
	a.events.request(r.RequestID, r.Start)
	a.events.status("RUNNING", "", r.Start)
	var prompt strings.Builder
	for _, p := range m.Parts {
		if t, ok := p.(*session.Text); ok && m.Role == session.User {
			prompt.WriteString(t.Text)
		}
	}
	if prompt.Len() > 0 {
		a.events.say("user", prompt.String(), m.At)
	}
	whole, turn := *m, *m.Turn
	turn.RequestID = r.RequestID
	whole.Turn = &turn
	return &whole
}

// part writes the events of a part.
func (a *agent) part(m *session.Message, p session.Part) {
	switch p := p.(type) {
	case *session.Text:
		a.copy.text(p.Text)
		if m.Role == session.Assistant && a.run != nil && p.Text != "" {
			a.events.say("assistant", p.Text, m.At)
			a.run.result = p.Text
		}
	case *session.Thinking:
		if p.Redacted || p.Text == "" || a.build.DropThinking {
			return
		}
		a.copy.thinking(p.Text)
		if a.run != nil {
			at := p.Start
			if !at.Known() {
				at = m.At
			}
			a.events.think(p, at)
		}
	case *session.ToolCall:
		c := cursortools.Spell(a.s.Agent, p, nil)
		a.copy.call(&c)
		if a.run != nil {
			a.call(p, &c, m.At)
		}
	case *session.ToolResult:
		a.result(p, m.At)
	}
}

// call writes that a call began.
func (a *agent) call(p *session.ToolCall, c *cursortools.Call, at session.Stamp) {
	shown, streamed := projections()[c.Kind]
	if !streamed {
		return
	}
	if p.Start.Known() {
		at = p.Start
	}
	a.events.begin("tool_call")
	a.callHead(p.ID, c, "running", &shown)
	a.events.end(at)
	own := *p
	own.Input, own.Args, own.Extras = bytes.Clone(p.Input), bytes.Clone(p.Args), nil
	a.open[p.ID] = &asked{&own, a.run}
}

// callHead writes the members that all events of a call have.
func (a *agent) callHead(id string, c *cursortools.Call, status string, shown *projection) {
	b := appendMember(a.events.buf, "call_id", id)
	b = appendMember(b, "name", c.Kind)
	b = appendMember(b, "status", status)
	if len(shown.args) > 0 && len(c.Args) > 0 {
		b = appendFields(append(b, `,"args":`...), c.Args, shown.args)
	}
	a.events.buf = b
}

// result writes that a call ended. A result that comes in a later turn is not an event of
// that turn's run.
func (a *agent) result(p *session.ToolResult, at session.Stamp) {
	asked := a.open[p.Call]
	delete(a.open, p.Call)
	if asked == nil || asked.from != a.run || a.run == nil {
		return
	}
	c := cursortools.Spell(a.s.Agent, asked.call, p)
	shown, streamed := projections()[c.Kind]
	if !streamed {
		return
	}
	if asked.call.End.Known() {
		at = asked.call.End
	}
	a.events.begin("tool_call")
	a.callHead(p.Call, &c, "completed", &shown)
	if c.Value != nil {
		a.events.buf = appendResult(append(a.events.buf, `,"result":`...), c.Kind, c.Value, shown.result)
	}
	a.events.end(at)
}

// ended is how a run ended. Nothing can be added to an agent with a run that has not.
func (r *run) ended() string {
	switch r.Status {
	case "error", "cancelled", "expired":
		return r.Status
	case "", "finished":
		if r.Error != "" {
			return "error"
		}
		return "finished"
	}
	return "cancelled"
}

// endRun writes the end of the current run, and the run itself.
func (a *agent) endRun(root string) {
	r := a.run
	a.run = nil
	if r == nil {
		return
	}
	clear(a.open)
	status := r.ended()
	if r.Usage != nil {
		a.events.usage(r.Usage, session.Stamp{})
	}
	a.events.status(strings.ToUpper(status), r.Error, r.End)
	end := a.events.now
	if inReach(r.End) {
		end = r.End.Millis()
	}
	b := quote(append(a.buf[:0], `{"runId":`...), r.ID)
	b = appendMember(b, "requestId", r.RequestID)
	b = appendMember(b, "agentId", a.id)
	b = strconv.AppendInt(append(b, `,"turnNumber":`...), int64(r.number), 10)
	b = appendMember(b, "status", status)
	b = r.appendModel(append(b, `,"model":`...), a.s.Model)
	b = optional(b, "result", r.result)
	b = optional(b, "error", r.Error)
	b = append(b, `,"usageRef":null,"usage":`...)
	if r.Usage != nil {
		b = appendUsage(b, r.Usage)
	} else {
		b = append(b, "null"...)
	}
	b = strconv.AppendInt(append(b, `,"createdAt":`...), r.start, 10)
	b = strconv.AppendInt(append(b, `,"updatedAt":`...), end, 10)
	b = strconv.AppendInt(append(b, `,"startedAt":`...), r.start, 10)
	if b = append(b, `,"endedAt":`...); status == "error" {
		b = append(b, "null"...) // as the SDK's database has it
	} else {
		b = strconv.AppendInt(b, end, 10)
	}
	b = appendRef(append(b, `,"startCheckpointRef":null,"latestCheckpointRef":`...), root)
	b = append(b, '}')
	a.files[sdkdoc.Run].line(b)
	a.buf = b
}

// appendModel appends the model of a run: that of the turn, or of its last message, or of
// the session.
func (r *run) appendModel(dst []byte, last string) []byte {
	id := cmp.Or(r.Model, r.model, last)
	if id == "" {
		return append(dst, "null"...)
	}
	dst = quote(append(dst, `{"id":`...), id)
	for _, x := range r.Extras {
		if x.Name == "model.params" {
			dst = append(append(dst, `,"params":`...), x.Raw...)
		}
	}
	return append(dst, '}')
}

// optional appends a member that is text or null.
func optional(dst []byte, name, text string) []byte {
	if text != "" {
		return appendMember(dst, name, text)
	}
	return append(append(append(dst, `,"`...), name...), `":null`...)
}

// firstLine returns the first line of a text that is not blank, in at most 80 characters.
func firstLine(text string) string {
	const maxTitle = 80
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.ToValidUTF8(strings.TrimSpace(line), "\uFFFD")
	for i, n := 0, 0; i < len(line); n++ {
		if n == maxTitle {
			return line[:i] + "…"
		}
		for i++; i < len(line) && line[i]&0xc0 == 0x80; i++ {
		}
	}
	return line
}

package sdkwrite

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/cursortools"
	"rehome/formats/internal/envelope"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// run is the run of a turn.
type run struct {
	session.Turn
	number int
	start  int64
	model  string // of its last message
	result string // its last text
	params []byte // see modelParams
}

// modelParamsName is the extra of a turn that has the parameters of its model.
const modelParamsName = "model.params"

// modelParams returns the parameters of the model of a turn, as JSON.
func modelParams(t *session.Turn) session.Raw {
	for _, x := range t.Extras {
		if x.Name == modelParamsName {
			return x.Raw
		}
	}
	return nil
}

// message begins the readable copy of a message, and notes what its run has of it.
func (a *agent) message(m *session.Message) {
	if m.Branch != "" { // no run, see besides
		a.copy.begin(&session.Message{}, false)
		return
	}
	if a.at = m.ID; len(m.Origin) > 0 {
		a.at = m.Origin[0]
	}
	a.copy.begin(m, a.build.DropThinking)
	a.recall(m)
	if a.run != nil && m.Turn == nil {
		if a.events.tick(m.At); !inReach(m.At) && m.Role == session.Assistant {
			a.note(loss.TimeUnknown)
		}
		a.events.tick(m.End)
		a.run.model = cmp.Or(m.Model, a.run.model)
	}
}

// recall notes what only events of the source have of the calls of a message. A state that
// is copied as it is does not have it, so events must have all of it again.
func (a *agent) recall(m *session.Message) {
	clear(a.args)
	clear(a.results)
	for _, p := range m.Parts {
		switch p := p.(type) {
		case *session.ToolCall:
			if p.From == fromEvents {
				a.args[p.ID] = p.Args
			}
		case *session.ToolResult:
			if p.From == fromEvents {
				a.results[p.Call] = p.Value
			}
		}
	}
}

// fromEvents is the source of parts that no checkpoint has.
const fromEvents = "events"

// Turn begins the run of a turn, and returns the request id by which a reader finds it.
// text is what the user asked.
func (a *agent) Turn(m *session.Message, text string) string {
	a.endRun("")
	if m.Turn.Kind == agentstate.ShellTurn {
		return m.Turn.RequestID // a command that the user ran is no run
	}
	a.turns++
	a.begin(m, a.before+a.turns)
	if a.first == 0 {
		a.first, a.title = a.run.start, withoutNUL(strings.ToValidUTF8(envelope.FirstLine(text), "\uFFFD"))
	}
	if text != "" {
		a.events.say("user", text, m.At)
	}
	return a.run.RequestID
}

// begin begins the run of a turn.
func (a *agent) begin(m *session.Message, number int) {
	r := &run{Turn: *m.Turn, number: number, params: bytes.Clone(modelParams(m.Turn))}
	if r.Extras = nil; r.Usage != nil {
		usage := *r.Usage
		r.Usage = &usage
	}
	r.ID, r.RequestID = a.ids.run(m.Turn, r.number), a.ids.request(m.Turn, r.number)
	if a.run = r; m.Turn.ID != "" && r.ID != m.Turn.ID || m.Turn.Status != "" && r.ended() != m.Turn.Status {
		a.note(loss.TurnRecord)
	}
	at := r.Start
	if !inReach(at) {
		at = m.At
	}
	a.events.tick(at)
	if r.start = a.events.now; inReach(r.Start) {
		r.start = r.Start.Millis()
	}
	a.events.run(r.ID)
	a.events.request(r.RequestID, r.Start)
	a.events.status("RUNNING", "", r.Start)
}

// Text writes a text of the assistant.
func (a *agent) Text(text string, at session.Stamp) {
	if a.run != nil {
		a.events.say("assistant", text, at)
		// The state has the text as it is. With U+FFFD, the result would be read as another.
		a.run.result = strings.ReplaceAll(text, "\x00", " ")
	}
}

// Thinking writes reasoning.
func (a *agent) Thinking(t *session.Thinking, at session.Stamp) {
	if a.run != nil {
		a.events.think(t, at)
	}
}

// Call writes that a call began.
func (a *agent) Call(id string, c *cursortools.Call, at session.Stamp) {
	_, only := a.args[id]
	if !only { // the client makes the transcript of its checkpoints
		a.copy.call(c)
	}
	if shown, streamed := projections()[c.Kind]; a.run != nil && (streamed || only) {
		a.events.begin("tool_call")
		a.callHead(id, c, "running", &shown)
		a.events.end(at)
	}
}

// Result writes that a call ended.
func (a *agent) Result(id string, c *cursortools.Call, at session.Stamp) {
	shown, streamed := projections()[c.Kind]
	own, only := a.results[id]
	if a.run == nil || !streamed && !only {
		return
	}
	a.events.begin("tool_call")
	a.callHead(id, c, "completed", &shown)
	switch {
	case only && own != nil:
		a.events.buf = append(append(a.events.buf, `,"result":`...), own...)
	case c.Value != nil && !only:
		a.events.buf = appendResult(append(a.events.buf, `,"result":`...), c.Kind, c.Value, shown.result)
	}
	a.events.end(at)
}

// callHead writes the members that all events of a call have.
func (a *agent) callHead(id string, c *cursortools.Call, status string, shown *projection) {
	b := appendMember(a.events.buf, "call_id", id)
	b = appendMember(b, "name", c.Kind)
	b = appendMember(b, "status", status)
	if own := a.args[id]; len(own) > 0 {
		b = append(append(b, `,"args":`...), own...)
	} else if len(shown.args) > 0 && len(c.Args) > 0 {
		b = appendFields(append(b, `,"args":`...), c.Args, shown.args)
	}
	a.events.buf = b
}

// ended is how a run ended. Nothing can be added to an agent with a run that has not.
func (r *run) ended() string {
	switch {
	case r.Error != "" && (r.Status == "" || r.Status == sdkdoc.Finished):
		return sdkdoc.Failed
	case r.Status == "":
		return sdkdoc.Finished
	case sdkdoc.Ended(r.Status):
		return r.Status
	}
	return sdkdoc.Cancelled
}

// endRun writes the end of the current run, and the run itself.
func (a *agent) endRun(root string) {
	r := a.run
	a.run = nil
	if r == nil {
		return
	}
	status := r.ended()
	r.Error = a.unbroken(r.Error)
	if r.Usage != nil {
		a.events.usage(r.Usage, r.End)
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
	if len(r.params) > 0 {
		dst = append(append(dst, `,"params":`...), r.params...)
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

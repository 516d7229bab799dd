package cursoride

import (
	"fmt"

	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// desk is where bubbles become messages. One response of a model is several
// bubbles: its reasoning, its text, each call with what came of it.
type desk struct {
	chat  *chat
	sink  loss.Sink
	tally session.Tally
	give  func(*session.Message)

	msg      *session.Message // the response that is being put together
	held     []*session.Message
	heldSize int
	mode     string // of the turn
	request  string
	response string // of the calls in msg
	calling  bool   // msg has calls: what is said next is another response
	calls    map[string]bool

	turn  *session.Turn // to be put on the next message
	turns int
	last  session.Stamp
	count int // messages given
	past  int // index of the last header that was compacted, -1 for none

	inner fields
	loose []session.Extra
}

// mostHeld bounds a response: the bytes of the bubbles it is made of.
const mostHeld = 4 << 20

func (d *desk) note(k loss.Kind, at store.Addr, what string) {
	if d.sink != nil {
		d.sink(loss.Note{Kind: k, At: at, What: what})
	}
}

// take turns a bubble into parts.
func (d *desk) take(b *bubble) {
	if b.fate != claimed || b.body == nil {
		d.lack(b)
		return
	}
	kind, ok := b.f.whole(bubType)
	user := kind == 1 || !ok && b.user
	if id := b.f.text(bubID); id != "" && id != b.id {
		b.f.keep(bubID)
	}
	mode := modeOf(b.f.raw(bubMode))
	switch capability, _ := b.f.whole(bubCapability); {
	case user:
		d.prompt(b, mode)
	case capability == bySummary:
		d.summary(b)
	default:
		if kind != 2 && ok {
			d.note(loss.Reshaped, b.addr, "a bubble of a type that is not known, taken for the agent's")
			b.f.keep(bubType)
		}
		d.answer(b)
	}
	if b.number == d.past {
		d.boundary()
	}
}

// lack says that a bubble is not there. A prompt without its text still begins
// a turn.
func (d *desk) lack(b *bubble) {
	switch {
	case b.fate == deleted:
		d.note(loss.Missing, b.addr, "a bubble that was deleted")
	case b.fate == absent && b.state != nil:
		d.note(loss.Inferred, d.chat.addr, "a bubble that nothing holds: what the agent's own state has of its turn stands for it")
	case b.fate == absent:
		d.note(loss.Missing, d.chat.addr, "a bubble that its session lists and nothing holds")
	}
	if b.user {
		d.flush()
		d.begin(b, "")
		m := &session.Message{ID: b.id, Role: session.User, At: d.moment(b.at), Origin: b.origin()}
		if b.state != nil {
			m.Parts = b.state.prompt
		}
		d.put(m)
	} else if parts, results := b.state.gap(); len(parts) > 0 {
		d.flush()
		m := d.open(b)
		m.Parts = append(m.Parts, parts...)
		for i, r := range results {
			d.held = append(d.held, &session.Message{ID: fmt.Sprintf("%s-state-%d", b.id, i+1), Role: session.Tool, Parts: []session.Part{r}})
		}
		d.flush()
	}
	if b.number == d.past {
		d.boundary()
	}
}

func (b *bubble) origin() []string {
	if b.fate == absent {
		return nil
	}
	return []string{b.addr.String()}
}

// begin makes the record of the turn that a prompt begins.
func (d *desk) begin(b *bubble, mode string) {
	d.turns++
	if d.turn == nil {
		d.turn = &session.Turn{}
	}
	t := d.turn
	t.Number, t.Mode = d.turns, mode
	t.Model = b.model()
	d.mode, d.request = mode, t.RequestID
}

// prompt is a bubble of the user's, or one that the client wrote for them.
func (d *desk) prompt(b *bubble, mode string) {
	d.flush()
	d.begin(b, mode)
	d.turn.Start = b.when()
	m := &session.Message{ID: b.id, Role: session.User, At: d.moment(b.when()), Model: b.model(), Origin: b.origin()}
	m.Simulated = b.f.flag(bubSimulated)
	m.Parts = d.attached(&b.f)
	if text := d.text(b); text != "" {
		m.Parts = append(m.Parts, &session.Text{Text: text})
	}
	if list := b.f.full(bubImages); list != nil && list[0] == '[' {
		m.Parts = d.pictures(m.Parts, list)
		b.f.found[bubImages] = nil
	}
	m.Parts = append(m.Parts, d.thoughts(b)...)
	if s := summaryOf(b); s != nil {
		m.Parts = append(m.Parts, s)
	}
	d.chat.sides(d, b, m)
	m.Extras = append(d.rest(b), m.Extras...)
	d.put(m)
}

// summary is a bubble that stands where the client compacted what is in front
// of it.
func (d *desk) summary(b *bubble) {
	d.flush()
	m := &session.Message{ID: b.id, Role: session.System, At: d.moment(b.when()), Origin: b.origin()}
	if s := summaryOf(b); s != nil {
		m.Parts = append(m.Parts, s)
	} else if text := d.text(b); text != "" {
		m.Parts = append(m.Parts, &session.Summary{Text: text})
	}
	m.Extras = d.rest(b)
	d.put(m)
}

// boundary says that all up to here is no more sent to the model.
func (d *desk) boundary() {
	d.flush()
	m := &session.Message{ID: "compacted", Role: session.System, At: d.moment(session.Stamp{})}
	m.Parts = append(m.Parts, &session.Boundary{Archived: d.count})
	if text := d.chat.summary; text != "" {
		m.Parts = append(m.Parts, &session.Summary{Text: text})
	}
	d.past = -1
	d.put(m)
}

// answer is a bubble of the agent's.
func (d *desk) answer(b *bubble) {
	thoughts, text := d.thoughts(b), d.text(b)
	raw := b.f.full(bubTool)
	if raw != nil && raw[0] != '{' {
		b.f.keep(bubTool)
		raw = nil
	}
	if (len(thoughts) > 0 || text != "") && d.calling {
		d.flush()
	}
	var tools []tool
	if raw != nil {
		t := d.tool(raw, b.id)
		b.state.tool(&t)
		tools = append(tools, t)
		b.f.found[bubTool] = nil
	}
	tools = d.oldTools(tools, b)
	if len(tools) > 0 && d.calling && (tools[0].response == "" || tools[0].response != d.response) {
		d.flush()
	}
	m := d.open(b)
	parts := thoughts
	if text != "" {
		parts = append(parts, &session.Text{Text: text})
	}
	if list := b.f.full(bubImages); list != nil && list[0] == '[' {
		parts = d.pictures(parts, list)
		b.f.found[bubImages] = nil
	}
	if s := summaryOf(b); s != nil {
		parts = append(parts, s)
	}
	for _, t := range tools {
		parts = append(parts, t.call)
	}
	d.chat.sides(d, b, m)
	extras := d.rest(b)
	if b.id != m.ID {
		extras = append(extras, session.Extra{Name: "bubbleId", Raw: session.AppendString(nil, b.id)})
	}
	attach(m, parts, extras)
	m.Parts = append(m.Parts, parts...)
	for i, t := range tools {
		d.called(b, t, i)
	}
	if d.heldSize += len(b.body); d.heldSize > mostHeld {
		d.flush()
	}
}

// attach puts what nobody claimed of a bubble on its first part.
func attach(m *session.Message, parts []session.Part, extras []session.Extra) {
	if len(extras) == 0 {
		return
	}
	if len(parts) > 0 {
		switch p := parts[0].(type) {
		case *session.Text:
			p.Extras = append(p.Extras, extras...)
			return
		case *session.Thinking:
			p.Extras = append(p.Extras, extras...)
			return
		case *session.ToolCall:
			p.Extras = append(p.Extras, extras...)
			return
		}
	}
	m.Extras = append(m.Extras, extras...)
}

// open is the response at hand, or a new one that begins with a bubble.
func (d *desk) open(b *bubble) *session.Message {
	if d.msg == nil {
		d.msg = &session.Message{ID: b.id, Role: session.Assistant, At: d.moment(b.when())}
		if d.turns == 0 { // a session that begins in the middle
			d.turns = 1
			if d.turn == nil {
				d.turn = &session.Turn{}
			}
			d.turn.Number = 1
			d.request = d.turn.RequestID
		}
	}
	m := d.msg
	m.Origin = append(m.Origin, b.origin()...)
	m.Model = orElse(m.Model, b.model())
	if end := b.done(); end.Known() {
		m.End = end
	}
	return m
}

// called remembers what came of a call until the response is complete.
func (d *desk) called(b *bubble, t tool, n int) {
	d.response, d.calling = t.response, true
	if d.calls == nil {
		d.calls = map[string]bool{}
	}
	if id := t.call.ID; d.calls[id] {
		for n := 2; d.calls[t.call.ID]; n++ {
			t.call.ID = fmt.Sprintf("%s-%d", id, n)
		}
		d.note(loss.Reshaped, b.addr, "a second call of the same id")
	}
	d.calls[t.call.ID] = true
	d.chat.edited(t)
	if t.result == nil {
		return
	}
	t.result.Call = t.call.ID
	id := b.id + "-result"
	if n > 0 {
		id = fmt.Sprintf("%s-%d", id, n+1)
	}
	d.held = append(d.held, &session.Message{ID: id, Role: session.Tool, At: d.moment(b.done()),
		Parts: []session.Part{t.result}, Origin: b.origin()})
}

// flush gives the response at hand away, and the results of its calls.
func (d *desk) flush() {
	m, held, response := d.msg, d.held, d.response
	d.msg, d.held, d.heldSize, d.response, d.calling = nil, nil, 0, "", false
	if m == nil {
		return
	}
	if response != "" {
		m.Extras = append(m.Extras, session.Extra{Name: "modelCallId", Raw: session.AppendString(nil, response)})
	}
	d.put(m)
	for _, r := range held {
		d.put(r)
	}
}

// put gives a message away.
func (d *desk) put(m *session.Message) {
	if m.Turn == nil && d.turn != nil && m.Role != session.System {
		m.Turn, d.turn = d.turn, nil
	}
	m.Archived = d.past >= 0
	d.count++
	d.give(m)
}

// moment is a stated moment, or one just behind the last.
func (d *desk) moment(s session.Stamp) session.Stamp {
	if s.Known() {
		d.last = s
		return s
	}
	if d.last.Known() {
		d.last = session.Inferred(d.last.Millis() + 1)
	}
	return d.last
}

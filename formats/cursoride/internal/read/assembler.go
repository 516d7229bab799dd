package read

import (
	"cmp"
	"fmt"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// assembler makes messages of bubbles. One response of a model is several bubbles: its
// reasoning, its text, and each call with its result.
type assembler struct {
	chat  *Chat
	sink  loss.Sink
	tally session.Account
	give  func(*session.Message)
	err   error // the first error of reading another record than bubbles

	msg      *session.Message // the current response
	held     []*session.Message
	heldSize int
	mode     string // of the turn
	request  string
	response string         // of the calls in msg
	calling  bool           // msg has calls: text and reasoning that follow are another response
	calls    map[string]int // by id: how many calls have it, and the last number appended

	turn  *session.Turn // to be put on the next message
	turns int
	last  session.Stamp
	count int // messages given

	run    *run   // the branch that was entered last
	branch string // its name, "" before the first and behind the last
	past   int    // index of the last header that was compacted, -1 for none

	inner members.Object
	loose []session.Extra
}

// maxHeld is the maximum size of the bubbles of one response.
const maxHeld = 4 << 20

func (d *assembler) note(code loss.Code, at store.Addr) {
	if d.sink != nil {
		d.sink(loss.Loss{Code: code, At: at})
	}
}

// take converts a bubble to parts.
func (d *assembler) take(b *bubble) {
	if b.fate != lists.Claimed || b.body == nil {
		d.missingBubble(b)
		return
	}
	kind, ok := b.f.Whole(bubType)
	user := kind == 1 || !ok && b.user
	if id := b.f.Text(bubID); id != "" && id != b.id {
		b.f.Keep(bubID)
	}
	mode := modeOf(b.f.Raw(bubMode))
	switch capability, _ := b.f.Whole(bubCapability); {
	case user:
		d.prompt(b, mode)
	case capability == bySummary:
		d.summary(b)
	default:
		if kind != 2 && ok {
			d.note(loss.MessageTypeUnknown, b.addr)
			b.f.Keep(bubType)
		}
		d.answer(b)
	}
	if b.number == d.past {
		d.boundary()
	}
}

func (b *bubble) origin() []string {
	if b.fate == lists.Absent {
		return nil
	}
	return []string{b.addr.String()}
}

// begin fills in the record of the turn that a prompt begins.
func (d *assembler) begin(b *bubble, mode string) {
	d.turns++
	if d.turn == nil {
		d.turn = &session.Turn{}
	}
	t := d.turn
	t.Number, t.Mode = d.turns, mode
	t.Model = b.model()
	d.mode, d.request = mode, t.RequestID
}

// open returns the current response, or a new one that begins with the bubble.
func (d *assembler) open(b *bubble) *session.Message {
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
	m.Model = cmp.Or(m.Model, b.model())
	if end := b.done(); end.Known() {
		m.End = end
	}
	return m
}

// called keeps the result of a call until the response is complete.
func (d *assembler) called(b *bubble, t tool, n int) {
	d.response, d.calling = t.response, true
	if d.calls == nil {
		d.calls = map[string]int{}
	}
	if id := t.call.ID; d.calls[id] > 0 {
		for d.calls[t.call.ID] > 0 {
			d.calls[id]++
			t.call.ID = fmt.Sprintf("%s-%d", id, d.calls[id])
		}
		d.note(loss.CallIDTwice, b.addr)
	}
	d.calls[t.call.ID] = 1
	d.chat.edited(t)
	if t.result == nil {
		return
	}
	t.result.Call, t.result.FileChange = t.call.ID, d.chat.changed(t)
	id := b.id + "-result"
	if n > 0 {
		id = fmt.Sprintf("%s-%d", id, n+1)
	}
	d.held = append(d.held, &session.Message{ID: id, Role: session.Tool, At: d.moment(b.done()),
		Parts: []session.Part{t.result}, Origin: b.origin()})
}

// flush gives the current response, and the results of its calls.
func (d *assembler) flush() {
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

// put gives a message.
func (d *assembler) put(m *session.Message) {
	if m.Turn == nil && d.turn != nil && m.Role != session.System {
		m.Turn, d.turn = d.turn, nil
	}
	m.Branch = d.branch
	m.Archived = d.past >= 0 && d.branch == ""
	d.count++
	d.give(m)
}

// moment returns a stated time, or one just after the last.
func (d *assembler) moment(s session.Stamp) session.Stamp {
	if s.Known() {
		d.last = s
		return s
	}
	if d.last.Known() {
		d.last = session.Inferred(d.last.Millis() + 1)
	}
	return d.last
}

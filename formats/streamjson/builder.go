package streamjson

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Limits of what is held at once. Real messages stay far below.
const (
	mostMessage = 16 << 20 // then a message is cut in two
	mostHeld    = 1 << 20  // of results that wait for their message
	mostLoose   = 1 << 20  // of lines that belong to no message of their own
)

// builder makes messages of a session's lines.
type builder struct {
	file  string
	note  loss.Sink
	say   func(*session.Message) bool
	over  bool // nobody listens any more
	tally session.Account

	turns turns
	// ending is a run's last known times and its result line; nil on a live
	// pipe, where they are still to come.
	ending func(number int) (end, error)
	err    error

	cwd     string        // of the session
	number  int           // of the present turn, 0 in front of the first
	turn    *session.Turn // begun, and not on a message yet
	started int           // the line it began with
	seq     int           // messages of this turn so far
	msg     *draft
	held    []*session.Message
	heldLen int
	loose   []session.Part // came before any message of the turn
	looseAt span
	looseN  int // bytes
	words   words
	lost    tally         // what a lost attempt said,
	relic   *session.Text // and where:
	relicAt int           // which part of its message it is
	open    map[string]call
	done    map[string]bool // calls of this turn that have their result
}

func newBuilder(file string, note loss.Sink, say func(*session.Message) bool) *builder {
	return &builder{file: file, note: note, say: say, open: map[string]call{}}
}

// draft is the message that is being made.
type draft struct {
	session.Message
	span
	size     int
	response string // the model's, as model_call_id names it
	calls    map[string]*session.ToolCall
	untimed  map[string]bool // of these, those without a time of their own
	text     *session.Text
	textAt   int // which of the parts it is
	thinking *session.Thinking
	words    strings.Builder // of the open one of these two
}

// span is the lines that a message came from.
type span struct{ first, last int }

func (s *span) add(line int) {
	if s.first == 0 {
		s.first = line
	}
	s.last = max(s.last, line)
}

func (b *builder) addr(line int) store.Addr { return store.Addr{File: b.file, Line: line} }

func (b *builder) lose(code loss.Code, line int, args ...string) {
	b.note.Add(loss.Loss{Code: code, At: b.addr(line), Args: args})
}

// line takes one line in.
func (b *builder) line(e event) {
	b.tally.Read++
	if e.repaired {
		b.lose(loss.TextRepaired, e.line)
	}
	if b.turns.begins(e.kind) {
		b.begin(e)
	}
	b.tally.Converted++
	switch e.kind {
	case blank:
	case long:
		b.tally.Converted--
		b.tally.Unreadable++
		b.lose(loss.LineTooLong, e.line, fmt.Sprintf("%d MB", jsonl.MaxLine>>20))
	case initial:
		b.initial(e)
	case prompt:
		b.prompt(e)
	case pondered:
		b.ponder(e)
	case thought:
		b.thought(e)
	case said:
		b.said(e)
	case called:
		b.called(e)
	case returned:
		b.returned(e)
	case retried:
		b.retry(e)
		b.opaque(e)
	case ended:
		b.ended(e)
	default:
		b.opaque(e)
	}
}

// begin ends the turn in front and starts another.
func (b *builder) begin(e event) {
	b.header()
	b.close()
	b.number = b.turns.number
	b.turn = &session.Turn{Number: b.number}
	b.started, b.seq, b.done = e.line, 0, nil
	b.words, b.lost, b.relic = words{}, tally{}, nil
}

// header puts out the message that a turn's record stands on, where no prompt
// has.
func (b *builder) header() {
	if b.turn != nil {
		b.lose(loss.PromptMissing, b.started)
		b.put(&session.Message{Role: session.User}, span{b.started, b.started})
	}
	if len(b.loose) > 0 {
		role := session.Assistant
		if b.number == 0 {
			role = session.System
		}
		b.want(role)
		b.msg.Parts, b.msg.span = append(b.msg.Parts, b.loose...), b.looseAt
		b.loose, b.looseAt, b.looseN = nil, span{}, 0
	}
}

// put hands out a message.
func (b *builder) put(m *session.Message, s span) {
	if b.over {
		return
	}
	if b.turn != nil {
		m.Turn = b.settle(b.turn)
		b.turn = nil
		if b.err != nil {
			return
		}
	}
	m.ID = fmt.Sprintf("%d.%d", b.number, b.seq)
	b.seq++
	if s.first > 0 {
		at := b.addr(s.first).String()
		if s.last > s.first {
			at += fmt.Sprintf("-%d", s.last)
		}
		m.Origin = append(m.Origin, at)
	}
	b.over = !b.say(m)
}

// want makes sure that a message of this role is open.
func (b *builder) want(role session.Role) {
	if b.msg != nil && (b.msg.Role != role || b.msg.size > mostMessage) {
		b.close()
	}
	if b.msg == nil {
		b.msg = &draft{Message: session.Message{Role: role}}
	}
}

// assistant makes sure that an assistant's message is open, and notes that a
// line belongs to it.
func (b *builder) assistant(e event) *draft {
	if b.turn != nil || len(b.loose) > 0 {
		b.header()
	}
	b.want(session.Assistant)
	b.msg.add(e.line)
	b.msg.size += len(e.raw)
	if e.at.Known() {
		if !b.msg.At.Known() {
			b.msg.At = e.at
		}
		b.msg.End = e.at
	}
	return b.msg
}

// close hands out the open message, and the results that waited for it.
func (b *builder) close() {
	if b.msg != nil {
		b.msg.rest()
		if b.msg.At == b.msg.End {
			b.msg.End = session.Stamp{}
		}
		m := b.msg
		b.msg = nil
		b.put(&m.Message, m.span)
	}
	held := b.held
	b.held, b.heldLen = nil, 0
	for _, m := range held {
		b.put(m, span{})
	}
}

// rest ends the open text or thinking.
func (d *draft) rest() {
	switch {
	case d.text != nil:
		d.text.Text = d.words.String()
	case d.thinking != nil:
		d.thinking.Text = d.words.String()
	}
	d.text, d.thinking = nil, nil
	d.words.Reset()
}

// finish hands out what is left at the end of the session.
func (b *builder) finish() {
	b.header()
	b.close()
	for _, c := range slices.SortedFunc(maps.Values(b.open), func(x, y call) int { return x.line - y.line }) {
		b.lose(loss.CallUnanswered, c.line)
	}
}

// extras keeps what a message's lines held beyond what is understood. Pieces of
// one message say the same again and again, which is kept once.
func extras(have []session.Extra, more ...session.Extra) []session.Extra {
	for _, e := range more {
		if !holds(have, e) {
			have = append(have, e)
		}
	}
	return have
}

func holds(list []session.Extra, e session.Extra) bool {
	for i := range list[max(0, len(list)-16):] {
		if o := &list[len(list)-1-i]; o.Name == e.Name && string(o.Raw) == string(e.Raw) {
			return true
		}
	}
	return false
}

// count enters the members of an object that was read. It is called when all
// that was wanted of it was taken.
func (b *builder) count(o *members.Object) []session.Extra {
	b.tally.Add(o.Account())
	return o.Extras
}

package write

import (
	"bytes"
	"strconv"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/envelope"
	"rehome/formats/internal/object"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// voice is the kind of line that a part is written to.
type voice uint8

const (
	userVoice voice = iota
	assistantVoice
	resultVoice
	systemVoice
	boundaryVoice
)

func voiceOf(role session.Role, p session.Part) voice {
	switch p.(type) {
	case *session.ToolResult:
		return resultVoice
	case *session.ToolCall, *session.Thinking:
		return assistantVoice
	case *session.Boundary, *session.Summary:
		return boundaryVoice
	}
	switch role {
	case session.Assistant:
		return assistantVoice
	case session.System:
		return systemVoice
	}
	return userVoice
}

// take writes a message: each run of parts with the same voice.
func (e *encoder) take(m *session.Message) {
	e.message = m
	defer func() { e.message = nil }()
	if m.Turn != nil {
		e.close() // a result is not expected in a later turn
	}
	if !e.graft(m.Branch, m.ID) {
		e.note(loss.TurnAbandoned)
		return
	}
	if len(m.Extras) > 0 {
		e.note(loss.MessageMetadata)
	}
	e.turn(m)
	if mute(m) {
		code := loss.PartUntranslatable
		if e.own {
			code = loss.MessageMetadata // the client wrote it for itself
		}
		for range m.Parts {
			e.note(code)
		}
		return
	}
	e.timed(m)
	for from := 0; from < len(m.Parts); {
		v, to := voiceOf(m.Role, m.Parts[from]), from+1
		for to < len(m.Parts) && voiceOf(m.Role, m.Parts[to]) == v {
			to++
		}
		run := m.Parts[from:to]
		from = to
		switch v {
		case assistantVoice:
			e.answer(m, run)
			continue
		case resultVoice:
			for _, p := range run {
				e.result(m, p.(*session.ToolResult))
			}
			continue
		}
		switch v {
		case boundaryVoice:
			e.close()
			e.boundary(m, run)
		case systemVoice:
			e.instruction(m, run)
		default:
			e.ask(m, run)
		}
	}
}

// mute reports whether a message has no part that can be written. It must not
// separate a call from its result.
func mute(m *session.Message) bool {
	for _, p := range m.Parts {
		if _, ok := p.(*session.Opaque); !ok {
			return false
		}
	}
	return true
}

// turn keeps the record of a turn for the next line.
func (e *encoder) turn(m *session.Message) {
	t := m.Turn
	if t == nil {
		return
	}
	e.unrecorded()
	e.shell, e.turnAt = t.Kind == shellTurn, e.at()
	kept := &session.Message{ID: m.ID, Role: m.Role, Turn: t}
	line := session.AppendMessage(nil, kept)
	e.turnRec = bytes.Clone(rawjson.Last(line, "turn"))
}

// unrecorded reports the record of a turn that no line has.
func (e *encoder) unrecorded() {
	if e.turnRec != nil {
		e.b.OnLoss.Add(loss.Loss{Code: loss.TurnRecord, At: store.Addr{File: e.turnAt}})
		e.turnRec = nil
	}
}

// mark writes the member "rehome": what the client has no member for.
func (e *encoder) mark(p *object.Writer, m *session.Message, rest func(p *object.Writer)) {
	p.Name("rehome")
	in := object.New(p.B)
	in.NonEmpty("id", m.ID)
	in.NonEmpty("branch", e.branch)
	e.marked = true
	if m.Model != "" {
		in.Text("model", m.Model)
	}
	if e.turnRec != nil {
		in.Raw("turn", e.turnRec)
		e.turnRec = nil
	}
	if rest != nil {
		rest(&in)
	}
	p.B = in.Done()
}

// ask writes a message of the user. Context that the client added becomes lines of
// its own, which are not prompts.
func (e *encoder) ask(m *session.Message, run []session.Part) {
	for from := 0; from < len(run); {
		_, given := run[from].(*session.Injected)
		to := from + 1
		for to < len(run) {
			if _, same := run[to].(*session.Injected); same != given {
				break
			}
			to++
		}
		said := run[from:to]
		if e.attached(m, said) {
			from = to
			continue
		}
		command := spelledCommand(said)
		if command != "" {
			said, given = []session.Part{&session.Text{Text: command}}, m.Turn == nil
		}
		e.words(m, said, given || m.Simulated || m.Role == session.Tool, command == "")
		from = to
	}
}

// words writes a line of the user. Lines that the client added wait for the results
// of open calls. literal: a prompt is no command, even if it is spelled like one.
func (e *encoder) words(m *session.Message, run []session.Part, meta, literal bool) {
	l := userLine{m: &session.Message{ID: m.ID, Model: m.Model, At: m.At}, meta: meta}
	size := 0
	for _, p := range run {
		block, text := e.spoken(p)
		if block != nil {
			l.blocks, l.single = append(l.blocks, block), text
			size += len(block)
		}
	}
	if len(l.blocks) == 0 {
		return
	}
	if meta && (outline.IsOutput(l.single) || outline.IsCommand(l.single)) {
		l.meta = e.prompt == "" // visible, but only a prompt gives the session its title
	}
	l.typed = !meta && literal && outline.IsTagged(l.single)
	if meta {
		e.later(size, func() { e.user(l) })
		return
	}
	e.close()
	e.user(l)
}

// userLine is a line of the user, ready to be written.
type userLine struct {
	m      *session.Message
	blocks [][]byte
	single string // its text, if it has a single block
	meta   bool
	typed  bool
}

func (e *encoder) user(l userLine) {
	if e.prompt == "" && !l.meta && e.branch == "" && (l.typed || !outline.IsCommand(l.single)) {
		e.prompt = envelope.FirstLine(l.single)
	}
	e.begun = true
	e.unit()
	for _, block := range l.blocks {
		e.send(len(block))
	}
	e.chained("user", l.m.At, func(p *object.Writer) {
		p.Name("message")
		p.B = append(p.B, `{"role":"user","content":`...)
		if len(l.blocks) == 1 && l.single != "" {
			p.B = session.AppendString(p.B, l.single)
		} else {
			p.B = append(append(append(p.B, '['), bytes.Join(l.blocks, []byte{','})...), ']')
		}
		p.B = append(p.B, '}')
		if l.meta {
			p.Flag("isMeta", true)
		}
		if l.typed {
			p.Text("promptSource", outline.TypedSource)
		}
		e.mark(p, l.m, nil)
	})
}

// opening writes a first line for a session that does not begin with a prompt, which
// the API requires.
func (e *encoder) opening(at session.Stamp) {
	e.begun = true
	e.unit()
	e.chained("user", at, func(p *object.Writer) {
		p.Raw("message", []byte(`{"role":"user","content":"(This session was imported. It begins with an answer.)"}`))
		p.Flag("isMeta", true)
	})
}

// spoken returns a part as a block, nil if it is empty or cannot be written. text is
// its text, if it has nothing else.
func (e *encoder) spoken(p session.Part) (block []byte, text string) {
	switch t := p.(type) {
	case *session.Text:
		text = t.Text
		e.extras(t.Extras)
	case *session.Injected:
		text = e.injected(t)
	case *session.Media:
		return e.media(t)
	case *session.Opaque:
		e.note(loss.PartUntranslatable)
		return nil, ""
	}
	return e.block(text)
}

// block returns a text as a block, nil if it is blank, because the API rejects that.
func (e *encoder) block(text string) ([]byte, string) {
	if outline.Blank(text) {
		if text != "" {
			e.note(loss.BlankText)
		}
		return nil, ""
	}
	p := object.New(nil)
	p.Text("type", "text")
	p.Text("text", text)
	return p.Done(), text
}

func (e *encoder) extras(list []session.Extra) {
	if len(list) > 0 {
		e.note(loss.PartMetadata)
	}
}

// injected returns context as text within its tag.
func (e *encoder) injected(t *session.Injected) string {
	e.extras(t.Extras)
	text := t.Text
	if len(t.Data) > 0 {
		if outline.Blank(text) {
			text = string(t.Data)
		} else {
			e.note(loss.AttachmentRecord)
		}
	}
	if outline.Blank(text) || t.Tag == "" {
		return text
	}
	tag := outline.Sanitize(t.Tag)
	return "<" + tag + ">\n" + text + "\n</" + tag + ">"
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

package read

import (
	"fmt"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// missingBubble reports a bubble that does not exist. A prompt without its text still
// begins a turn.
func (d *assembler) missingBubble(b *bubble) {
	switch {
	case b.fate == lists.Deleted:
		d.note(loss.MessageDeleted, b.addr)
	case b.fate == lists.Absent && b.state != nil:
		d.note(loss.MessageRecovered, d.chat.addr)
	case b.fate == lists.Absent:
		d.note(loss.MessageMissing, d.chat.addr)
	}
	if b.user {
		d.flush()
		d.begin(b, "")
		m := &session.Message{ID: b.id, Role: session.User, At: d.moment(b.at), Origin: b.origin(), Extras: b.listed()}
		if b.state != nil {
			m.Parts = b.state.prompt
		}
		d.put(m)
	} else if parts, results := b.state.unmatched(); len(parts) > 0 {
		d.flush()
		m := d.open(b)
		m.Parts, m.Extras = append(m.Parts, parts...), append(m.Extras, b.listed()...)
		for i, r := range results {
			d.held = append(d.held, &session.Message{ID: fmt.Sprintf("%s-state-%d", b.id, i+1), Role: session.Tool, Parts: []session.Part{r}})
		}
		d.flush()
	}
	if b.number == d.past {
		d.boundary()
	}
}

// prompt converts a bubble of the user, or one that the client wrote for them.
func (d *assembler) prompt(b *bubble, mode string) {
	d.flush()
	d.begin(b, mode)
	d.turn.Start = b.when()
	m := &session.Message{ID: b.id, Role: session.User, At: d.moment(b.when()), Model: b.model(), Origin: b.origin()}
	m.Simulated = b.f.Flag(bubSimulated)
	m.Parts = d.attached(&b.f)
	if text := d.text(b); text != "" {
		m.Parts = append(m.Parts, &session.Text{Text: text})
	}
	if list := b.f.Full(bubImages); list != nil && list[0] == '[' {
		m.Parts = d.pictures(m.Parts, list)
		b.f.Drop(bubImages)
	}
	m.Parts = append(m.Parts, d.thoughts(b)...)
	if s := summaryOf(b); s != nil {
		m.Parts = append(m.Parts, s)
	}
	d.chat.sides(d, b, m)
	m.Extras = append(d.rest(b), m.Extras...)
	d.put(m)
}

// summary converts a bubble that marks where the client compacted the messages before
// it.
func (d *assembler) summary(b *bubble) {
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

// boundary marks that the model no longer receives what precedes it.
func (d *assembler) boundary() {
	d.flush()
	m := &session.Message{ID: "compacted", Role: session.System, At: d.moment(session.Stamp{})}
	m.Parts = append(m.Parts, &session.Boundary{Archived: d.count})
	if text := d.chat.summary; text != "" {
		m.Parts = append(m.Parts, &session.Summary{Text: text})
	}
	d.past = -1
	d.put(m)
}

// answer converts a bubble of the agent.
func (d *assembler) answer(b *bubble) {
	thoughts, text := d.thoughts(b), d.text(b)
	raw := b.f.Full(bubTool)
	if raw != nil && raw[0] != '{' {
		b.f.Keep(bubTool)
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
		b.f.Drop(bubTool)
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
	if list := b.f.Full(bubImages); list != nil && list[0] == '[' {
		parts = d.pictures(parts, list)
		b.f.Drop(bubImages)
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
	if d.heldSize += len(b.body); d.heldSize > maxHeld {
		d.flush()
	}
}

// attach puts the rest of a bubble on its first part.
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

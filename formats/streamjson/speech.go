package streamjson

import (
	"slices"
	"unicode/utf8"

	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

var (
	speechNames  = []string{"type", "subtype", "message", "session_id", "model_call_id", "timestamp_ms"}
	messageNames = []string{"role", "content"}
	partNames    = []string{"type", "text"}
)

// speech is a prompt's or an answer's line taken apart.
type speech struct {
	parts    []session.Part // Text and Opaque
	extras   []session.Extra
	response string // model_call_id
}

// speech is false for a line that has no message in it.
func (b *builder) speech(e event) (s speech, ok bool) {
	var o, m members.Object
	o.Split(e.raw, "", speechNames)
	if !m.Split(o.Raw(2), "message.", messageNames) {
		return s, false
	}
	b.top(&o, 3, 5)
	s.response = o.Text(4)
	if role := m.Text(0); role != string(e.typ) {
		m.Keep(0)
	}
	if raw := m.Raw(1); raw != nil {
		if s.parts, ok = b.content(raw); !ok {
			m.Keep(1)
		}
	}
	s.extras = append(b.count(&o), b.count(&m)...)
	return s, true
}

// content is the parts of a message: a string, or a list of objects.
func (b *builder) content(raw []byte) ([]session.Part, bool) {
	switch raw[0] {
	case '"':
		return []session.Part{&session.Text{Text: rawjson.Text(raw)}}, true
	case '[':
	default:
		return nil, false
	}
	var list []session.Part
	for part := range rawjson.Elements(raw) {
		var o members.Object
		o.Split(part, "", partNames)
		if string(plain(o.Raw(0))) != "text" || len(o.Raw(1)) == 0 || o.Raw(1)[0] != '"' {
			list = append(list, &session.Opaque{Kind: name(plain(o.Raw(0))), Raw: members.Bare("", part)})
			continue
		}
		t := &session.Text{Text: o.Text(1)}
		t.Extras = b.count(&o)
		list = append(list, t)
	}
	return list, true
}

// name is a foreign word where one of ours would stand: short, or none.
func name(word []byte) string {
	if len(word) > 64 || !utf8.Valid(word) {
		return ""
	}
	return string(word)
}

// prompt takes what the user typed.
func (b *builder) prompt(e event) {
	s, ok := b.speech(e)
	if !ok {
		b.opaque(e)
		return
	}
	b.close()
	b.put(&session.Message{Role: session.User, At: e.at, Parts: s.parts, Extras: s.extras}, span{e.line, e.line})
}

// said takes text of the model's: a piece, or the whole of what pieces said.
func (b *builder) said(e event) {
	s, ok := b.speech(e)
	if !ok {
		b.opaque(e)
		return
	}
	d := b.speak(e, s.response)
	piece := e.at.Known() && s.response == ""
	text := ""
	for _, p := range s.parts {
		switch t := p.(type) {
		case *session.Text:
			text += t.Text
			s.extras = prefixed(s.extras, t.Extras)
		default:
			d.rest()
			d.Parts = append(d.Parts, p)
		}
	}
	d.Extras = extras(d.Extras, s.extras...)
	if piece {
		b.words.next(text)
		b.write(d, text)
		return
	}
	found, known := b.words.whole(text)
	if found == apart {
		b.lose(loss.StreamTextDiffers, e.line)
		d.rest()
		d.Parts = append(d.Parts, &session.Text{Text: text, Source: session.Source{From: "repetition"}})
		return
	}
	if found != repeated {
		b.write(d, text[known:])
	}
	b.rest(d)
}

func prefixed(list, more []session.Extra) []session.Extra {
	for _, e := range more {
		list = append(list, session.Extra{Name: "message.content." + e.Name, Raw: e.Raw})
	}
	return list
}

// speak is the open message for what is not a call: a new one, if the one that
// is open has calls or is another response's.
func (b *builder) speak(e event, response string) *draft {
	if b.msg != nil && (len(b.held) > 0 || len(b.msg.calls) > 0 || response != "" && b.msg.response != "" && b.msg.response != response) {
		b.close()
	}
	d := b.assistant(e)
	d.respond(response)
	return d
}

// respond notes which response a message is.
func (d *draft) respond(id string) {
	if id != "" && d.response == "" {
		d.response = id
		d.Extras = append(d.Extras, session.Extra{Name: "model_call_id", Raw: session.AppendString(nil, id)})
	}
}

// write appends to the open text.
func (b *builder) write(d *draft, text string) {
	if text == "" {
		return
	}
	if d.text == nil {
		b.rest(d)
		d.text, d.textAt = &session.Text{}, len(d.Parts)
		d.Parts = append(d.Parts, d.text)
	}
	d.words.WriteString(text)
}

// rest ends what is open, and takes away what a lost attempt said if it came
// again.
func (b *builder) rest(d *draft) {
	if t := d.text; t != nil && b.relic != nil && t != b.relic {
		if at := b.relicAt; at < len(d.Parts) && d.Parts[at] == session.Part(b.relic) && b.lost.leads(d.words.String()) {
			d.Parts = slices.Delete(d.Parts, at, at+1)
		}
		b.relic = nil
	}
	d.rest()
}

// retry is told that the client asks the model once more.
func (b *builder) retry(e event) {
	var o members.Object
	o.Split(e.raw, "", []string{"is_resume"})
	if string(e.sub) != "starting" || o.Flag(0) {
		return
	}
	b.lost, b.relic = b.words.retry(), nil
	if b.msg != nil {
		if b.lost.n > 0 {
			b.relic, b.relicAt = b.msg.text, b.msg.textAt
		}
		b.msg.rest()
	}
}

var thinkingNames = []string{"type", "subtype", "text", "session_id", "timestamp_ms", "model_call_id"}

// ponder takes a piece of reasoning.
func (b *builder) ponder(e event) {
	var o members.Object
	o.Split(e.raw, "", thinkingNames)
	b.top(&o, 3, 4)
	text, response := o.Text(2), o.Text(5)
	d := b.speak(e, response)
	if d.thinking == nil {
		b.rest(d)
		d.thinking = &session.Thinking{Start: e.at}
		d.Parts = append(d.Parts, d.thinking)
	}
	if e.at.Known() {
		d.thinking.End = e.at
	}
	d.words.WriteString(text)
	d.thinking.Extras = extras(d.thinking.Extras, b.count(&o)...)
}

// thought ends it.
func (b *builder) thought(e event) {
	var o members.Object
	o.Split(e.raw, "", thinkingNames)
	b.top(&o, 3, 4)
	text, response := o.Text(2), o.Text(5)
	if b.msg == nil || b.msg.thinking == nil {
		if more := b.count(&o); text != "" || len(more) > 0 {
			d := b.speak(e, response)
			b.rest(d)
			d.Parts = append(d.Parts, &session.Thinking{Text: text, End: e.at, Extras: more})
		}
		return
	}
	d := b.assistant(e)
	d.respond(response)
	t := d.thinking
	if e.at.Known() {
		t.End = e.at
	}
	if text != "" && text != d.words.String() {
		o.Keep(2) // no such line was seen; its pieces count
	}
	t.Extras = extras(t.Extras, b.count(&o)...)
	b.rest(d)
}

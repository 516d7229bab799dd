package agentstate

import (
	"context"

	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// answerMessage returns an assistant's message, made of parts of a prompt message, of
// steps, or of both for the same thing.
func (s *State) answerMessage(ctx context.Context, p *planned) (*session.Message, error) {
	m := &session.Message{Role: session.Assistant}
	var d doc
	var parts [][]byte
	if p.line >= 0 {
		l := &s.lines[p.line]
		b, err := s.prompt(ctx, l)
		if b == nil || err != nil {
			return nil, err
		}
		d = s.parseDoc(b)
		m.Origin = s.origin(l.id)
		parts = contentParts(&d)
	}
	for _, it := range s.items[p.from:p.to] {
		var part session.Part
		if it.part >= 0 {
			i := int(it.part - s.lines[p.line].from)
			if i >= len(parts) {
				continue
			}
			of := s.only()
			if it.step >= 0 {
				of = session.Source{}
			}
			if part = s.docPart(parts[i], &d, of); parts[i][0] == '"' {
				part = &session.Text{Text: rawjson.Text(parts[i]), Source: of}
			}
		}
		if it.step >= 0 {
			var err error
			if part, err = s.stepPart(ctx, it.step, part, m); err != nil {
				return nil, err
			}
		}
		if part != nil {
			m.Parts = append(m.Parts, part)
		}
	}
	if p.from == p.to && p.line >= 0 { // content of unknown form
		m.Parts = s.docParts(&d, s.only())
	}
	s.finish(m, &d)
	if d.request != "" {
		m.Extras = append(m.Extras, session.Extra{Name: "providerOptions.cursor.requestId", Raw: quoted(d.request)})
	}
	return m, nil
}

// span extends a message's time to include that of a step.
func span(m *session.Message, l *stepLine) {
	if start := stored(uint64(l.start)); start.Known() && (!m.At.Known() || start.Millis() < m.At.Millis()) {
		m.At = start
	}
	if end := stored(uint64(l.end)); end.Known() && end.Millis() > m.End.Millis() {
		m.End = end
	}
}

// resultMessage returns the message of one result.
func (s *State) resultMessage(ctx context.Context, p *planned) (*session.Message, error) {
	it := s.items[p.from]
	m := &session.Message{Role: session.Tool}
	var part session.Part
	var d doc
	if it.part >= 0 {
		in, err := s.opened(ctx, p.line)
		if in == nil || err != nil {
			return nil, err
		}
		d = in.doc
		l := &s.lines[p.line]
		m.Origin = s.origin(l.id)
		of := s.only()
		if it.step >= 0 {
			of = session.Source{}
		}
		if i := int(it.part - l.from); i < len(in.parts) && in.parts[i][0] == '"' {
			part = loose([]session.Part{&session.Text{Text: rawjson.Text(in.parts[i])}}, &d, of)[0]
		} else if i < len(in.parts) {
			part = s.docPart(in.parts[i], &d, of)
		}
	}
	result, _ := part.(*session.ToolResult)
	if result == nil {
		result = &session.ToolResult{}
		if part != nil {
			m.Parts = append(m.Parts, part)
		}
	}
	if it.step >= 0 {
		if err := s.stepResult(ctx, it.step, result, m); err != nil {
			return nil, err
		}
	}
	if part == nil || result == part {
		m.Parts = append(m.Parts, result)
	}
	s.finish(m, &d)
	return m, nil
}

// opened is a parsed message of a tool.
type opened struct {
	line  int32
	doc   doc
	parts [][]byte
}

// opened is a parsed message of a tool.
func (s *State) opened(ctx context.Context, line int32) (*opened, error) {
	if s.tool != nil && s.tool.line == line {
		return s.tool, nil
	}
	b, err := s.prompt(ctx, &s.lines[line])
	if b == nil || err != nil {
		return nil, err
	}
	in := &opened{line: line, doc: s.parseDoc(b)}
	in.parts = contentParts(&in.doc)
	s.tool = in
	return in, nil
}

// contentParts returns the elements of a message's content; a text counts as one.
func contentParts(d *doc) (out [][]byte) {
	if rawjson.IsText(d.content) {
		return [][]byte{d.content}
	}
	for part := range rawjson.Elements(d.content) {
		out = append(out, part)
	}
	return out
}

package agentstate

import (
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// docParts returns the content of a message that exists only as a prompt message.
func (s *State) docParts(d *doc, of session.Source) (out []session.Part) {
	switch {
	case len(d.content) == 0:
		return nil
	case d.content[0] == '"':
		return []session.Part{&session.Text{Text: rawjson.Text(d.content), Source: of}}
	case d.content[0] != '[':
		if string(d.content) == "null" {
			return nil
		}
		return []session.Part{&session.Opaque{Kind: "content", Raw: d.content, Source: of}}
	}
	for part := range rawjson.Elements(d.content) {
		out = append(out, s.docPart(part, d, of))
	}
	return out
}

// docPart returns one part of it.
func (s *State) docPart(part []byte, d *doc, of session.Source) session.Part {
	kind := rawjson.TextAt(part, "type")
	switch kind {
	case "text":
		d.part = label{}
		t := s.textPart(part, d, of)
		if d.part.as == "text" {
			if d.whole == nil {
				d.whole = map[*session.Text]bool{}
			}
			d.whole[t] = true
		}
		return d.part.part(t)
	case "reasoning", "redacted-reasoning":
		return s.reasoningPart(part, kind == "redacted-reasoning", d, of)
	case "tool-call":
		return s.callPart(part, d, of)
	case "tool-result":
		return s.resultPart(part, d, of)
	case "image", "file":
		return s.mediaPart(part, d, of)
	}
	s.ledger.carried(1)
	return &session.Opaque{Kind: kind, Raw: part, Source: of}
}

func (s *State) textPart(part []byte, d *doc, of session.Source) *session.Text {
	t := &session.Text{Source: of}
	for name, v := range rawjson.Members(part) {
		switch n := string(name); {
		case n == "type":
			s.ledger.took(1)
		case n == "text" && rawjson.IsText(v):
			t.Text = rawjson.Text(v)
			s.ledger.took(1)
		case n == "providerOptions":
			s.options(v, d, &t.Extras)
		default:
			s.extra(&t.Extras, n, v)
		}
	}
	return t
}

func (s *State) reasoningPart(part []byte, redacted bool, d *doc, of session.Source) *session.Thinking {
	t := &session.Thinking{Source: of, Redacted: redacted}
	for name, v := range rawjson.Members(part) {
		switch n := string(name); {
		case n == "type":
		case n == "text" && rawjson.IsText(v):
			t.Text = rawjson.Text(v)
		case n == "signature" && rawjson.IsText(v):
			t.Signature = rawjson.Text(v)
		case n == "data" && rawjson.IsText(v):
			t.Data = rawjson.Text(v)
		case n == "providerOptions":
			s.options(v, d, &t.Extras)
			continue
		default:
			s.extra(&t.Extras, n, v)
			continue
		}
		s.ledger.took(1)
	}
	return t
}

func (s *State) callPart(part []byte, d *doc, of session.Source) *session.ToolCall {
	t := &session.ToolCall{Source: of}
	d.part = label{}
	var rawArgs []byte
	for name, v := range rawjson.Members(part) {
		switch n := string(name); {
		case n == "type":
		case n == "toolCallId" && rawjson.IsText(v):
			t.ID = rawjson.Text(v)
		case n == "toolName" && rawjson.IsText(v):
			t.Name = rawjson.Text(v)
		case n == "args":
			t.Input = v
		case n == "providerOptions":
			rawArgs = s.options(v, d, &t.Extras)
			continue
		default:
			s.extra(&t.Extras, n, v)
			continue
		}
		s.ledger.took(1)
	}
	if rawArgs != nil {
		if s.scratch = rawjson.AppendText(s.scratch[:0], rawArgs); sameJSON(s.scratch, t.Input) {
			s.ledger.took(1)
		} else {
			s.extra(&t.Extras, "providerOptions.cursor.rawToolCallArgs", rawArgs)
		}
	}
	switch {
	case d.part.unstated:
		t.Input = nil
	case d.part.wrapped:
		t.Input = rawjson.Last(t.Input, "input")
	}
	t.Kind = toolmap.Kind(t.Name) // a step overrides it
	t.Child = s.started[t.ID]
	return t
}

// sameJSON reports whether two JSON texts differ in nothing but white space between
// tokens.
func sameJSON(a, b []byte) bool {
	i, j, quoted := 0, 0, false
	for {
		if !quoted {
			for i < len(a) && a[i] <= ' ' {
				i++
			}
			for j < len(b) && b[j] <= ' ' {
				j++
			}
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		c := a[i]
		if c != b[j] {
			return false
		}
		i, j = i+1, j+1
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			if i == len(a) || j == len(b) || a[i] != b[j] {
				return false
			}
			i, j = i+1, j+1
		}
	}
}

func (s *State) resultPart(part []byte, d *doc, of session.Source) *session.ToolResult {
	t := &session.ToolResult{Source: of}
	var shown []byte
	for name, v := range rawjson.Members(part) {
		switch n := string(name); {
		case n == "type", n == "toolName": // the call has the name
		case n == "toolCallId" && rawjson.IsText(v):
			t.Call = rawjson.Text(v)
		case n == "isError" && (string(v) == "true" || string(v) == "false"):
			t.Error = string(v) == "true"
		case n == "result":
			t.Content = s.resultContent(v, d)
		case n == "experimental_content" && v[0] == '[':
			shown = v
		case n == "providerOptions":
			s.options(v, d, &t.Extras)
			continue
		default:
			s.extra(&t.Extras, n, v)
			continue
		}
		s.ledger.took(1)
	}
	more := s.resultContent(shown, d)
	if len(more) == 0 {
		return t
	}
	told := map[string]bool{}
	for _, p := range t.Content {
		if text, ok := p.(*session.Text); ok {
			told[text.Text] = true
		}
	}
	if covers(more, t.Content) {
		t.Content = more
		return t
	}
	for _, p := range more {
		text, ok := p.(*session.Text)
		if ok && len(text.Extras) == 0 && told[text.Text] {
			continue
		}
		if t.Content = append(t.Content, p); ok {
			told[text.Text] = true
		}
	}
	return t
}

// covers reports whether a list holds all of another, which is nothing but texts.
func covers(list, texts []session.Part) bool {
	i := 0
	for _, p := range list {
		if text, ok := p.(*session.Text); ok && i < len(texts) && len(text.Extras) == 0 {
			if want, ok := texts[i].(*session.Text); ok && want.Text == text.Text && len(want.Extras) == 0 {
				i++
			}
		}
	}
	return i == len(texts)
}

// resultContent returns what the model was shown.
func (s *State) resultContent(v []byte, d *doc) (out []session.Part) {
	switch {
	case len(v) == 0:
		return nil
	case rawjson.IsText(v):
		return []session.Part{&session.Text{Text: rawjson.Text(v)}}
	case v[0] == '[':
		for e := range rawjson.Elements(v) {
			switch kind := rawjson.TextAt(e, "type"); kind {
			case "text":
				out = append(out, s.textPart(e, d, session.Source{}))
			case "image", "file":
				out = append(out, s.mediaPart(e, d, session.Source{}))
			default:
				out = append(out, &session.Opaque{Kind: kind, Raw: e})
			}
		}
		return out
	}
	return []session.Part{&session.Opaque{Kind: "result", Raw: v}}
}

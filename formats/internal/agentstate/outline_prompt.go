package agentstate

import (
	"context"

	"rehome/formats/internal/envelope"
	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/internal/rawjson"
)

// maxLinks is how deep links may be nested.
const maxLinks = 32

// outlinePrompt reads the blob that a reference to a prompt message leads to, and passes
// each message to add. In stores of 2025 the blob can be a link: more such references, and
// perhaps a message after them.
func (s *State) outlinePrompt(ctx context.Context, id ID, depth int, add func(line)) error {
	b, err := s.read(ctx, id, "prompt message")
	if b == nil || err != nil {
		return err
	}
	doc, repaired, err := rawjson.Line(b)
	if err == nil && len(doc) > 0 && doc[0] == '{' {
		if repaired {
			s.note(loss.TextRepaired)
		}
		s.ledger.mark(id, claimed)
		l := s.outlineDoc(id, doc)
		l.clean = len(doc) == len(b) && &doc[0] == &b[0]
		add(l)
		return nil
	}
	refs, tail := links(b)
	if len(refs) == 0 || depth >= maxLinks {
		s.spoiled(loss.PromptNotObject)
		return nil
	}
	s.ledger.mark(id, claimed)
	s.ledger.took(int64(len(refs)))
	last, hasTail := s.outlineTail(id, b, tail)
	for _, r := range refs {
		if s.ledger.spent {
			break
		}
		if err := s.outlinePrompt(ctx, r, depth+1, add); err != nil {
			return err
		}
	}
	if hasTail {
		add(last)
	}
	return nil
}

// links returns the references that a blob begins with, and where they end.
func links(b []byte) (refs []ID, tail int) {
	m := codecs().root
	for r := wire.Read(b); r.Next() && m.Message.Field(r.Num) != nil && m.Message.Field(r.Num).Name == "rootPromptMessagesJson"; {
		id, ok := wire.AsID(r.Body)
		if !ok {
			break
		}
		refs, tail = append(refs, id), tail+len(r.Raw)
	}
	return refs, tail
}

// outlineTail outlines a message that follows references in a blob.
func (s *State) outlineTail(id ID, b []byte, tail int) (l line, ok bool) {
	if tail == len(b) {
		return l, false
	}
	doc, _, err := rawjson.Line(b[tail:])
	if err != nil || len(doc) == 0 || doc[0] != '{' {
		s.note(loss.LinkNotObject)
		return l, false
	}
	l = s.outlineDoc(id, doc)
	l.tail = int32(tail)
	return l, true
}

func (s *State) outlineDoc(id ID, doc []byte) line {
	l := line{id: id, turn: -1, archive: -1, asked: -1, from: int32(len(s.parts))}
	var ask asker
	var content []byte
	aside, parts := false, false
	for name, value := range rawjson.Members(doc) {
		switch string(name) {
		case "role":
			l.role = roleOf(value)
		case "content":
			content = value
		case "providerOptions":
			own := rawjson.Last(value, "cursor")
			l.summary = string(rawjson.Last(own, "isSummary")) == "true"
			request := rawjson.Last(own, "requestId")
			ask.request, ask.requestID = s.hashJSON(request), rawjson.Text(request)
			marked := rawjson.Last(value, MarkName)
			aside = string(rawjson.Last(marked, "simulated")) == "true" || string(rawjson.Last(marked, "aside")) == "true" || rawjson.Last(marked, "role") != nil
			parts = string(rawjson.Last(marked, "parts")) == "true"
			for _, name := range [...]string{"message", "turn"} {
				if id := rawjson.Last(marked, name); id != nil {
					ask.message = s.hashJSON(id)
				}
			}
		}
	}
	switch l.role {
	case userRole:
		ask.text, l.content = s.outlineUser(content)
		if l.content = (l.content || parts) && !aside; aside {
			ask.text = 0
		}
	case assistantRole, toolRole:
		s.outlineParts(content)
	}
	l.to = int32(len(s.parts))
	if ask != (asker{}) {
		l.asked = int32(len(s.askers))
		s.askers = append(s.askers, ask)
	}
	return l
}

func roleOf(value []byte) role {
	switch string(value) {
	case `"system"`:
		return systemRole
	case `"user"`:
		return userRole
	case `"assistant"`:
		return assistantRole
	case `"tool"`:
		return toolRole
	}
	return unknownRole
}

// outlineUser hashes what the user typed, and reports whether the message holds more than
// context.
func (s *State) outlineUser(content []byte) (text uint64, some bool) {
	var typed []byte
	said := func(text string) {
		if len(typed) > 0 {
			typed = append(typed, '\n')
		}
		typed = append(typed, text...)
	}
	add := func(value []byte) {
		for _, p := range envelope.Split(rawjson.Text(value)) {
			if p.Prompt() {
				said(p.Text)
			}
		}
	}
	if rawjson.IsText(content) {
		add(content)
	}
	for part := range rawjson.Elements(content) {
		if string(rawjson.Last(part, "type")) == `"text"` {
			text := rawjson.Last(part, "text")
			switch as := rawjson.At(part, "providerOptions", MarkName, "as"); string(as) {
			case `"text"`:
				said(rawjson.Text(text))
			case "":
				add(text)
			}
		} else {
			some = true
		}
	}
	text = s.hash(typed)
	return text, some || text != 0
}

func (s *State) outlineParts(content []byte) {
	if rawjson.IsText(content) {
		s.parts = append(s.parts, partLine{kind: textPart, key: s.hashJSON(content), step: -1})
		return
	}
	for part := range rawjson.Elements(content) {
		p := partLine{step: -1}
		var text, call []byte
		for name, value := range rawjson.Members(part) {
			switch string(name) {
			case "type":
				p.kind = partKindOf(value)
			case "text":
				text = value
			case "toolCallId":
				call = value
			}
		}
		switch p.kind {
		case textPart, thinkingPart:
			p.key = s.hashJSON(text)
		case callPart, resultPart:
			p.key = s.hashJSON(call)
			s.scratch = rawjson.AppendText(s.scratch[:0], call)
			p.call = s.names.add(s.scratch, p.key)
		}
		s.parts = append(s.parts, p)
	}
}

func partKindOf(value []byte) partKind {
	switch string(value) {
	case `"text"`:
		return textPart
	case `"reasoning"`:
		return thinkingPart
	case `"tool-call"`:
		return callPart
	case `"tool-result"`:
		return resultPart
	}
	return otherPart
}

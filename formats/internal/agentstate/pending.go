package agentstate

import (
	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// pending is a JSON message in the root itself. Current clients store messages there whose
// calls have no result yet, clients of 2025 any kind.
type pending struct {
	raw   []byte
	line  line   // its outline, until the plan is made
	told  []bool // by part: the conversation has it already
	fresh bool   // it holds something new
}

// pendingDoc returns a pending message as valid JSON, nil if it is not JSON.
func pendingDoc(raw []byte) []byte {
	b, _, err := rawjson.Line(raw)
	if err != nil || len(b) == 0 || b[0] != '{' {
		return nil
	}
	return b
}

// outlinePending outlines the pending messages.
func (s *State) outlinePending() {
	for i := range s.root.pending {
		if m := &s.root.pending[i]; pendingDoc(m.raw) != nil {
			m.line = s.outlineDoc(s.root.id, pendingDoc(m.raw))
		}
	}
}

// settlePending determines which parts of the pending messages are in the conversation
// already, and plans the rest at its end. A message that shares a call with the
// conversation can repeat any of it, others only what was said since the last prompt.
func (s *State) settlePending() {
	if len(s.root.pending) == 0 {
		return
	}
	all, since, prompt := s.said()
	for i := range s.root.pending {
		m := &s.root.pending[i]
		switch text := s.asker(&m.line).text; m.line.role {
		case unknownRole:
			m.fresh = true
		case userRole:
			m.fresh = m.line.content && (text == 0 || text != prompt)
		default:
			m.fresh = odd(rawjson.Last(pendingDoc(m.raw), "content"))
		}
		parts := s.parts[m.line.from:m.line.to]
		said := since
		for k := range parts {
			if parts[k].kind == callPart && all[tie(callPart, parts[k].key)] {
				said = all
			}
		}
		for k := range parts {
			p := &parts[k]
			told := p.key != 0 && said[tie(p.kind, p.key)]
			m.told = append(m.told, told)
			m.fresh = m.fresh || !told && (p.key != 0 || p.kind == otherPart)
		}
		if m.fresh {
			s.plan = append(s.plan, planned{kind: planPending, turn: -1, line: -1, from: int32(i)})
		}
	}
}

// odd reports content that is neither a text nor a list.
func odd(content []byte) bool {
	return len(content) > 0 && content[0] != '"' && content[0] != '[' && string(content) != "null"
}

// pendingCalls returns the calls that occur only in a pending message.
func (s *State) pendingCalls(m *pending) (calls []string) {
	for k, told := range m.told {
		if p := s.spoken[int(m.line.from)+k]; p.kind == callPart && !told {
			calls = append(calls, string(s.names.get(p.call)))
		}
	}
	return calls
}

// said returns the keys of everything in the conversation, of what was said since the last
// prompt, and of that prompt.
func (s *State) said() (all, since map[uint64]bool, prompt uint64) {
	all, since = map[uint64]bool{}, map[uint64]bool{}
	last := len(s.lines) - 1
	for last >= 0 && !(s.lines[last].role == userRole && s.lines[last].content) {
		last--
	}
	if last >= 0 {
		prompt = s.asker(&s.lines[last]).text
	}
	enter := func(key uint64, late bool) {
		all[key] = true
		if late {
			since[key] = true
		}
	}
	for i := range s.lines {
		for k := s.lines[i].from; k < s.lines[i].to; k++ {
			enter(tie(s.parts[k].kind, s.parts[k].key), i > last)
		}
	}
	for t := range s.turns {
		for i := s.turns[t].from; i < s.turns[t].to; i++ {
			enter(s.tied(i), t == len(s.turns)-1)
			if s.steps[i].result {
				enter(tie(resultPart, s.keys[i]), t == len(s.turns)-1)
			}
		}
	}
	if n := len(s.turns); n > 0 && prompt == 0 {
		prompt = s.turns[n-1].text
	}
	return all, since, prompt
}

// pendingMessage returns the message with the new parts of a pending one.
func (s *State) pendingMessage(p *planned) (*session.Message, error) {
	s.at = s.root.id
	in := &s.root.pending[p.from]
	b := pendingDoc(in.raw)
	if b == nil {
		s.note(loss.PendingNotJSON)
		return nil, nil
	}
	d := s.parseDoc(b)
	m := &session.Message{Role: session.Assistant, Origin: s.origin(s.root.id)}
	if d.role != unknownRole {
		m.Role = d.role.speaker()
	}
	if d.role == userRole {
		s.typed(m, &d, nil)
	} else {
		for i, part := range s.docParts(&d, session.Source{}) {
			if i >= len(in.told) || !in.told[i] {
				m.Parts = append(m.Parts, part)
			}
		}
	}
	if len(m.Parts) == 0 {
		m.Parts = []session.Part{&session.Opaque{Kind: "pending message", Raw: b}}
		return m, nil
	}
	s.finish(m, &d)
	return m, nil
}

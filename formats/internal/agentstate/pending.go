package agentstate

import (
	"cmp"
	"slices"

	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
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
// conversation can repeat any of it, others only what was said last: the same words before
// another call are those of another answer.
func (s *State) settlePending() {
	if len(s.root.pending) == 0 {
		return
	}
	forms, prompt := s.said()
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
		shares := slices.ContainsFunc(parts, func(p partLine) bool {
			return p.kind == callPart && p.key != 0 && (forms[0].at[tie(callPart, p.key)] > 0 || forms[1].at[tie(callPart, p.key)] > 0)
		})
		for k := range parts {
			p, told := &parts[k], false
			for f := range forms {
				at := forms[f].at[tie(p.kind, p.key)]
				told = told || p.key != 0 && at > 0 && (shares || at > forms[f].last)
			}
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

// told is what one of the two forms of a conversation says: where each key was last.
type told struct {
	at      map[uint64]int
	n, last int // last: the place of the last prompt, call or result
}

func (t *told) enter(kind partKind, key uint64) {
	if t.n++; kind == callPart || kind == resultPart {
		t.last = t.n
	}
	t.at[tie(kind, key)] = t.n
}

// said returns what the conversation says, as prompt messages and as steps, and the key of
// its last prompt.
func (s *State) said() (forms [2]told, prompt uint64) {
	spoken, steps := &forms[0], &forms[1]
	spoken.at, steps.at = map[uint64]int{}, map[uint64]int{}
	for t := range s.turns {
		steps.last, prompt = steps.n, s.turns[t].text
		for i := s.turns[t].from; i < s.turns[t].to; i++ {
			steps.enter(s.steps[i].kind, s.keys[i])
			if s.steps[i].result {
				steps.enter(resultPart, s.keys[i])
			}
		}
	}
	asked := uint64(0)
	for i := range s.lines {
		if l := &s.lines[i]; l.role == userRole && l.content {
			spoken.last, asked = spoken.n, s.asker(l).text
		}
		for k := s.lines[i].from; k < s.lines[i].to; k++ {
			spoken.enter(s.parts[k].kind, s.parts[k].key)
		}
	}
	return forms, cmp.Or(asked, prompt)
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

package agentstate

import (
	"context"
	"encoding/binary"
	"iter"
	"strconv"

	"rehome/formats/session"
)

// Messages yields the whole conversation: system prompts, archived messages with a
// boundary after each archive, the turns, and finally abandoned turns. It can be iterated
// once.
func (s *State) Messages(ctx context.Context) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		if !s.walk(ctx, 0, 0, yield) {
			return
		}
		for i := range s.branches {
			b := &s.branches[i]
			parent := b.grew
			marked := func(m *session.Message, err error) bool {
				if m != nil {
					m.Branch, m.Parent, m.Archived = b.name, parent, false
					parent = ""
				}
				return yield(m, err)
			}
			if !b.state.walk(ctx, b.from, b.first, marked) {
				return
			}
		}
	}
}

// walk yields the planned messages from the given one on. number is how many turns begin
// before it.
func (s *State) walk(ctx context.Context, from, number int, yield func(*session.Message, error) bool) bool {
	archived := 0
	for i := range s.plan[from:] {
		p := &s.plan[from+i]
		if p.starts {
			number++
		}
		m, err := s.message(ctx, p, archived)
		if err != nil {
			yield(nil, err)
			return false
		}
		if m == nil {
			continue
		}
		m.ID, m.Archived = s.nameOf(p), p.archived
		if p.kind == planBoundary {
			archived = 0
		} else if m.Archived {
			archived++
		}
		if p.starts {
			if m.Turn == nil {
				m.Turn = &session.Turn{}
			}
			m.Turn.Number = number
		}
		if !yield(m, nil) {
			return false
		}
	}
	return true
}

// message returns a planned message; nil if nothing is left of it.
func (s *State) message(ctx context.Context, p *planned, archived int) (*session.Message, error) {
	switch p.kind {
	case planLine:
		return s.lineMessage(ctx, p)
	case planUser:
		return s.userMessage(ctx, p)
	case planAnswer:
		return s.answerMessage(ctx, p)
	case planResult:
		return s.resultMessage(ctx, p)
	case planShell:
		return s.shellMessage(ctx, p)
	case planBoundary:
		return s.boundary(ctx, p, archived)
	}
	return s.pendingMessage(p)
}

// nameAll assigns ids to messages: the beginning of the id of their first record, with a
// number if the conversation has that record more than once.
func (s *State) nameAll(plan []planned) {
	for i := range plan {
		id := s.firstRecord(&plan[i])
		key := binary.BigEndian.Uint64(id[:])
		s.used[key]++
		plan[i].nth = s.used[key]
	}
}

// nameOf returns the id of a planned message.
func (s *State) nameOf(p *planned) string {
	id := s.firstRecord(p)
	if p.nth > 1 {
		return id.Short() + "-" + number(int(p.nth))
	}
	return id.Short()
}

// firstRecord returns the record that gives a message its id: the prompt message, which is
// stored first while a turn runs, else the turn's.
func (s *State) firstRecord(p *planned) (id ID) {
	switch {
	case p.line >= 0:
		return s.lines[p.line].id
	case p.kind == planAnswer, p.kind == planResult:
		id = s.steps[s.items[p.from].step].id
	case p.kind == planShell:
		id = s.turns[p.turn].output
	case p.kind == planUser:
		if id = s.turns[p.turn].id; s.turns[p.turn].user != (ID{}) {
			id = s.turns[p.turn].user
		}
	}
	if id == (ID{}) {
		return s.root.id
	}
	return id
}

func number(n int) string { return strconv.Itoa(n) }

// lineMessage returns a message that consists of a prompt message alone.
func (s *State) lineMessage(ctx context.Context, p *planned) (*session.Message, error) {
	l := &s.lines[p.line]
	b, err := s.prompt(ctx, l)
	if b == nil || err != nil {
		return nil, err
	}
	d := s.parseDoc(b)
	m := &session.Message{Role: d.role.speaker(), Origin: s.origin(l.id)}
	if d.role == userRole {
		s.typed(m, &d, nil)
		m.Simulated = !l.content && !d.mark.aside
		if d.mark.role != "" {
			m.Role, m.Simulated = d.mark.role, false
		}
	} else {
		m.Parts = s.docParts(&d, s.only())
	}
	if d.role == toolRole {
		m.Parts = loose(m.Parts, &d, s.only())
	}
	s.finish(m, &d)
	if p.starts {
		m.Turn = &session.Turn{RequestID: d.request}
	} else if d.request != "" {
		m.Extras = append(m.Extras, session.Extra{Name: "providerOptions.cursor.requestId", Raw: quoted(d.request)})
	}
	return m, nil
}

// finish sets what a prompt message says of the message as a whole.
func (s *State) finish(m *session.Message, d *doc) {
	m.Model = d.model
	m.Extras = append(m.Extras, d.extras...)
	if !m.At.Known() || m.At.Inferred() && d.at.Known() {
		m.At = d.at
	} else if d.at.Known() && d.at != m.At {
		m.Extras = append(m.Extras, session.Extra{Name: "createdAt", Raw: strconv.AppendInt(nil, d.at.Millis(), 10)})
	}
	d.mark.times(m)
}

// speaker returns the role of a session's message.
func (r role) speaker() session.Role {
	switch r {
	case systemRole:
		return session.System
	case assistantRole:
		return session.Assistant
	case toolRole:
		return session.Tool
	}
	return session.User
}

// loose wraps the parts of a tool's message in a result, unless one of them is a result.
func loose(parts []session.Part, d *doc, of session.Source) []session.Part {
	for _, p := range parts {
		if _, ok := p.(*session.ToolResult); ok {
			return parts
		}
	}
	call := ""
	if len(d.id) > 2 && d.id[0] == '"' {
		call = string(d.id[1 : len(d.id)-1])
	}
	for _, p := range parts {
		if t, ok := p.(*session.Text); ok {
			t.From = ""
		}
	}
	return []session.Part{&session.ToolResult{Call: call, Content: parts, Source: of}}
}

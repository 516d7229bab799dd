package claudecode

import (
	"rehome/formats/claudecode/internal/tools"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// write writes the response, and the results that have come so far.
func (e *encoder) write(s *step) {
	if s.written {
		return
	}
	s.written = true
	e.held -= s.held
	s.held = 0
	if len(s.blocks) == 0 {
		return
	}
	if !e.begun {
		e.note(loss.FirstPromptAdded)
		e.opening(s.at)
	}
	stop := "end_turn"
	for _, b := range s.blocks {
		if c := b.call; c != nil {
			stop = "tool_use"
			if c.waits {
				c.waits = false
				s.waits--
				e.translate(c, nil)
			}
		}
	}
	e.unit()
	id := "msg_" + digits(24, "message", e.id, e.agent, itoa(e.lines))
	for _, b := range s.blocks {
		e.response(s, id, stop, b)
	}
	for _, a := range s.answers {
		e.reply(a)
	}
	s.answers = nil
	for i := range s.blocks { // what is written need not be kept
		s.blocks[i].raw = nil
		if c := s.blocks[i].call; c != nil && c.answered {
			c.src, c.native = session.ToolCall{ID: c.src.ID}, tools.Native{}
		}
	}
}

const noUsage = `{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}`

// response writes one block of a response on a line of its own.
func (e *encoder) response(s *step, id, stop string, b block) {
	model := "<synthetic>" // resumes with the user's own model, without a warning
	if ownModel(s.model) {
		model = s.model
	}
	line := e.chained("assistant", s.at, func(p *pen) {
		p.name("message")
		in := object(p.b)
		in.text("id", id)
		in.text("type", "message")
		in.text("role", "assistant")
		in.text("model", model)
		in.name("content")
		in.b = append(in.b, '[')
		if c := b.call; c != nil {
			use := object(in.b)
			use.text("type", "tool_use")
			use.text("id", c.id)
			use.text("name", c.native.Name)
			use.raw("input", c.native.Input)
			in.b = use.done()
		} else {
			in.b = append(in.b, b.raw...)
		}
		in.b = append(in.b, ']')
		in.text("stop_reason", stop)
		in.raw("stop_sequence", []byte("null"))
		in.raw("usage", []byte(noUsage))
		p.b = in.done()
		e.mark(p, &s.head, func(p *pen) {
			p.filled("part", b.kind)
			if s.head.Model == "" && s.model != model {
				p.filled("model", s.model)
			}
			if c := b.call; c != nil {
				if c.id != c.src.ID {
					p.text("call", c.src.ID)
				}
				p.text("tool", c.src.Name)
				p.filled("kind", c.src.Kind)
				p.filled("child", c.src.Child)
				if was := e.wrote(c); was != nil {
					p.raw("input", was)
				}
			}
		})
	})
	if b.call != nil {
		b.call.line = line
	}
}

// mostInput is how much of a call's own arguments is kept beside it.
const mostInput = 64 << 10

// wrote are the arguments of a call as they were, where those of Claude Code's
// own tool do not say them all.
func (e *encoder) wrote(c *call) []byte {
	was := c.src.Input
	switch {
	case e.own || !c.native.Own:
		return nil
	case len(was) > 0 && c.native.Exact:
		return nil
	case len(was) == 0 && tools.Waits(c.src.Kind, nil, nil):
		return nil // the client's own record of an edit: what it changed is said
	case len(was) == 0:
		was = c.src.Args
	}
	if len(was) > mostInput {
		e.note(loss.ArgumentsDropped)
		return nil
	}
	if len(was) == 0 {
		return nil
	}
	return was
}

// reply writes a result.
func (e *encoder) reply(a answer) {
	e.chained("user", a.at, func(p *pen) {
		p.name("message")
		p.b = append(append(append(p.b, `{"role":"user","content":[`...), a.body...), `]}`...)
		if len(a.ui) > 0 {
			p.raw("toolUseResult", a.ui)
		}
		p.text("sourceToolAssistantUUID", a.call.line)
		if a.id != "" {
			e.mark(p, &session.Message{ID: a.id}, nil)
		}
	})
}

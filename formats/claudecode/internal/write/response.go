package write

import (
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/tools"
	"rehome/formats/internal/object"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// write writes a response and its results so far.
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
	for i := range s.blocks { // frees what is written
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
	if outline.KnownModel(s.model) {
		model = s.model
	}
	line := e.chained("assistant", s.at, func(p *object.Writer) {
		p.Name("message")
		in := object.New(p.B)
		in.Text("id", id)
		in.Text("type", "message")
		in.Text("role", "assistant")
		in.Text("model", model)
		in.Name("content")
		in.B = append(in.B, '[')
		if c := b.call; c != nil {
			use := object.New(in.B)
			use.Text("type", "tool_use")
			use.Text("id", c.id)
			use.Text("name", c.native.Name)
			use.Raw("input", c.native.Input)
			in.B = use.Done()
		} else {
			in.B = append(in.B, b.raw...)
		}
		in.B = append(in.B, ']')
		in.Text("stop_reason", stop)
		in.Raw("stop_sequence", []byte("null"))
		in.Raw("usage", []byte(noUsage))
		p.B = in.Done()
		e.mark(p, &s.head, func(p *object.Writer) {
			p.NonEmpty("part", b.kind)
			if s.head.Model == "" && s.model != model {
				p.NonEmpty("model", s.model)
			}
			if c := b.call; c != nil {
				if c.id != c.src.ID {
					p.Text("call", c.src.ID)
				}
				p.Text("tool", c.src.Name)
				p.NonEmpty("kind", c.src.Kind)
				p.NonEmpty("child", c.src.Child)
				if was := e.wrote(c); was != nil {
					p.Raw("input", was)
				}
			}
		})
	})
	if c := b.call; c != nil {
		c.line = line
		e.send(len(c.native.Name) + len(c.native.Input))
	} else {
		e.send(len(b.raw))
	}
}

// maxInput is the maximum size of the original arguments that are kept with a call.
const maxInput = 64 << 10

// wrote returns the original arguments of a call if those of the tool of Claude Code
// do not contain them.
func (e *encoder) wrote(c *call) []byte {
	was := c.src.Input
	switch {
	case e.own || !c.native.Own:
		return nil
	case len(was) > 0 && c.native.Exact:
		return nil
	case len(was) == 0 && tools.Waits(c.src.Kind, nil, nil) && len(c.native.Left) == 0:
		return nil // the record of an edit, whose change is in the arguments
	case len(was) == 0:
		was = c.src.Args
	}
	if len(was) > maxInput {
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
	e.send(len(a.body))
	e.chained("user", a.at, func(p *object.Writer) {
		p.Name("message")
		p.B = append(append(append(p.B, `{"role":"user","content":[`...), a.body...), `]}`...)
		if len(a.ui) > 0 {
			p.Raw("toolUseResult", a.ui)
		}
		p.Text("sourceToolAssistantUUID", a.call.line)
		if a.id != "" {
			e.mark(p, &session.Message{ID: a.id}, nil)
		}
	})
}

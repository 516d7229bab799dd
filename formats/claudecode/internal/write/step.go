package write

import (
	"bytes"
	"strings"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/tools"
	"rehome/formats/internal/object"
	"rehome/formats/internal/toolmap"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
)

// maxHeld is the maximum size of responses that wait in memory for their results.
const maxHeld = 8 << 20

// step is one model response, and the results of its calls. Steps are written in
// order, so later ones wait for the results of the first, until the next turn.
type step struct {
	at      session.Stamp
	model   string
	head    session.Message // id and model of the message
	blocks  []block
	answers []answer
	held    int // bytes of blocks and answers
	late    int // bytes of what follows them
	written bool
	left    int // calls without a result
	waits   int // calls that are translated only with their results
	after   []func()
}

// block is one line of a response.
type block struct {
	raw  []byte // content; nil for a call
	kind string // kind of a part that was converted to text
	call *call
}

type call struct {
	of       *step
	src      session.ToolCall
	id       string
	native   tools.Native
	waits    bool
	answered bool
	line     string // uuid of its line
}

// answer is a result that waits for its response to be written.
type answer struct {
	at   session.Stamp
	call *call
	body []byte
	ui   []byte
	id   string // id of the message
}

// answer adds parts of a response to its step.
func (e *encoder) answer(m *session.Message, run []session.Part) {
	if s := e.step; s == nil || s.head.ID != m.ID || s.written || len(s.after) > 0 {
		model := m.Model
		if model == "" && m.Turn != nil {
			model = m.Turn.Model
		}
		if model == "" {
			model = e.s.Model
		}
		e.step = &step{at: m.At, model: model, head: session.Message{ID: m.ID, Model: m.Model}}
		e.steps = append(e.steps, e.step)
	}
	for _, p := range run {
		switch t := p.(type) {
		case *session.ToolCall:
			e.call(t)
		case *session.Thinking:
			e.thinking(t)
		case *session.Media:
			// An answer cannot contain an image.
			if block, text := e.media(t); block != nil && text == "" {
				e.note(loss.AnswerImage)
				e.send(len(block) - imageBytes) // it is not sent
			} else if block != nil {
				e.add(block, "media")
			}
		default:
			kind := ""
			if _, given := p.(*session.Injected); given {
				kind = "context"
			}
			if block, _ := e.spoken(p); block != nil {
				e.add(block, kind)
			}
		}
	}
	e.advance()
}

func (e *encoder) add(raw []byte, kind string) {
	e.step.blocks = append(e.step.blocks, block{raw: raw, kind: kind})
	e.hold(e.step, len(raw))
}

func (e *encoder) hold(s *step, n int) {
	s.held += n
	e.held += n
}

// thinking is kept if the client can send it: with its signature, to the model that
// signed it. The API rejects any other.
func (e *encoder) thinking(t *session.Thinking) {
	e.extras(t.Extras)
	genuine := e.own && outline.KnownModel(e.step.model)
	p := object.New(nil)
	switch {
	case genuine && t.Redacted && t.Data != "":
		p.Text("type", "redacted_thinking")
		p.Text("data", t.Data)
		e.add(p.Done(), "")
		return
	case genuine && t.Signature != "":
		p.Text("type", "thinking")
		p.Text("thinking", t.Text)
		p.Text("signature", t.Signature)
		e.add(p.Done(), "")
		return
	case outline.Blank(t.Text):
		if t.Signature != "" || t.Data != "" {
			e.note(loss.ThinkingHidden)
		} else if t.Redacted {
			e.note(loss.ThinkingRedacted)
		}
		return
	case e.b.DropThinking:
		e.note(loss.ThinkingUnsigned)
		return
	}
	e.note(loss.ThinkingAsText)
	block, _ := e.block("<thinking>\n" + t.Text + "\n</thinking>")
	e.add(block, "thinking")
}

// call adds a call, with an id and a name that the API accepts.
func (e *encoder) call(t *session.ToolCall) {
	e.extras(t.Extras)
	c := &call{of: e.step, src: *t, id: e.callID(t.ID)}
	c.src.Input, c.src.Args = bytes.Clone(t.Input), bytes.Clone(t.Args)
	if c.src.Kind == "" && !e.own {
		c.src.Kind = toolmap.Kind(t.Name)
	}
	c.waits = !e.own && tools.Waits(c.src.Kind, t.Input, t.Args)
	if c.waits {
		e.step.waits++
	} else {
		e.translate(c, nil)
	}
	e.hold(e.step, len(c.src.Input)+len(c.src.Args)+len(c.native.Input))
	e.step.blocks = append(e.step.blocks, block{call: c})
	e.step.left++
	e.open[t.ID] = append(e.open[t.ID], c)
}

// translate finds the tool of Claude Code for a call.
func (e *encoder) translate(c *call, value []byte) {
	if e.own {
		c.native = tools.Native{Name: c.src.Name, Input: c.src.Input, Own: true, Exact: true}
		if len(c.native.Input) == 0 || c.native.Input[0] != '{' {
			c.native = tools.Claude("", "", c.src.Name, c.src.Input, c.src.Args, nil)
		}
	} else {
		c.native = tools.Claude(e.s.Workspace, c.src.Kind, c.src.Name, c.src.Input, c.src.Args, value)
	}
	asked := c.native.Name
	if c.native.Name = toolName(asked); c.native.Name != asked {
		e.note(loss.ToolNameChanged, shortName(asked))
	}
	for _, argument := range c.native.Left {
		e.note(loss.ArgumentLeft, shortName(argument), shortName(c.src.Name))
	}
	if c.native.Moved {
		e.note(loss.FolderInCommand)
	}
	switch {
	case !c.native.Own:
		e.note(loss.ToolUnknown)
		if !c.native.Exact {
			e.note(loss.ArgumentsRepaired)
		}
	case c.native.Replaced:
		e.note(loss.ArgumentsRepaired)
	case c.native.Reshaped:
		e.note(loss.ArgumentsRenamed)
	case c.native.Name != c.src.Name, len(c.src.Input) > 0 && !bytes.Equal(c.native.Input, c.src.Input) && c.native.Exact && !c.native.Moved:
		e.note(loss.ToolRenamed)
	}
}

// shortName bounds a name of the source that a report shows.
func shortName(s string) string { return rule.Truncate(strings.ToValidUTF8(s, "\uFFFD"), 80) }

// callID returns a unique id for a call, and reports a change.
func (e *encoder) callID(id string) string {
	out := e.fresh(id)
	if out != id {
		e.note(loss.CallIDChanged)
	}
	return out
}

// fresh returns an id that no call of the session has yet.
func (e *encoder) fresh(id string) string {
	out := knownID(id)
	for e.ids[out] {
		e.repeats[id]++
		out = "toolu_" + digits(24, "call", id, itoa(e.repeats[id]+1))
	}
	e.ids[out] = true
	return out
}

// find returns the first call with an id that has no result yet, and marks it as
// answered.
func (e *encoder) find(id string) *call {
	list := e.open[id]
	if len(list) == 0 {
		return nil
	}
	c := list[0]
	c.answered = true
	c.of.left--
	if e.open[id] = list[1:]; len(list) == 1 {
		delete(e.open, id)
	}
	return c
}

// advance writes what is complete, in order: a response once none of its calls
// waits, and what follows once all of its calls have results.
func (e *encoder) advance() {
	for e.held > maxHeld && len(e.steps) > 0 {
		if s := e.steps[0]; s.written {
			e.finish()
		} else {
			e.write(s)
		}
	}
	for len(e.steps) > 0 {
		s := e.steps[0]
		if !s.written && s.waits > 0 {
			return
		}
		if e.write(s); s.left > 0 {
			return
		}
		e.finish()
	}
}

// finish ends the first step. Every call needs a result before the next message.
func (e *encoder) finish() {
	s := e.steps[0]
	e.write(s)
	for _, b := range s.blocks {
		if c := b.call; c != nil && !c.answered {
			e.note(loss.ResultAdded)
			e.find(c.src.ID)
			p := object.New(nil)
			p.Text("type", "tool_result")
			p.Text("tool_use_id", c.id)
			p.Text("content", "(No result of this call was kept.)")
			p.Flag("is_error", true)
			e.reply(answer{at: s.at, call: c, body: p.Done(), ui: []byte(`"Error: no result of this call was kept"`)})
		}
	}
	e.held -= s.late
	if e.steps = e.steps[1:]; len(e.steps) == 0 {
		e.step = nil
	}
	for _, write := range s.after {
		write()
	}
}

// close ends all steps.
func (e *encoder) close() {
	for len(e.steps) > 0 {
		e.finish()
	}
}

// later runs write once all open calls have their results.
func (e *encoder) later(size int, write func()) {
	if e.step == nil {
		write()
		return
	}
	e.behind(e.step, size, write)
	e.advance()
}

// behind runs write once all calls of a step have their results.
func (e *encoder) behind(s *step, size int, write func()) {
	s.after = append(s.after, write)
	s.late += size
	e.held += size
}

package write

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/tools"
	"rehome/formats/internal/cursortools"
	"rehome/formats/internal/object"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// result adds the result of a call. It is written after its response.
func (e *encoder) result(m *session.Message, r *session.ToolResult) {
	e.extras(r.Extras)
	c := e.find(r.Call)
	if c == nil {
		if !e.printed(m, r) {
			e.stray(m, r)
		}
		return
	}
	if c.of != e.step {
		e.note(loss.ResultMoved)
	}
	r = changed(c, r)
	if c.waits {
		c.waits = false
		c.of.waits--
		e.translate(c, r.Value)
	}
	shown, body, images := e.shown(c, r)
	a := answer{at: m.At, call: c, body: body, id: m.ID, ui: e.drawn(c, r, shown)}
	if c.of.written {
		e.reply(a)
		c.src, c.native = session.ToolCall{ID: c.src.ID}, tools.Native{}
	} else {
		c.of.answers = append(c.of.answers, a)
		e.hold(c.of, len(a.body)+len(a.ui))
	}
	for _, image := range images {
		e.note(loss.ResultMediaMoved)
		head := &session.Message{ID: m.ID, Model: m.Model, At: m.At}
		e.behind(c.of, len(image), func() { e.user(userLine{m: head, blocks: [][]byte{image}, meta: true}) })
	}
	e.advance()
}

// changed adds the content of an edited file, before and after, to a result whose
// record only names the file.
func changed(c *call, r *session.ToolResult) *session.ToolResult {
	if r.FileChange == nil || r.Error || !cursortools.Edits(c.src.Kind) {
		return r
	}
	before, after := r.FileChange()
	if after == nil || !utf8.Valid(after.Bytes) || before != nil && !utf8.Valid(before.Bytes) {
		return r
	}
	p := object.New(nil)
	if before != nil {
		p.Text("beforeFullFileContent", string(before.Bytes))
	}
	p.Text("afterFullFileContent", string(after.Bytes))
	for n, v := range rawjson.Members(r.Value) {
		p.Raw(string(n), v)
	}
	out := *r
	out.Value = p.Done()
	return &out
}

// shown returns a result as a block, and its text. An empty result stays empty, as
// the model saw it, but the API rejects an error without text, and with it every
// later request. The client does not send images of an error: they follow the results.
func (e *encoder) shown(c *call, r *session.ToolResult) (text string, body []byte, images [][]byte) {
	blocks, texts := e.pieces(r.Content)
	if len(blocks) == 0 && !e.own && !slices.ContainsFunc(r.Content, isText) {
		var list []session.Part
		if text = cursortools.Shown(c.src.Kind, r.Value); !outline.Blank(text) {
			e.note(loss.ResultFromRecord)
			list = append(list, &session.Text{Text: text})
		}
		for _, data := range cursortools.Images(r.Value) {
			list = append(list, &session.Media{Data: data})
		}
		blocks, texts = e.pieces(list)
	}
	if r.Error && !e.own {
		blocks = slices.DeleteFunc(blocks, func(block []byte) bool {
			if rawjson.TextAt(block, "type") != "image" {
				return false
			}
			images = append(images, block)
			return true
		})
	}
	if len(blocks) == 0 && r.Error {
		e.note(loss.ErrorTextAdded)
		texts = []string{"(no output)"}
	}
	text = strings.Join(texts, "\n")
	p := object.New(nil)
	p.Text("tool_use_id", c.id)
	p.Text("type", "tool_result")
	if len(blocks) > 1 || len(blocks) == 1 && len(texts) == 0 {
		p.Name("content")
		p.B = append(append(append(p.B, '['), bytes.Join(blocks, []byte{','})...), ']')
	} else {
		p.Text("content", text)
	}
	p.Flag("is_error", r.Error)
	return text, p.Done(), images
}

// isText reports whether a part is text.
func isText(p session.Part) bool {
	_, ok := p.(*session.Text)
	return ok
}

// pieces returns the blocks of a result, and their texts.
func (e *encoder) pieces(list []session.Part) (blocks [][]byte, texts []string) {
	for _, p := range list {
		var block []byte
		var words string
		switch t := p.(type) {
		case *session.Media:
			if block, words = e.picture(t); words != "" {
				e.note(loss.ResultMediaNamed)
			}
		case *session.Opaque:
			if e.own && reference(t.Raw) {
				block = t.Raw
				break
			}
			block, words = e.spoken(p)
		default:
			block, words = e.spoken(p)
		}
		if block != nil {
			blocks = append(blocks, block)
		}
		if words != "" {
			texts = append(texts, words)
		}
	}
	return blocks, texts
}

// reference reports whether a block names a tool that a search found.
func reference(raw []byte) bool {
	return rawjson.TextAt(raw, "type") == "tool_reference" && rawjson.TextAt(raw, "tool_name") != "" && outline.Only(raw, "type", "tool_name")
}

// drawn returns the record that the client displays.
func (e *encoder) drawn(c *call, r *session.ToolResult, shown string) []byte {
	if e.own {
		return withoutFile(r.Value)
	}
	if c.native.Name == "Agent" && !r.Error {
		return e.agentResult(c, shown)
	}
	n := c.native
	if n.Name == "Edit" || n.Name == "Write" {
		// The result has the lines around the change.
		if again := tools.Claude(e.s.Workspace, c.src.Kind, c.src.Name, c.src.Input, c.src.Args, r.Value); again.Name == n.Name {
			n = again
		}
	}
	return n.Result(r.Value, shown, r.Error)
}

// withoutFile returns the client's record of a result without the name of the file
// that holds a long output. That file belongs to the session that was read; its text
// is in the extras.
func withoutFile(value []byte) []byte {
	if rawjson.TextAt(value, "persistedOutputPath") == "" {
		return bytes.Clone(value)
	}
	p := object.New(nil)
	for name, v := range rawjson.Members(value) {
		if n := string(name); n != "persistedOutputPath" && n != "persistedOutputSize" {
			p.Raw(string(name), v)
		}
	}
	return p.Done()
}

// agentResult returns the record of the result of a subagent.
func (e *encoder) agentResult(c *call, shown string) []byte {
	p := object.New(nil)
	p.Text("status", "completed")
	p.Text("prompt", rawjson.TextAt(c.native.Input, "prompt"))
	if child := c.src.Child; e.children[child] {
		// Other subagents have no file.
		p.Text("agentId", agentID(e.s.Agent, child))
	}
	p.Text("agentType", agentType(rawjson.TextAt(c.native.Input, "subagent_type")))
	p.Name("content")
	in := object.New(append(p.B, '['))
	in.Text("type", "text")
	in.Text("text", shown)
	p.B = append(in.Done(), ']')
	p.Num("totalDurationMs", 0)
	p.Num("totalTokens", 0)
	p.Num("totalToolUseCount", 0)
	p.Raw("usage", []byte(noUsage))
	return p.Done()
}

// stray writes a result without a call as text, because the client would drop it.
func (e *encoder) stray(m *session.Message, r *session.ToolResult) {
	e.note(loss.ResultOrphan)
	var texts []string
	run := []session.Part{}
	for _, p := range r.Content {
		switch t := p.(type) {
		case *session.Text:
			texts = append(texts, t.Text)
			e.extras(t.Extras)
		default:
			run = append(run, t)
		}
	}
	if len(texts) == 0 && len(run) == 0 {
		texts = []string{cursortools.Shown("", r.Value)}
	}
	words := "Result of a tool call"
	if s := strings.Join(texts, "\n"); !outline.Blank(s) {
		words += ":\n" + s
	} else {
		words += ", without text."
	}
	e.words(m, append([]session.Part{&session.Text{Text: words}}, run...), true, false)
}

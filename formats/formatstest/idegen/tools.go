package idegen

import (
	"rehome/formats/session"
)

// known are tools by number, an alias that models use, and the kind.
func known() []struct {
	number int
	alias  string
	kind   string
} {
	return []struct {
		number int
		alias  string
		kind   string
	}{{40, "read_file", "read"}, {15, "run_terminal_cmd", "shell"}, {41, "grep", "grep"}, {38, "edit_file", "edit"}, {11, "delete_file", "delete"},
		{49, "mcp_x_y", "mcp"}, {35, "todo_write", "updateTodos"}, {18, "web_search", "webSearch"}, {3, "grep_search", "grep"}, {0, "list_dir", "ls"},
		{99, "of_tomorrow", "tool-99"}}
}

// response plans what one request to the model brought: reasoning, text, so
// many calls at once, and what came of them.
func (p *Plan) response(s *Session, calls int) {
	src := p.src
	m := &session.Message{Role: session.Assistant}
	if src.chance(50) {
		p.thought(s, m)
	}
	if calls == 0 || src.chance(40) {
		text := src.body()
		m.Parts = append(m.Parts, &session.Text{Text: text})
		p.add(s, false, object{}.with("text", text).with("codeBlocks", []any{}))
	}
	id := src.mark()
	if calls == 1 && src.chance(50) {
		id = "" // one call needs no name for its response
	}
	var results []*session.Message
	for range calls {
		if r := p.call(s, m, id); r != nil {
			results = append(results, &session.Message{Role: session.Tool, Parts: []session.Part{r}})
		}
	}
	s.List = append(append(s.List, m), results...)
}

// thought is a bubble of reasoning, in one of its spellings.
func (p *Plan) thought(s *Session, m *session.Message) {
	src := p.src
	t := &session.Thinking{Text: src.text()}
	doc := object{}.with("text", "").with("capabilityType", 30)
	switch src.IntN(4) {
	case 0:
		doc = doc.with("thinking", t.Text)
	case 1:
		doc = doc.with("allThinkingBlocks", []any{object{}.with("text", t.Text)})
	case 2:
		t.Signature, t.Millis = src.mark(), 1200
		doc = doc.with("thinking", src.stranger(object{}.with("text", t.Text).with("signature", t.Signature))).with("thinkingDurationMs", 1200)
	default:
		t.Text, t.Redacted, t.Data = "", true, src.mark()
		doc = doc.with("thinking", object{}.with("text", "").with("redactedThinking", t.Data))
	}
	m.Parts = append(m.Parts, t)
	p.add(s, false, doc)
}

// call is a bubble of a tool, and its result where it has one.
func (p *Plan) call(s *Session, m *session.Message, response string) *session.ToolResult {
	src := p.src
	list := known()
	k := list[src.IntN(len(list))]
	c := &session.ToolCall{ID: "call_" + src.mark(), Name: k.alias, Kind: k.kind}
	if src.chance(10) {
		c.ID += "\nfc_" + src.mark()
	}
	data := object{}.with("tool", k.number).with("toolCallId", c.ID).with("name", k.alias).with("toolIndex", 0)
	if response != "" {
		data = data.with("modelCallId", response)
	}
	args := spelled(src.stranger(object{}.with("path", src.path())))
	switch src.IntN(4) {
	case 0:
		data = data.with("rawArgs", args)
		c.Input = session.Raw(args)
	case 1:
		cut := args[:len(args)/2]
		data = data.with("rawArgs", cut).with("params", args)
		c.Input, c.Args = session.Raw(spelled(cut)), session.Raw(args)
	case 2:
		data = data.with("params", object{}.with("o", args))
		c.Args = session.Raw(spelled(object{}.with("o", args)))
	default:
		data = data.with("rawArgs", args).with("params", args)
		c.Input, c.Args = session.Raw(args), session.Raw(args)
	}
	m.Parts = append(m.Parts, c)
	r := &session.ToolResult{Call: c.ID}
	switch src.IntN(6) {
	case 0:
		data, r = data.with("status", "loading"), nil
	case 1:
		why := src.text()
		data = data.with("status", "error").with("error", spelled(object{}.with("modelVisibleErrorMessage", why)))
		r.Status, r.Error, r.Content = "error", true, []session.Part{&session.Text{Text: why}}
	case 2:
		data = data.with("status", "completed").with("userDecision", "rejected")
		r.Status, r.Error = "rejected", true
	default:
		doc := object{}.with("contents", src.body()).with("exitCode", 0)
		r.Status = "success"
		if k.kind == "shell" && src.chance(50) {
			doc = doc.with("exitCodeV2", 2)
			r.Status, r.Error = "failure", true
		}
		result := spelled(src.stranger(doc))
		data = data.with("status", "completed").with("result", result)
		r.Value = session.Raw(result)
	}
	p.add(s, false, object{}.with("text", "").with("capabilityType", 15).with("toolFormerData", src.stranger(data)))
	return r
}

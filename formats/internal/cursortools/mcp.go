package cursortools

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"rehome/formats/internal/object"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

const (
	mcpKind      = "mcp"
	mcpName      = "CallMcpTool"
	serverPrefix = "mcp__" // of Claude Code's names of the tools of servers
)

// served translates a call of a server's tool.
func (s *speller) served() (c Call, ok bool) {
	if made, ok := s.verbatim(s.kind.args, s.call.Args); ok {
		c = s.made(made)
		c.Name, c.Input = s.call.Name, s.call.Input
		if len(c.Input) == 0 {
			c.Name, c.Input = mcpName, callInput(c.Args)
		}
		return c, true
	}
	docs := []doc{s.input, s.args, first(s.args.get("tools"))}
	server := rawjson.Text(get(docs, "providerIdentifier", "server", "serverIdentifier", "server_name", "serverName"))
	tool := rawjson.Text(get(docs, "toolName", "tool_name", "tool", "name"))
	args := get(docs, "arguments", "args", "tool_args", "toolArgs", "parameters")
	if rest, claudes := strings.CutPrefix(s.call.Name, serverPrefix); claudes {
		server, tool, _ = strings.Cut(rest, "__")
		args = s.call.Input
	} else if s.own && len(s.input) > 0 && s.input.get("toolName", "tool_name", "arguments") == nil {
		args = s.call.Input // as the model wrote them
	}
	asked := args
	if rawjson.IsText(args) {
		if inner := rawjson.AppendText(nil, args); rawjson.Inline(inner) && inner[0] == '{' {
			args = inner
		}
	}
	if len(args) == 0 || string(args) == "null" {
		args = []byte("{}")
	}
	if tool == "" {
		return c, false
	}
	made, ok := s.mcpArgs(server, tool, wrapped(args))
	if !ok {
		return c, false
	}
	c = s.made(made)
	if c.Name, c.Input = s.call.Name, s.call.Input; !s.own || len(c.Input) == 0 {
		o := object.New(nil)
		o.Text("server", server)
		o.Text("toolName", tool)
		o.Raw("arguments", args)
		if bytes.Equal(asked, s.call.Input) || s.others(&o, server, tool, asked) {
			c.Name, c.Input = mcpName, o.Done()
		}
	}
	return c, true
}

// wrapped returns an object, or one around what is none.
func wrapped(args []byte) []byte {
	if len(args) > 0 && args[0] == '{' {
		return args
	}
	o := object.New(nil)
	if len(args) > 0 {
		o.Raw("input", args)
	}
	return o.Done()
}

// others writes what a model wrote beside the tool and its arguments; false if it has no place.
func (s *speller) others(o *object.Writer, server, tool string, args []byte) bool {
	for _, m := range s.input {
		text := rawjson.Text(m.value)
		switch name := string(m.name); {
		case rawjson.IsText(m.value) && (text == server || text == tool), bytes.Equal(m.value, args):
		case name == "server", name == "toolName", name == "arguments":
			return false
		default:
			writeName(o, name)
			o.B = append(o.B, m.value...)
		}
	}
	return true
}

// callInput returns what a model writes to call a server's tool.
func callInput(args []byte) []byte {
	o := object.New(nil)
	for _, m := range [...]struct{ to, from string }{{"server", "providerIdentifier"}, {"toolName", "toolName"}, {"arguments", "args"}} {
		if v := rawjson.Last(args, m.from); v != nil {
			o.Raw(m.to, v)
		}
	}
	return o.Done()
}

// first returns the members of the first element of an array.
func first(list []byte) doc {
	for e := range rawjson.Elements(list) {
		return parse(e)
	}
	return nil
}

// generic spells a call that has no counterpart.
func (s *speller) generic() Call {
	args, input := s.call.Input, s.call.Input
	if len(args) == 0 || args[0] != '{' && len(s.call.Args) > 0 {
		args = s.call.Args
	}
	if len(input) == 0 {
		input = args
	}
	args = wrapped(args)
	if len(input) == 0 {
		input = args
	}
	server := s.agent
	if server == "" {
		server = "client"
	}
	made, ok := s.mcpArgs(server, s.call.Name, args)
	if !ok { // nested too deep
		made, _ = s.mcpArgs(server, s.call.Name, []byte("{}"))
	}
	c := s.made(made)
	c.Name, c.Input = s.call.Name, input
	if !s.own {
		c.Losses = []loss.Code{loss.ToolUnknown}
	}
	return c
}

// mcpArgs makes the arguments of a call of a tool.
func (s *speller) mcpArgs(server, tool string, args []byte) (message, bool) {
	o := object.New(make([]byte, 0, len(args)+256))
	o.NonEmpty("name", strings.Trim(server+"-"+tool, "-"))
	o.Raw("args", args)
	o.NonEmpty("toolCallId", s.call.ID)
	o.NonEmpty("providerIdentifier", server)
	o.NonEmpty("toolName", tool)
	return canonical(s.kind.args, o.Done())
}

// answered makes the result of a call of a tool.
func (s *speller) answered() message {
	if v, ok := s.verbatim(s.kind.result, s.result.Value); ok {
		return v
	}
	media := slices.ContainsFunc(s.result.Content, func(p session.Part) bool { _, is := p.(*session.Media); return is })
	for _, record := range [][]byte{s.structured(), nil} {
		o := object.New(nil)
		switch {
		case s.rejected():
			o.Raw("rejected", told("reason", s.shown()))
		case s.failed() && !media && record == nil:
			o.Raw("error", told("error", s.shown()))
		default:
			o.Name("success")
			o.B = s.success(o.B, record)
		}
		if v, ok := canonical(s.kind.result, o.Done()); ok { // else the record is nested too deep
			return v
		}
	}
	return message{session.Raw("{}"), []byte{}}
}

// told returns an object with one text, if there is any.
func told(name, text string) []byte {
	o := object.New(nil)
	o.NonEmpty(name, text)
	return o.Done()
}

// success appends the content of a result, and the client's record of it.
func (s *speller) success(dst, record []byte) []byte {
	o := object.New(dst)
	o.Name("content")
	o.B = append(o.B, '[')
	mark := len(o.B)
	piece := func(kind string, fill func(o *object.Writer)) {
		if len(o.B) > mark {
			o.B = append(o.B, ',')
		}
		outer := object.New(o.B)
		outer.Name(kind)
		in := object.New(outer.B)
		fill(&in)
		outer.B = in.Done()
		o.B = outer.Done()
	}
	text := func(text string) {
		piece("text", func(o *object.Writer) { o.NonEmpty("text", text) })
	}
	for _, p := range s.result.Content {
		switch p := p.(type) {
		case *session.Text:
			text(p.Text)
		case *session.Media:
			if len(p.Data) == 0 {
				text(p.URI)
				continue
			}
			piece("image", func(o *object.Writer) {
				o.Name("data")
				o.B = append(base64.StdEncoding.AppendEncode(append(o.B, '"'), p.Data), '"')
				o.NonEmpty("mimeType", p.Mime)
			})
		case *session.Opaque:
			text(string(p.Raw))
		}
	}
	if len(s.result.Content) == 0 {
		if shown := s.shown(); shown != "" {
			text(shown)
		}
	}
	o.B = append(o.B, ']')
	if s.result.Error {
		o.Flag("isError", true)
	}
	if record != nil {
		o.Raw("structuredContent", record)
	}
	return o.Done()
}

// structured returns the client's record of the result, if it is more than text.
func (s *speller) structured() []byte {
	if v := s.result.Value; len(v) > 0 && v[0] == '{' {
		return v
	}
	return nil
}

// Package cursortools spells the tool calls of any client, and their results, as Cursor's
// own tools do. It is the opposite of what the decoders of Cursor's stores do.
//
// A call gets a kind of Cursor's, which has a message of arguments and one of results in
// package wire, and besides these the name and the arguments that a model of Cursor's
// would have written: the next model sees only those, so they are translated, too. Which
// names stand for one argument is data in package toolmap; fields of results are in
// results.txt. Arguments that Cursor does not have stay in what the model wrote, under
// their own names.
//
// A call without a counterpart becomes one of the kind "mcp", which has a place for any
// arguments and any result. It keeps its name, and the provider is the client that had the
// tool. Tools of MCP servers are called as Cursor's models call them, by CallMcpTool.
//
// What came from one of Cursor's clients stays as it is, if its messages have a place for
// it. All that Spell returns has the spelling that decoding it again yields, so that to
// spell a call twice changes nothing.
package cursortools

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// Call is a call, and its result if there is one, as Cursor spells it.
type Call struct {
	Kind  string      // a kind of toolmap, such as "shell", or "tool-<number>"
	Name  string      // what Cursor's models call the tool
	Input session.Raw // the arguments as a model writes them
	Args  session.Raw // the arguments, as JSON of the kind's message of arguments
	Value session.Raw // the result, as JSON of the kind's message of results; nil: none

	Losses []loss.Code // what the spelling does not carry
}

// Losses returns all losses that Spell reports.
func Losses() []loss.Code {
	return []loss.Code{loss.ToolUnknown, loss.ArgumentsRenamed, loss.ToolRenamed, loss.ToolRecord}
}

// speller translates one call.
type speller struct {
	agent  string
	own    bool // it is a client of Cursor's
	call   *session.ToolCall
	result *session.ToolResult

	kind   *kind
	input  doc // what the model wrote
	args   doc // what the tool ran with
	values []doc
	text   *string // what the model was shown
	change *change
}

// Spell translates a call of any client's tool. agent is the client of its session, and
// result is nil if the call has none. Only Value and Losses depend on it.
func Spell(agent string, call *session.ToolCall, result *session.ToolResult) Call {
	s := speller{agent: agent, call: call, result: result, input: parse(call.Input), args: parse(call.Args)}
	s.own = agent == session.CursorCLI || agent == session.CursorSDK || agent == session.CursorIDE
	if result != nil {
		s.values = values(result.Value)
	}
	if c, ok := s.newer(); ok {
		return c
	}
	for _, name := range s.kinds() {
		s.kind = kinds()[name]
		if c, ok := s.spell(); ok {
			return s.losses(c)
		}
	}
	s.kind = kinds()[mcpKind]
	return s.losses(s.generic())
}

// newer returns a call of one of Cursor's clients that is of a kind without a table: its
// arguments and its result are the fields 1 and 2 of an unknown message, in their raw form.
func (s *speller) newer() (c Call, ok bool) {
	num, ok := strings.CutPrefix(s.call.Kind, "tool-")
	if n, err := strconv.Atoi(num); !s.own || !ok || err != nil || n < 1 || n > 1<<29-1 || strconv.Itoa(n) != num || wire.Messages().Message("ToolCall").Field(n) != nil {
		return c, false
	}
	c = Call{Kind: s.call.Kind, Name: s.call.Name, Input: s.call.Input, Args: s.call.Args}
	if s.result != nil {
		c.Value = s.result.Value
	}
	return c, rawField(c.Args, "1") && rawField(c.Value, "2") && len(c.Args)+len(c.Value) > 0
}

// rawField reports whether a value is absent, or a field of that number that holds bytes.
func rawField(raw session.Raw, num string) bool {
	if len(raw) == 0 {
		return true
	}
	_, err := base64.StdEncoding.Strict().DecodeString(rawjson.Text(rawjson.Last(raw, "base64")))
	return err == nil && string(rawjson.Last(raw, "field")) == num && string(rawjson.Last(raw, "wire")) == "2"
}

// kinds returns the kinds that the call can be of, the best first.
func (s *speller) kinds() []string {
	if strings.HasPrefix(s.call.Name, serverPrefix) {
		return []string{mcpKind}
	}
	return []string{s.call.Kind, toolmap.Kind(s.call.Name)}
}

// spell translates a call to the kind; false if that does not have its arguments.
func (s *speller) spell() (c Call, ok bool) {
	if s.kind == nil {
		return c, false
	}
	c.Kind = s.kind.name
	if c.Kind == mcpKind {
		return s.served()
	}
	if c.Args, ok = s.verbatim(s.kind.args, s.call.Args); !ok {
		if c.Args, ok = s.arguments(); !ok {
			return c, false
		}
	}
	c.Name, c.Input = s.spoken()
	if !s.own && (toolmap.Kind(c.Name) != c.Kind || toolmap.Foreign(c.Name)) {
		c.Losses = []loss.Code{loss.ToolUnknown}
	}
	c.Value = s.returned()
	return c, true
}

// losses adds what is different now.
func (s *speller) losses(c Call) Call {
	add := func(lost bool, code loss.Code) {
		if lost && !slices.Contains(c.Losses, code) {
			c.Losses = append(c.Losses, code)
		}
	}
	add(c.Name != s.call.Name, loss.ToolRenamed)
	add(!bytes.Equal(c.Input, s.call.Input), loss.ArgumentsRenamed)
	add(c.Kind != s.call.Kind || !bytes.Equal(c.Args, s.call.Args), loss.ToolRecord)
	add(s.result != nil && !bytes.Equal(c.Value, s.result.Value), loss.ToolRecord)
	return c
}

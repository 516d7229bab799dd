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

	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// Call is a call, and its result if there is one, as Cursor spells it.
type Call struct {
	Kind  string      // a kind of toolmap, such as "shell", or "tool-<number>"
	Name  string      // what Cursor's models call the tool
	Input session.Raw // the arguments as a model writes them
	Args  session.Raw // the arguments, as JSON of the kind's message of arguments
	Value session.Raw // the result, as JSON of the kind's message of results; nil: none

	ArgsBytes, ValueBytes []byte // both, encoded as these messages; nil: none

	Losses []loss.Code // what the spelling does not carry

	speller *speller
}

// message is JSON of a message, and the same encoded.
type message struct {
	text session.Raw
	b    []byte
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
// result is nil if the call has none.
func Spell(agent string, call *session.ToolCall, result *session.ToolResult) Call {
	c := Begin(agent, call)
	c.End(result)
	return c
}

// Begin translates a call whose result is not known yet. The call must not change before
// End.
func Begin(agent string, call *session.ToolCall) Call {
	s := &speller{agent: agent, call: call, input: parse(call.Input), args: parse(call.Args)}
	s.own = agent == session.CursorCLI || agent == session.CursorSDK || agent == session.CursorIDE
	return s.begin()
}

func (s *speller) begin() Call {
	if c, ok := s.newer(); ok {
		return c
	}
	for _, name := range s.kinds() {
		s.kind = kinds()[name]
		if c, ok := s.spell(); ok {
			return c
		}
	}
	s.kind = kinds()[mcpKind]
	return s.generic()
}

// End adds what the call returned, nil if there is no result, and what is lost.
func (c *Call) End(result *session.ToolResult) {
	s := c.speller
	s.result, s.text, s.change, s.values = result, nil, nil, nil
	if result != nil {
		s.values = values(result.Value)
	}
	if s.own && strings.HasPrefix(s.call.Kind, newerPrefix) {
		*c = s.begin() // the kind depends on the result
	}
	if c.speller = nil; s.kind == nil {
		return
	}
	if result != nil {
		v := message{}
		if c.Kind == mcpKind {
			v = s.answered()
		} else {
			v = s.returned()
		}
		c.Value, c.ValueBytes = v.text, v.b
	}
	s.losses(c)
}

// newerPrefix begins the name of a kind that has no table.
const newerPrefix = "tool-"

// newer returns a call of one of Cursor's clients that is of a kind without a table: its
// arguments and its result are the fields 1 and 2 of an unknown message, in their raw form.
func (s *speller) newer() (c Call, ok bool) {
	num, ok := strings.CutPrefix(s.call.Kind, newerPrefix)
	if n, err := strconv.Atoi(num); !s.own || !ok || err != nil || n < 1 || n > 1<<29-1 || strconv.Itoa(n) != num || wire.Messages().Message("ToolCall").Field(n) != nil {
		return c, false
	}
	c = Call{Kind: s.call.Kind, Name: s.call.Name, Input: s.call.Input, Args: s.call.Args, speller: s}
	if s.result != nil {
		c.Value = s.result.Value
	}
	var fits bool
	c.ArgsBytes, ok = rawField(c.Args, "1")
	c.ValueBytes, fits = rawField(c.Value, "2")
	s.kind = nil
	return c, ok && fits && len(c.Args)+len(c.Value) > 0
}

// rawField returns the content of a field in its raw form, nil if it is absent; false if it
// is not a field of that number that holds bytes.
func rawField(raw session.Raw, num string) ([]byte, bool) {
	if len(raw) == 0 {
		return nil, true
	}
	b, err := base64.StdEncoding.Strict().DecodeString(rawjson.TextAt(raw, "base64"))
	return b, err == nil && string(rawjson.Last(raw, "field")) == num && string(rawjson.Last(raw, "wire")) == "2"
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
	if s.kind.name == mcpKind {
		return s.served()
	}
	args, ok := s.verbatim(s.kind.args, s.call.Args)
	if !ok {
		if args, ok = s.arguments(); !ok {
			return c, false
		}
	}
	c = s.made(args)
	c.Name, c.Input = s.spoken()
	if !s.own && (toolmap.Kind(c.Name) != c.Kind || toolmap.Foreign(c.Name)) {
		c.Losses = []loss.Code{loss.ToolUnknown}
	}
	return c, true
}

// made returns a call of the current kind with these arguments.
func (s *speller) made(args message) Call {
	return Call{Kind: s.kind.name, Args: args.text, ArgsBytes: args.b, speller: s}
}

// losses adds what is different now.
func (s *speller) losses(c *Call) {
	add := func(lost bool, code loss.Code) {
		if lost && !slices.Contains(c.Losses, code) {
			c.Losses = append(c.Losses, code)
		}
	}
	add(c.Name != s.call.Name, loss.ToolRenamed)
	add(!bytes.Equal(c.Input, s.call.Input), loss.ArgumentsRenamed)
	add(c.Kind != s.call.Kind || !bytes.Equal(c.Args, s.call.Args), loss.ToolRecord)
	add(s.result != nil && !bytes.Equal(c.Value, s.result.Value), loss.ToolRecord)
}

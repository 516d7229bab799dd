// Package cursortools spells tool calls and their results as Cursor's own tools do: the
// opposite of what decoders of Cursor's stores do with them.
package cursortools

import (
	"rehome/formats/loss"
	"rehome/formats/session"
)

// Call is a call, and its result if there is one, as Cursor spells it.
type Call struct {
	Kind  string      // a kind of toolmap, such as "shell"
	Name  string      // what Cursor's models call the tool
	Input session.Raw // the arguments as a model writes them
	Args  session.Raw // the arguments, as JSON of the kind's message of arguments
	Value session.Raw // the result, as JSON of the kind's message of results; nil: none

	Losses []loss.Code // what the spelling does not carry
}

// Spell translates a call of any client's tool. result is nil if the call has none. What
// has no counterpart becomes a call of an MCP tool with name, arguments and result verbatim.
func Spell(agent string, call *session.ToolCall, result *session.ToolResult) Call {
	args := session.Raw(`{"name":`)
	args = append(session.AppendString(args, call.Name), `,"toolName":`...)
	args = append(session.AppendString(args, call.Name), '}')
	return Call{Kind: "mcp", Name: call.Name, Input: call.Input, Args: args}
}

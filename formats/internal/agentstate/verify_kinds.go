package agentstate

import (
	"sync"

	"rehome/formats/internal/wire"
)

// Kind is what a blob is to whoever refers to it.
type Kind uint8

// The kinds.
const (
	KindRoot Kind = iota
	KindTurn
	KindStep
	KindUser
	KindPrompt // JSON, or references to more of it
	KindTodo
	KindSummary
	KindPlan
	KindArchive
	KindChild
	KindCommand
	KindOutput
	KindBytes // a file, a picture, a text: nothing is known of its bytes
)

// kinds are their names, and what the table of messages calls them.
var kinds = [...]struct{ name, target string }{
	KindRoot:    {"a conversation", "ConversationStateStructure"},
	KindTurn:    {"a turn", "ConversationTurnStructure"},
	KindStep:    {"a step", "ConversationStep"},
	KindUser:    {"a user's message", "UserMessage"},
	KindPrompt:  {"a prompt message", "prompt"},
	KindTodo:    {"a todo item", "TodoItem"},
	KindSummary: {"a summary", "ConversationSummary"},
	KindPlan:    {"a plan", "ConversationPlan"},
	KindArchive: {"an archive of messages", "ConversationSummaryArchive"},
	KindChild:   {"a subagent", "SubagentPersistedState"},
	KindCommand: {"a shell command", "ShellCommand"},
	KindOutput:  {"a shell's output", "ShellOutput"},
	KindBytes:   {"content", ""},
}

func (k Kind) String() string { return kinds[k].name }

// messageOf returns the message of a kind; nil if it has none.
func messageOf(k Kind) *wire.Message { return wire.Messages().Message(kinds[k].target) }

// kindOf returns the kind of the blobs that a field names.
func kindOf(f *wire.Field) Kind { return byTarget()[f.Target] }

var byTarget = sync.OnceValue(func() map[string]Kind {
	out := map[string]Kind{}
	for k, v := range kinds {
		out[v.target] = Kind(k)
	}
	return out
})

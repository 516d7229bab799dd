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

var kindNames = [...]string{"a conversation", "a turn", "a step", "a user's message", "a prompt message", "a todo item", "a summary", "a plan",
	"an archive of messages", "a subagent", "a shell command", "a shell's output", "content"}

func (k Kind) String() string { return kindNames[k] }

// spelled are the messages that the kinds are; none of the others.
var spelled = map[Kind]string{
	KindRoot: rootDescriptor, KindTurn: "ConversationTurnStructure", KindStep: "ConversationStep", KindUser: "UserMessage", KindTodo: "TodoItem",
	KindSummary: "ConversationSummary", KindPlan: "ConversationPlan", KindArchive: "ConversationSummaryArchive", KindChild: "SubagentPersistedState",
	KindCommand: "ShellCommand", KindOutput: "ShellOutput",
}

// leads are the fields that refer to something other than content.
var leads = map[string]Kind{
	rootDescriptor + ".rootPromptMessagesJson": KindPrompt, rootDescriptor + ".turns": KindTurn, rootDescriptor + ".todos": KindTodo,
	rootDescriptor + ".summary": KindSummary, rootDescriptor + ".plan": KindPlan, rootDescriptor + ".summaryArchive": KindArchive,
	rootDescriptor + ".summaryArchives": KindArchive, rootDescriptor + ".subagentStateRefs": KindChild,
	"AgentConversationTurnStructure.userMessage": KindUser, "AgentConversationTurnStructure.steps": KindStep,
	"ShellConversationTurnStructure.shellCommand": KindCommand, "ShellConversationTurnStructure.shellOutput": KindOutput,
	"ConversationSummaryArchive.summarizedMessages": KindPrompt, "ConversationSummaryArchive.summaryMessage": KindPrompt,
	"TruncatedToolCall.originalStepBlobId": KindStep, "UserMessage.conversationStateBlobId": KindRoot,
}

// messageOf is the message of a kind; nil if it is none.
func messageOf(k Kind) *wire.Message { return messages()[k] }

var messages = sync.OnceValue(func() (out [KindBytes + 1]*wire.Message) {
	for k, name := range spelled {
		out[k] = wire.Messages().Message(name)
	}
	return out
})

// targets are the kinds that fields of messages lead to.
var targets = sync.OnceValue(func() map[*wire.Field]Kind {
	out, seen := map[*wire.Field]Kind{}, map[*wire.Message]bool{}
	var visit func(m *wire.Message)
	visit = func(m *wire.Message) {
		if m == nil || seen[m] {
			return
		}
		seen[m] = true
		for _, f := range m.Fields {
			if f.Kind == wire.Ref {
				kind, ok := leads[m.Name+"."+f.Name]
				if !ok {
					kind = KindBytes
				}
				out[f] = kind
			}
			visit(f.Message)
		}
	}
	for _, m := range messages() {
		visit(m)
	}
	return out
})

package agentwrite

import (
	"slices"
	"strings"
	"unicode/utf8"

	"rehome/formats/internal/agentstate"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// What a decoder of Cursor's stores could not convert goes back to where it was, for a
// session of one of Cursor's clients. The names of Extras say where.

// provided is what goes into providerOptions.
type provided struct{ cursor, others []byte }

// with adds members of Cursor's own before those given.
func (o provided) with(cursor []byte) provided {
	switch {
	case len(o.cursor) == 0:
		o.cursor = cursor
	case len(cursor) > 0:
		o.cursor = slices.Concat(cursor, []byte{','}, o.cursor)
	}
	return o
}

const (
	optionsPrefix = "providerOptions."
	cursorPrefix  = optionsPrefix + "cursor."
)

// provide takes the Extras of a message or a part that are provider options, and returns
// the others.
func (c *Conversation) provide(o *provided, extras []session.Extra) (rest []session.Extra) {
	for _, e := range extras {
		name, ofCursor := strings.CutPrefix(e.Name, cursorPrefix)
		provider, isOption := strings.CutPrefix(e.Name, optionsPrefix)
		switch {
		case !c.own || len(e.Raw) == 0 || !isOption || provider == agentstate.MarkName || strings.HasPrefix(provider, agentstate.MarkName+"."):
			rest = append(rest, e)
		case ofCursor && name != "requestId" && name != "modelName" && name != "isSummary":
			o.cursor = raw(o.cursor, name, e.Raw)
		case !ofCursor && provider != "cursor":
			o.others = raw(o.others, provider, e.Raw)
		default:
			rest = append(rest, e)
		}
	}
	return rest
}

// raw appends a member that is JSON already.
func raw(dst []byte, name string, value session.Raw) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	return append(append(session.AppendString(dst, name), ':'), value...)
}

// fields encodes the Extras that are fields of a message of the state, and returns the
// others.
func (c *Conversation) fields(message string, extras []session.Extra, held ...string) (fields []byte, rest []session.Extra) {
	if !c.own {
		return nil, extras
	}
	return agentstate.Fields(message, extras, held...)
}

// userFields are the fields of a UserMessage that are written in any case.
func userFields() []string {
	return []string{"text", "messageId", "selectedContext", "mode", "isSimulatedMsg", "textBlobId", "richTextBlobId", "hookAdditionalContexts", "startedAtMs", "completedAtMs"}
}

// extrasOf stands for fields that have no place after all.
func extrasOf(fields []byte) []session.Extra {
	if len(fields) == 0 {
		return nil
	}
	return []session.Extra{{}}
}

// rootFields are the fields of a root that are written in any case, or that would contradict
// what is written.
func rootFields() []string {
	return []string{"rootPromptMessagesJson", "turns", "todos", "pendingToolCalls", "tokenDetails", "summary", "plan", "previousWorkspaceUris", "mode", "summaryArchive", "summaryArchives",
		"fileStates", "fileStatesV2", "turnTimings", "subagentStates", "subagentStateRefs", "activeBranchName", "trackedGitRepoBranches", "subagentThreads",
		"subagentRunsByParentToolCallId", "conversationStartedTimestampMs"}
}

// named returns the id that the client gave to a message of the user, and the other Extras.
func (c *Conversation) named(extras []session.Extra) (id string, rest []session.Extra) {
	for _, e := range extras {
		if text := rawjson.Text(e.Raw); c.own && e.Name == "messageId" && id == "" && utf8.ValidString(text) {
			id = text
			continue
		}
		rest = append(rest, e)
	}
	return id, rest
}

// callFields sorts the Extras of a call: fields of the message of its kind, and fields of
// the call, both as members of JSON. It returns the others.
func (c *Conversation) callFields(kind string, extras []session.Extra) (body, call []byte, rest []session.Extra) {
	if !c.own {
		return nil, nil, extras
	}
	var hooks []byte
	var inBody, inCall []string
	for i := 0; i < len(extras); i++ {
		e := extras[i]
		switch {
		case e.Name == "hookAdditionalContext" && agentstate.Holds("HookAdditionalContext", e.Raw):
			hook := e.Raw[:len(e.Raw)-1]
			for i+1 < len(extras) && extras[i+1].Name == "hookEventName" && len(extras[i+1].Raw) > 0 {
				i++
				hook = raw(slices.Clone(hook), "hookEventName", extras[i].Raw)
			}
			if len(hooks) > 0 {
				hooks = append(hooks, ',')
			}
			hooks = append(append(hooks, hook...), '}')
		case agentstate.CallHolds(kind, e, inBody):
			body, inBody = raw(body, e.Name, e.Raw), append(inBody, e.Name)
		case agentstate.CallHolds("", e, inCall):
			call, inCall = raw(call, e.Name, e.Raw), append(inCall, e.Name)
		default:
			rest = append(rest, e)
		}
	}
	if hooks != nil {
		call = raw(call, "hookAdditionalContexts", slices.Concat([]byte{'['}, hooks, []byte{']'}))
	}
	return body, call, rest
}

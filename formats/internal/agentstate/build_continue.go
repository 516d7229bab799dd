package agentstate

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"rehome/formats/internal/wire"
	"rehome/internal/rawjson"
)

// errRoot is the error of a root that cannot be continued.
var errRoot = errors.New("the root of the conversation is malformed")

// Continue returns the root to which the rest of a conversation is added. Whatever is not
// added to stays as it is.
func Continue(root []byte) (*Root, error) {
	m := codecs().root.Decode(bytes.Clone(root))
	if m.Cut > 0 {
		return nil, errRoot
	}
	r := &Root{before: m, Prompts: slices.Clone(m.Prompts), Turns: slices.Clone(m.Turns), Archives: slices.Clone(m.Archives), pending: slices.Clone(m.Pending)}
	n := 0
	for range m.Timings.All() {
		n++
	}
	// Without one for each turn, nobody can tell which is whose.
	r.untimed, r.timed, r.timings = n != len(m.Turns), n > 0, slices.Clone(m.Timings)
	return r, nil
}

// Waiting takes the messages out of the root whose calls have no result yet, and returns
// those that are JSON.
func (r *Root) Waiting() (docs [][]byte) {
	var rest wire.List
	for raw := range r.pending.All() {
		if doc := pendingDoc(raw); doc != nil {
			docs = append(docs, doc)
		} else {
			rest.Add(raw)
		}
	}
	r.pending = rest
	return docs
}

// CallsOf returns the ids and the names of the calls of a prompt message.
func CallsOf(doc []byte) (calls [][2]string) {
	for part := range rawjson.Elements(rawjson.Last(doc, "content")) {
		if rawjson.TextAt(part, "type") == "tool-call" {
			calls = append(calls, [2]string{rawjson.TextAt(part, "toolCallId"), rawjson.TextAt(part, "toolName")})
		}
	}
	return calls
}

// IsSystem reports whether a blob is a prompt message of the system.
func IsSystem(doc []byte) bool {
	return len(doc) > 0 && doc[0] == '{' && rawjson.TextAt(doc, "role") == "system"
}

// Todos stores the list of todos that a call left, as JSON.
func (b *Builder) Todos(ctx context.Context, r *Root, list []byte) error {
	r.todos = []ID{}
	for doc := range rawjson.Elements(list) {
		data, err := codecs().todo.Message.AppendJSON(nil, doc)
		if err != nil {
			continue // the call has it
		}
		id, err := b.Blob(ctx, data)
		if err != nil {
			return err
		}
		r.todos = append(r.todos, id)
	}
	return nil
}

// Continues reports whether the root is one to which a conversation is added.
func (r *Root) Continues() bool { return r.before != nil }

// FileBefore returns the content that a file had before the conversation that is
// continued: zero if that does not say so.
func (r *Root) FileBefore(path string) (id ID) {
	if r.before == nil {
		return id
	}
	for entry := range r.before.FilesV2.All() {
		if key, value, ok := wire.MapEntry(entry); ok && string(key) == path {
			id = codecs().file.Decode(value).Before
		}
	}
	return id
}

// ParseTurn returns a turn of the agent, to which steps can be added; nil if it is not one.
func ParseTurn(b []byte) *AgentTurn {
	m := codecs().turn.Decode(bytes.Clone(b))
	if m.Agent == nil || len(m.Raw) > 0 {
		return nil
	}
	a := codecs().agent.Decode(m.Agent)
	if a.Cut > 0 {
		return nil
	}
	return &AgentTurn{User: a.User, Steps: a.Steps, Request: string(a.Request), Model: string(a.Model), More: a.Raw}
}

// over returns the message of a root that continues another one.
func (r *Root) over(m *conversation) *conversation {
	out := *r.before
	out.Prompts, out.Turns, out.Archives, out.Pending = m.Prompts, m.Turns, m.Archives, m.Pending
	if !r.untimed {
		out.Timings = m.Timings
	}
	if m.Todos != nil {
		out.Todos = m.Todos
	}
	out.FilesV2 = joinEntries(out.FilesV2, m.FilesV2)
	out.ChildRefs = joinEntries(out.ChildRefs, m.ChildRefs)
	out.Runs = joinEntries(out.Runs, m.Runs)
	return &out
}

// joinEntries adds the entries of a map to those of another, or replaces them.
func joinEntries(old, added wire.List) (out wire.List) {
	if len(added) == 0 {
		return old
	}
	replaced := map[string]bool{}
	for entry := range added.All() {
		key, _, _ := wire.MapEntry(entry)
		replaced[string(key)] = true
	}
	for entry := range old.All() {
		if key, _, _ := wire.MapEntry(entry); !replaced[string(key)] {
			out.Add(entry)
		}
	}
	return append(out, added...)
}

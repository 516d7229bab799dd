package agentstate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/wire"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// Builder encodes the parts of a conversation as blobs, by the tables that Read decodes
// by. Whoever uses it stores each blob before the one that refers to it.
type Builder struct {
	// Put stores a blob. The bytes are valid until it returns.
	Put func(ctx context.Context, id ID, data []byte) error
}

// Blob stores bytes and returns their id.
func (b *Builder) Blob(ctx context.Context, data []byte) (ID, error) {
	id := ID(sha256.Sum256(data))
	return id, b.Put(ctx, id, data)
}

// User is a UserMessage.
type User struct {
	Text, ID, Mode string
	Simulated      bool
	Start, End     session.Stamp
	Hooks          []*session.Injected
	Attached       []*session.Injected // those that Attaches accepts
	Media          []AttachedMedia
	More           []byte // further fields, see Fields
}

// AttachedMedia is an image or a file of a prompt. The content is in a blob, unless it is
// only known by its URI.
type AttachedMedia struct {
	*session.Media
	Blob ID
}

// User stores the message that a turn begins with.
func (b *Builder) User(ctx context.Context, u *User) (ID, error) {
	c := codecs()
	m := userMessage{Text: present(u.Text), ID: present(u.ID), Mode: c.user.Message.Named("mode").Number(u.Mode), Simulated: u.Simulated, Started: millis(u.Start), Completed: millis(u.End)}
	for _, h := range u.Hooks {
		m.Hooks.Add(appendHook(nil, h))
	}
	var err error
	if m.Context, err = u.context(); err != nil {
		return ID{}, err
	}
	return b.Blob(ctx, append(c.user.Append(nil, &m), u.More...))
}

// context encodes the SelectedContext of a prompt; nil if nothing is attached.
func (u *User) context() ([]byte, error) {
	fields := map[string][]string{}
	for _, a := range u.Attached {
		f := attachedField(a.Tag)
		fields[f.Name] = append(fields[f.Name], string(a.Data))
	}
	for _, m := range u.Media {
		name := "selectedImages"
		if m.Name != "" || !strings.HasPrefix(m.Mime, "image/") {
			name = "selectedDocuments"
		}
		fields[name] = append(fields[name], string(m.object()))
	}
	if len(fields) == 0 {
		return nil, nil
	}
	m := wire.Messages().Message("SelectedContext")
	doc := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		list := fields[name]
		doc = append(rawjson.Quote(comma(doc), []byte(name)), ':')
		if joined := strings.Join(list, ","); m.Named(name).Repeated {
			doc = append(append(append(doc, '['), joined...), ']')
		} else {
			doc = append(doc, list[len(list)-1]...)
		}
	}
	return m.AppendJSON(nil, append(doc, '}'))
}

// object spells it as a SelectedImage or a SelectedDocument.
func (m *AttachedMedia) object() []byte {
	doc := []byte{'{'}
	member := func(name, text string) {
		if text != "" {
			doc = session.AppendString(append(session.AppendString(comma(doc), name), ':'), text)
		}
	}
	if m.Blob != (ID{}) {
		doc = wire.AppendBase64(append(doc, `"blobId":`...), m.Blob[:])
	}
	member("filename", m.Name)
	member("path", m.URI)
	member("mimeType", m.Mime)
	return append(doc, '}')
}

// Attaches reports whether a prompt can have this attachment as it is.
func Attaches(a *session.Injected) bool {
	f := attachedField(a.Tag)
	if f == nil || f.Message == nil || a.Text != "" || len(a.Data) == 0 {
		return false
	}
	_, err := f.Message.AppendJSON(nil, a.Data)
	return err == nil
}

// attachedField returns the field of SelectedContext for a tag; nil if there is none.
func attachedField(tag string) *wire.Field {
	for name, t := range attachedTags {
		if t == tag {
			return wire.Messages().Message("SelectedContext").Named(name)
		}
	}
	return nil
}

// appendHook appends a HookAdditionalContext.
func appendHook(dst []byte, h *session.Injected) []byte {
	return codecs().hook.Append(dst, &oneText{Text: []byte(h.Text)})
}

// TextStep encodes a text of the assistant. more are further fields of it, and outer those of
// the step, see Fields.
func TextStep(text string, start, end session.Stamp, more, outer []byte) []byte {
	m := assistantMessage{Text: []byte(text), Started: millis(start), Completed: millis(end)}
	b := append(codecs().text.Append(room(text, more), &m), more...)
	return append(codecs().step.Append(room(text, more, outer), &step{Text: b}), outer...)
}

// ThinkingStep encodes what the assistant thought.
func ThinkingStep(t *session.Thinking, more, outer []byte) []byte {
	m := thinkingMessage{Text: []byte(t.Text), Millis: uint64(t.Millis), Started: millis(t.Start), Completed: millis(t.End)}
	b := append(codecs().thinking.Append(room(t.Text, more), &m), more...)
	return append(codecs().step.Append(room(t.Text, more, outer), &step{Thinking: b}), outer...)
}

// room returns a buffer for a message of a text and further fields.
func room(text string, fields ...[]byte) []byte {
	n := len(text) + 64
	for _, f := range fields {
		n += len(f)
	}
	return make([]byte, 0, n)
}

// Call is a tool call.
type Call struct {
	ID, Kind    string
	Args, Value []byte // encoded as the kind's messages; nil: none
	Start, End  session.Stamp

	Body, More []byte // further members of the kind's message and of the ToolCall, as JSON
	Outer      []byte // further fields of the step, see Fields
}

// CallStep encodes a tool call. It returns an error if the kind is not one of the client's,
// or has no place for what is given.
func CallStep(c *Call) ([]byte, error) {
	kind := codecs().body.Message
	num, err := strconv.Atoi(strings.TrimPrefix(c.Kind, "tool-"))
	if f := codecs().call.Message.Named(c.Kind + "ToolCall"); f != nil && f.OneOf != "" {
		kind, num, err = f.Message, f.Num, nil
	}
	args, result := kind.Named("args"), kind.Named("result")
	if err != nil || args == nil || result == nil {
		return nil, fmt.Errorf("unknown kind of tool call %q", c.Kind)
	}
	body, err := kind.AppendJSON(nil, slices.Concat([]byte{'{'}, c.Body, []byte{'}'}), wire.Given{Num: args.Num, Bytes: c.Args}, wire.Given{Num: result.Num, Bytes: c.Value})
	if err != nil {
		return nil, err
	}
	doc := comma(append([]byte{'{'}, c.More...))
	doc = session.AppendString(append(doc, `"toolCallId":`...), c.ID)
	if c.Start.Known() {
		doc = fmt.Appendf(doc, `,"startedAtMs":"%d"`, c.Start.Millis())
	}
	if c.End.Known() {
		doc = fmt.Appendf(doc, `,"completedAtMs":"%d"`, c.End.Millis())
	}
	message, err := codecs().call.Message.AppendJSON(nil, append(doc, '}'), wire.Given{Num: num, Bytes: body})
	if err != nil {
		return nil, err
	}
	return append(codecs().step.Append(make([]byte, 0, len(message)+len(c.Outer)+16), &step{Call: message}), c.Outer...), nil
}

// AgentTurn is a turn of the agent.
type AgentTurn struct {
	User           ID
	Steps          []ID
	Request, Model string
	More           []byte // further fields, see Fields
}

// Turn stores a turn.
func (b *Builder) Turn(ctx context.Context, t *AgentTurn) (ID, error) {
	m := agentTurn{User: t.User, Steps: t.Steps, Request: present(t.Request), Model: present(t.Model)}
	return b.Blob(ctx, codecs().turn.Append(nil, &turnCases{Agent: append(codecs().agent.Append(nil, &m), t.More...)}))
}

// ShellTurn stores a command that the user ran. output is JSON of a ShellOutput, nil if
// there is none.
func (b *Builder) ShellTurn(ctx context.Context, command string, output session.Raw) (ID, error) {
	c := codecs()
	m := shellTurn{}
	var err error
	if m.Command, err = b.Blob(ctx, c.command.Append(nil, &oneText{Text: []byte(command)})); err != nil {
		return ID{}, err
	}
	if output != nil {
		out, err := c.output.Message.AppendJSON(nil, output)
		if err != nil {
			return ID{}, err
		}
		if m.Output, err = b.Blob(ctx, out); err != nil {
			return ID{}, err
		}
	}
	return b.Blob(ctx, c.turn.Append(nil, &turnCases{Shell: c.shell.Append(nil, &m)}))
}

// Archive stores messages that the model no longer sees, and what replaces them.
func (b *Builder) Archive(ctx context.Context, messages []ID, text string, summary ID) (ID, error) {
	return b.Blob(ctx, codecs().archive.Append(nil, &summaryArchive{Messages: messages, Text: present(text), Summary: summary}))
}

// present returns the bytes of a field that is absent if it is empty.
func present(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(strings.ToValidUTF8(text, "\uFFFD"))
}

// millis is the inverse of stored. An inferred time is not stored.
func millis(at session.Stamp) uint64 {
	if !at.Known() || at.Inferred() || at.Millis() <= 0 {
		return 0
	}
	return uint64(at.Millis())
}

// comma separates what follows from the member before it.
func comma(doc []byte) []byte {
	if doc[len(doc)-1] == '{' || doc[len(doc)-1] == '[' {
		return doc
	}
	return append(doc, ',')
}

// HasMode reports whether a turn or a session can have this mode.
func HasMode(mode string) bool { return codecs().user.Message.Named("mode").Number(mode) > 0 }

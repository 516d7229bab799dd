package agentstate

import (
	"context"
	"crypto/sha256"
	"fmt"

	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// Builder encodes a conversation as blobs, each before the one that refers to it. It uses
// the tables that Read decodes by.
type Builder struct {
	// Put stores a blob. The bytes are valid until it returns.
	Put func(ctx context.Context, id ID, data []byte) error

	root conversation
	turn agentTurn
}

// Prompt adds a prompt message: a JSON object that the model sees.
func (b *Builder) Prompt(ctx context.Context, doc []byte) error {
	id, err := b.put(ctx, doc)
	b.root.Prompts = append(b.root.Prompts, id)
	return err
}

// Begin begins a turn with what the user asked.
func (b *Builder) Begin(ctx context.Context, request, message, text string, at session.Stamp) (err error) {
	b.turn = agentTurn{}
	if request != "" {
		b.turn.Request = []byte(request)
	}
	b.turn.User, err = b.put(ctx, codecs().user.Append(nil, &userMessage{Text: []byte(text), ID: []byte(message), Started: millis(at)}))
	return err
}

// Text adds a text of the assistant to the turn.
func (b *Builder) Text(ctx context.Context, text string, start, end session.Stamp) error {
	m := assistantMessage{Text: []byte(text), Started: millis(start), Completed: millis(end)}
	return b.step(ctx, &step{Text: codecs().text.Append(nil, &m)})
}

// Thinking adds what the assistant thought to the turn.
func (b *Builder) Thinking(ctx context.Context, t *session.Thinking) error {
	m := thinkingMessage{Text: []byte(t.Text), Millis: uint64(t.Millis), Started: millis(t.Start), Completed: millis(t.End)}
	return b.step(ctx, &step{Thinking: codecs().thinking.Append(nil, &m)})
}

// Call adds a tool call to the turn. c.Args and value, which is nil for a call without a
// result, are JSON as the client's messages spell it. It returns an error if c.Kind is not
// one of the client's, or has no place for them.
func (b *Builder) Call(ctx context.Context, c *session.ToolCall, value session.Raw) error {
	kind := c.Kind + "ToolCall"
	if f := codecs().call.Message.Named(kind); f == nil || f.OneOf == "" {
		return fmt.Errorf("unknown kind of tool call %q", c.Kind)
	}
	doc := append(rawjson.Quote([]byte{'{'}, []byte(kind)), `:{"args":`...)
	if doc = append(doc, c.Args...); value != nil {
		doc = append(append(doc, `,"result":`...), value...)
	}
	doc = rawjson.Quote(append(doc, `},"toolCallId":`...), []byte(c.ID))
	if c.Start.Known() {
		doc = fmt.Appendf(doc, `,"startedAtMs":"%d"`, c.Start.Millis())
	}
	if c.End.Known() {
		doc = fmt.Appendf(doc, `,"completedAtMs":"%d"`, c.End.Millis())
	}
	call, err := codecs().call.Message.AppendJSON(nil, append(doc, '}'))
	if err != nil {
		return err
	}
	return b.step(ctx, &step{Call: call})
}

// End ends the turn.
func (b *Builder) End(ctx context.Context) error {
	id, err := b.put(ctx, codecs().turn.Append(nil, &turnCases{Agent: codecs().agent.Append(nil, &b.turn)}))
	b.root.Turns = append(b.root.Turns, id)
	return err
}

// Root stores the root of the conversation and returns its id. More turns may follow, and
// another root.
func (b *Builder) Root(ctx context.Context) (ID, error) {
	return b.put(ctx, codecs().root.Append(nil, &b.root))
}

func (b *Builder) step(ctx context.Context, s *step) error {
	id, err := b.put(ctx, codecs().step.Append(nil, s))
	b.turn.Steps = append(b.turn.Steps, id)
	return err
}

func (b *Builder) put(ctx context.Context, data []byte) (ID, error) {
	id := ID(sha256.Sum256(data))
	return id, b.Put(ctx, id, data)
}

// millis is the inverse of stored.
func millis(at session.Stamp) uint64 {
	if !at.Known() {
		return 0
	}
	return uint64(at.Millis())
}

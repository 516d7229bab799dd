package tables

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"rehome/formats/session"
)

// set is the files of all tables while they are written.
type set struct {
	sessions *table[Session]
	turns    *table[Turn]
	messages *table[Message]
	calls    *table[ToolCall]
	results  *table[ToolResult]
	losses   *table[Loss]
}

// builder makes the rows of one session.
type builder struct {
	*set
	ids      map[string]string // see writer
	head     Session
	turn     *Turn // the current one
	branch   string
	seq      int64
	repaired int64
	pending  calls
}

// put adds a row to a table and counts what was repaired in it.
func put[R any](b *builder, t *table[R], row *R) error {
	n, err := t.put(row)
	b.repaired += n
	return err
}

// session adds the rows of a session to all tables but sessions and losses. lookup
// reads the session once more.
func (b *builder) session(ctx context.Context, s *session.Session, lookup func(func(*session.Message) error) error) error {
	b.pending = calls{lookup: lookup, put: func(row *ToolCall) error { return put(b, b.calls, row) }}
	b.setHead(s)
	err := session.Each(ctx, s.Messages, b.message)
	if err == nil {
		err = errors.Join(b.endTurn(), b.pending.end())
	}
	if err != nil {
		return err
	}
	return session.Each(ctx, s.Files, func(*session.File) error {
		b.head.FileSnapshots++
		return nil
	})
}

// sessionID returns the id of a session, or what takes its place.
func (b *builder) sessionID(id string) string {
	if name, named := b.ids[id]; named || b.ids == nil || isID(id) {
		return cmp.Or(name, id)
	}
	return ""
}

func (b *builder) setHead(s *session.Session) {
	h := &b.head
	h.Complete, h.Agent, h.Workspace, h.SessionID = true, s.Agent, s.Workspace, cmp.Or(b.sessionID(s.ID), h.SessionID)
	h.Address = h.Store + "#" + s.ID
	h.Title, h.Status, h.Mode, h.Model, h.GitBranch, h.Folders = s.Title, s.Status, s.Mode, s.Model, s.Branch, s.Folders
	h.CreatedAt, h.UpdatedAt = b.time(s.Created, &h.TimesInferred), b.time(s.Updated, &h.TimesInferred)
	if s.Parent != nil {
		h.ParentSession, h.ParentCall = b.sessionID(s.Parent.Session), s.Parent.Call
	}
	if s.Context != nil {
		h.ContextUsed, h.ContextMax = count(s.Context.Used), count(s.Context.Max)
	}
	h.ExtraMembers += extras(s)
}

// origin returns the columns of a row that was made from these records.
func (b *builder) origin(from []string) Origin {
	o := b.head.Origin
	if o.Address = ""; len(from) > 0 {
		o.Address = from[0]
	}
	return o
}

func (b *builder) message(m *session.Message) error {
	if m.Turn != nil || m.Branch != b.branch {
		if err := b.endTurn(); err != nil {
			return err
		}
		if b.branch = m.Branch; m.Turn != nil {
			b.startTurn(m)
		}
	}
	row := Message{
		Origin: b.origin(m.Origin), Place: Place{Seq: b.seq, Branch: m.Branch, MessageID: m.ID},
		ParentID: m.Parent, Role: string(m.Role), Model: m.Model, Simulated: m.Simulated, Archived: m.Archived,
	}
	row.SentAt, row.EndedAt = b.time(m.At, &row.TimesInferred), b.time(m.End, &row.TimesInferred)
	if b.turn != nil {
		row.Turn = b.turn.Turn
		b.turn.Messages++
	}
	b.seq++
	b.head.Messages++
	b.head.ExtraMembers += extras(m)
	var texts pieces
	for i, part := range m.Parts {
		if err := b.part(&row, &texts, int64(i), part); err != nil {
			return err
		}
	}
	row.Text, row.Thinking, row.Context, row.Summary = texts.text.String(), texts.thinking.String(), texts.context.String(), texts.summary.String()
	row.TextBytes, row.ThinkingBytes, row.ContextBytes, row.SummaryBytes = texts.text.size, texts.thinking.size, texts.context.size, texts.summary.size
	b.head.TextBytes += row.TextBytes
	return put(b, b.messages, &row)
}

// pieces are the texts of a message.
type pieces struct{ text, thinking, context, summary joined }

// joined is texts joined with blank lines. One text is not copied.
type joined struct {
	list []string
	size int64
}

func (j *joined) add(s string) {
	if s != "" {
		j.list = append(j.list, s)
		j.size += int64(len(s))
	}
}

func (j *joined) String() string { return strings.Join(j.list, "\n\n") }

// part adds a part of a message to its row, or a row of its own.
func (b *builder) part(row *Message, texts *pieces, at int64, part session.Part) error {
	kind := ""
	switch p := part.(type) {
	case *session.Text:
		kind = "text"
		texts.text.add(p.Text)
	case *session.Thinking:
		kind = "thinking"
		texts.thinking.add(p.Text)
	case *session.Injected:
		kind = "context"
		if texts.context.add(p.Text); p.Text == "" {
			texts.context.add(string(p.Data))
		}
	case *session.Summary:
		kind = "summary"
		texts.summary.add(p.Text)
	case *session.Media:
		kind = "media"
		row.Media++
		row.MediaBytes += int64(len(p.Data))
		b.head.Media++
	case *session.Opaque:
		kind = "opaque"
		b.head.OpaqueParts++
	case *session.Boundary:
		kind = "boundary"
	case *session.ToolCall:
		row.Parts = append(row.Parts, "tool_call")
		return b.call(row, at, p)
	case *session.ToolResult:
		row.Parts = append(row.Parts, "tool_result")
		return b.result(row, at, p)
	}
	row.Parts = append(row.Parts, kind)
	return nil
}

func (b *builder) call(m *Message, at int64, p *session.ToolCall) error {
	row := &ToolCall{Origin: m.Origin, Place: m.Place, Part: at, CallID: p.ID, Name: p.Name, Kind: p.Kind, Args: string(p.Args), ChildSession: b.sessionID(p.Child)}
	if row.Input = string(p.Input); row.Args == "" {
		row.Args, row.Input = row.Input, ""
	}
	row.ArgsBytes = int64(len(row.Args))
	row.StartedAt, row.EndedAt = b.time(p.Start, &row.TimesInferred), b.time(p.End, &row.TimesInferred)
	row.DurationMS = between(row.StartedAt, row.EndedAt)
	b.head.ToolCalls++
	if b.turn != nil {
		b.turn.ToolCalls++
	}
	return b.pending.add(row)
}

func (b *builder) result(m *Message, at int64, p *session.ToolResult) error {
	row := &ToolResult{Origin: m.Origin, Place: m.Place, Part: at, CallID: p.Call, Status: p.Status, Error: p.Error, Value: string(p.Value), ValueBytes: int64(len(p.Value))}
	for _, part := range p.Content {
		switch p := part.(type) {
		case *session.Media:
			row.Media++
			row.MediaBytes += int64(len(p.Data))
		case *session.Opaque:
			b.head.OpaqueParts++
		}
	}
	text := textOf(p)
	row.Text, row.TextBytes = text.String(), text.size
	b.head.Media += row.Media
	if p.Error {
		b.head.ToolErrors++
	}
	if err := b.pending.answer(p.Call, answer{p.Status, p.Error, row.TextBytes}); err != nil {
		return err
	}
	return put(b, b.results, row)
}

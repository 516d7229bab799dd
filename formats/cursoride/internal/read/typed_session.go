package read

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// fromPrompts marks messages that come from a list of prompts.
const fromPrompts = "prompts"

// seenPrompts maps prompts of selected lists to whether a session contains them. The
// workspace is part of the key: the same text in another one is another prompt.
type seenPrompts map[store.Digest]bool

func promptDigest(space, text string) store.Digest {
	return digest.Bytes([]byte(space + "\x00" + strings.TrimSpace(text)))
}

func requestDigest(id string) store.Digest { return digest.Bytes([]byte("\x00request\x00" + id)) }

// wantPrompts collects the prompts of selected lists, which leave out what sessions
// contain.
func (x *Reader) wantPrompts(ctx context.Context, sel session.Selection) error {
	for _, e := range x.ByID {
		if e.Body != lists.InPrompts || !sel.Includes(e.ID) || !x.Wanted(e) {
			continue
		}
		list, err := x.Prompts(ctx, e.Asked)
		if err != nil {
			return err
		}
		if x.seen == nil {
			x.seen = seenPrompts{}
		}
		for _, t := range list {
			for _, space := range e.Scope() {
				x.seen[promptDigest(space, t.Text)] = false
			}
			x.seen[requestDigest(t.Request())] = false
		}
	}
	return nil
}

// markSeen marks the prompts of a session.
func (x *Reader) markSeen(e *lists.Entry, m *session.Message) {
	if x.seen == nil || m == nil || m.Role != session.User {
		return
	}
	mark := func(d store.Digest) {
		if _, wanted := x.seen[d]; wanted {
			x.seen[d] = true
		}
	}
	for _, p := range m.Parts {
		if text, ok := p.(*session.Text); ok {
			mark(promptDigest(e.Workspace, text.Text))
			mark(promptDigest(lists.Anywhere, text.Text))
		}
	}
	if m.Turn != nil && m.Turn.RequestID != "" {
		mark(requestDigest(m.Turn.RequestID))
	}
}

// said reports whether a session contains a prompt.
func (x *Reader) said(e *lists.Entry, t *lists.Typed) bool {
	for _, space := range e.Scope() {
		if x.seen[promptDigest(space, t.Text)] {
			return true
		}
	}
	return t.Request() != "" && x.seen[requestDigest(t.Request())]
}

// rest prepares a session that is a prompt history.
func (x *Reader) rest(ctx context.Context, e *lists.Entry, note loss.Sink) (*Chat, error) {
	c := &Chat{Entry: e, x: x, ctx: ctx, note: note, past: -1}
	c.Out.ID, c.Out.Agent, c.Out.Title, c.Out.Head.Turns, c.Out.Bytes, c.Out.Status = e.ID, session.CursorIDE, e.Title, -1, -1, e.Mark()
	c.Out.Mark = c.Out.Status
	c.settleFolder(e.Folder)
	e.Asked.NoteOthers(note)
	list, err := x.Prompts(ctx, e.Asked)
	taken := map[string]bool{}
	for _, t := range list {
		taken[t.Text] = taken[t.Text] || t.Owner != nil
	}
	for _, t := range list {
		if !taken[t.Text] {
			c.typed = append(c.typed, t)
		}
	}
	return c, err
}

// unsaid returns the prompts of a list that no session contains.
func (w *walk) unsaid() (list []*lists.Typed) {
	for _, t := range w.typed {
		if !w.x.said(w.Entry, t) {
			list = append(list, t)
		}
	}
	return list
}

// remembered yields the prompts of a session that only a list has; false if the
// consumer has stopped.
func (w *walk) remembered(yield func(*session.Message, error) bool) bool {
	names := map[string]int{}
	for i, t := range w.typed {
		n := loss.Loss{Code: loss.PromptRecovered, At: t.Page.Addr}
		if w.Body == lists.InPrompts {
			n.Code = loss.PromptStray
		}
		w.note.Add(n)
		if !yield(w.typedMessage(i+1, t, names), nil) {
			return false
		}
	}
	return true
}

// typedMessage makes a message of a listed prompt. For a session only its own list
// counts, so that a part of the store gives the same result.
func (w *walk) typedMessage(turn int, t *lists.Typed, names map[string]int) *session.Message {
	m := &session.Message{Role: session.User, At: t.At, Turn: &session.Turn{Number: turn}}
	text := &session.Text{Text: t.Text}
	from := []*lists.Typed{t}
	if t.Owner != nil {
		text.From = fromPrompts
	} else if t.Twin != nil {
		from = append(from, t.Twin)
		m.At = cmp.Or(t.At, t.Twin.At)
	}
	name := t.Request()
	if name == "" && m.At.Known() {
		name = strconv.FormatInt(m.At.Millis(), 10)
	}
	m.ID = "prompt-" + cmp.Or(name, strconv.Itoa(t.Number))
	for base := m.ID; names[m.ID] > 0; {
		names[base]++
		m.ID = fmt.Sprintf("%s-%d", base, names[base])
	}
	names[m.ID]++
	m.Parts = []session.Part{text}
	for _, t := range from {
		m.Origin = append(m.Origin, t.Page.Addr.String())
		var f members.Object
		if f.SplitBy(t.Raw, "", lists.TypedTable()) {
			f.KeepFull(lists.TypCommand, lists.TypID, lists.TypKind)
			if _, exact := lists.Moment(f.Raw(lists.TypTime)); !exact {
				f.Keep(lists.TypTime)
			}
			m.Extras = append(m.Extras, f.Settle(&w.tally)...)
		}
	}
	return m
}

// scanOnly reads a session that is not selected, for the prompts in it.
func (f *feed) scanOnly(ctx context.Context, e *lists.Entry) bool {
	if e.Body == lists.InPrompts {
		return true
	}
	f.begun[e], f.mute = true, true
	defer func() { f.mute = false }()
	c, err := f.x.Prepare(ctx, e, f.note)
	if err != nil {
		return ctx.Err() == nil
	}
	c.quiet = true
	return f.session(ctx, e, c, nil)
}

// markUnwanted marks the prompts of such a session.
func (x *Reader) markUnwanted(ctx context.Context, p piece) {
	for _, m := range p.messages {
		x.markSeen(p.chat.Entry, m)
	}
	if _, ended := p.step.(end); ended && p.chat.spine {
		p.chat.agent.sink = func(loss.Loss) {}
		for m, err := range p.chat.agent.Messages(ctx) {
			if err != nil {
				return
			}
			x.markSeen(p.chat.Entry, m)
		}
	}
}

package cursoride

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"rehome/formats/internal/digest"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// fromPrompts marks what a session has lost and a list of prompts has.
const fromPrompts = "prompts"

// overheard are the prompts in lists that are to be sessions: whether another
// session has said them. A prompt in one workspace is none of another's.
type overheard map[store.Digest]bool

// anywhere is the workspace of the list that is of none.
const anywhere = "\x00"

func heardAs(space, text string) store.Digest {
	return digest.Bytes([]byte(space + "\x00" + strings.TrimSpace(text)))
}

func heardID(id string) store.Digest { return digest.Bytes([]byte("\x00request\x00" + id)) }

// listen gets ready to hear what sessions say, where a list is wanted that it
// has to be left out of.
func (x *index) listen(ctx context.Context, sel session.Selection) error {
	for _, e := range x.byID {
		if e.body != inTyped || !sel.Includes(e.id) || !x.wanted(e) {
			continue
		}
		list, err := x.prompts(ctx, e.asked)
		if err != nil {
			return err
		}
		if x.heard == nil {
			x.heard = overheard{}
		}
		for _, t := range list {
			for _, space := range e.scope() {
				x.heard[heardAs(space, t.text)] = false
			}
			x.heard[heardID(t.request())] = false
		}
	}
	return nil
}

// scope is where a prompt in a list of the database would be said: in its
// workspace, in sessions that name none.
func (e *entry) scope() []string {
	if e.where == nil {
		return []string{anywhere}
	}
	return []string{e.space, ""}
}

func (t *typed) request() string {
	if t.twin != nil {
		return cmp.Or(t.id, t.twin.id)
	}
	return t.id
}

// hear takes in what is said in a session.
func (x *index) hear(e *entry, m *session.Message) {
	if x.heard == nil || m == nil || m.Role != session.User {
		return
	}
	mark := func(d store.Digest) {
		if _, wanted := x.heard[d]; wanted {
			x.heard[d] = true
		}
	}
	for _, p := range m.Parts {
		if text, ok := p.(*session.Text); ok {
			mark(heardAs(e.space, text.Text))
			mark(heardAs(anywhere, text.Text))
		}
	}
	if m.Turn != nil && m.Turn.RequestID != "" {
		mark(heardID(m.Turn.RequestID))
	}
}

// said reports whether a session says a prompt.
func (x *index) said(e *entry, t *typed) bool {
	for _, space := range e.scope() {
		if x.heard[heardAs(space, t.text)] {
			return true
		}
	}
	return t.request() != "" && x.heard[heardID(t.request())]
}

// noteOthers notes what a list holds besides prompts.
func (h *typedLists) noteOthers(note loss.Sink) {
	for i, n := range h.others {
		for range n {
			note(loss.Loss{Code: loss.HistoryEntryEmpty, At: h.pages[i].addr})
		}
	}
}

// rest prepares a session that is a prompt history.
func (x *index) rest(ctx context.Context, e *entry, note loss.Sink) (*chat, error) {
	c := &chat{entry: e, x: x, ctx: ctx, note: note, past: -1}
	c.out.ID, c.out.Agent, c.out.Title, c.out.Turns, c.out.Bytes, c.out.Status = e.id, session.CursorIDE, e.title, -1, -1, e.mark()
	c.out.Mark = c.out.Status
	c.settleFolder(e.folder)
	e.asked.noteOthers(note)
	list, err := x.prompts(ctx, e.asked)
	taken := map[string]bool{}
	for _, t := range list {
		taken[t.text] = taken[t.text] || t.owner != nil
	}
	for _, t := range list {
		if !taken[t.text] {
			c.typed = append(c.typed, t)
		}
	}
	return c, err
}

// unsaid are the prompts of a list that no session says.
func (w *walk) unsaid() (list []*typed) {
	for _, t := range w.typed {
		if !w.x.said(w.entry, t) {
			list = append(list, t)
		}
	}
	return list
}

// remembered gives the prompts of a session that only a list has; false where
// the consumer has had enough.
func (w *walk) remembered(yield func(*session.Message, error) bool) bool {
	names := map[string]int{}
	for i, t := range w.typed {
		n := loss.Loss{Code: loss.PromptRecovered, At: t.page.addr}
		if w.body == inTyped {
			n.Code = loss.PromptStray
		}
		w.note(n)
		if !yield(w.typedMessage(i+1, t, names), nil) {
			return false
		}
	}
	return true
}

// typedMessage makes a prompt of an entry. Of a session's own only what its own
// list says counts, so that a part of the store says the same.
func (w *walk) typedMessage(turn int, t *typed, names map[string]int) *session.Message {
	m := &session.Message{Role: session.User, At: t.at, Turn: &session.Turn{Number: turn}}
	text := &session.Text{Text: t.text}
	from := []*typed{t}
	if t.owner != nil {
		text.From = fromPrompts
	} else if t.twin != nil {
		from = append(from, t.twin)
		m.At = cmp.Or(t.at, t.twin.at)
	}
	name := t.request()
	if name == "" && m.At.Known() {
		name = strconv.FormatInt(m.At.Millis(), 10)
	}
	m.ID = "prompt-" + cmp.Or(name, strconv.Itoa(t.number))
	for base := m.ID; names[m.ID] > 0; {
		names[base]++
		m.ID = fmt.Sprintf("%s-%d", base, names[base])
	}
	names[m.ID]++
	m.Parts = []session.Part{text}
	for _, t := range from {
		m.Origin = append(m.Origin, t.page.addr.String())
		var f fields
		if f.split(t.raw, "", typedTable()) {
			f.keepFull(typCommand, typID, typKind)
			if _, exact := moment(f.raw(typTime)); !exact {
				f.keep(typTime)
			}
			m.Extras = append(m.Extras, f.settle(&w.tally)...)
		}
	}
	return m
}

// overhear reads a session that nobody wants, for what is asked in it.
func (f *feed) overhear(ctx context.Context, e *entry) bool {
	if e.body == inTyped {
		return true
	}
	f.begun[e], f.mute = true, true
	defer func() { f.mute = false }()
	c, err := f.x.prepare(ctx, e, f.note)
	if err != nil {
		return ctx.Err() == nil
	}
	c.quiet = true
	return f.session(ctx, e, c, nil)
}

// overhear takes in what was read of such a session.
func (x *index) overhear(ctx context.Context, f *feed, p piece) {
	f.spent(p.bytes)
	for _, m := range p.messages {
		x.hear(p.chat.entry, m)
	}
	if p.end && p.chat.spine {
		p.chat.agent.sink = func(loss.Loss) {}
		for m, err := range p.chat.agent.Messages(ctx) {
			if err != nil {
				return
			}
			x.hear(p.chat.entry, m)
		}
	}
}

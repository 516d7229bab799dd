// Package read decodes the sessions of a Cursor IDE store.
package read

import (
	"context"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// Reader decodes the sessions of one store.
type Reader struct {
	*lists.Index
	seek    bool            // a selected session is in no list
	given   map[string]bool // subagents in the state of a session, once yielded
	history bool            // include abandoned turns
	seen    seenPrompts     // nil: no list of prompts is selected
}

// New returns a reader of a store. note receives the losses; it can be nil.
func New(p *lists.Store, note loss.Sink) *Reader {
	return &Reader{Index: lists.NewIndex(p, note), given: map[string]bool{}}
}

// Decode yields one session after the other.
func Decode(ctx context.Context, p *lists.Store, v formats.View, sel session.Selection, yield func(*session.Session, error) bool) error {
	x := New(p, v.OnLoss)
	x.history = sel.History
	if err := x.Read(ctx); err != nil {
		return err
	}
	if len(sel.IDs) == 0 && x.Only == nil {
		t, err := x.Strays(ctx)
		if err != nil {
			return err
		}
		sel.Account.Add(t)
	}
	sel.Account.Add(x.Account)
	for _, id := range sel.IDs {
		x.seek = x.seek || x.ByID[id] == nil
	}
	if err := x.wantPrompts(ctx, sel); err != nil {
		return err
	}
	f := x.feed(ctx, sel)
	defer f.close()
	for p := range f.out {
		if ctx.Err() != nil {
			break // without the sessions that were read ahead
		}
		x.report(p.losses)
		if !x.take(ctx, f, p, sel, yield) {
			return nil
		}
	}
	for _, h := range x.Typed {
		if h.Rest == nil && len(sel.IDs) == 0 && x.Only == nil {
			h.NoteOthers(x.Note)
		}
	}
	return ctx.Err()
}

// take takes the next piece from the feed: a session that begins, which it yields with
// the pieces that follow, or one that has no messages. It returns false if the consumer
// has stopped.
func (x *Reader) take(ctx context.Context, f *feed, p piece, sel session.Selection, yield func(*session.Session, error) bool) bool {
	if p.chat.quiet {
		x.markUnwanted(ctx, p)
		return true
	}
	switch last := p.step.(type) {
	case inner:
		w := &walk{Chat: p.chat, note: x.Note, ctx: ctx}
		return (&innerSessions{walk: w, sel: sel, yield: yield}).all(&p.chat.Out, p.chat.kids)
	case end:
		s := &p.chat.Out
		if p.chat.Body == lists.Tombstone {
			sel.Account.Add(p.chat.tally)
			s = nil
		}
		return last.err == nil || yield(s, last.err)
	}
	s := p.chat.session(ctx, f)
	if s.Body == lists.InPrompts {
		if s.typed = s.unsaid(); len(s.typed) == 0 && !s.Asked.Listed {
			s.drain()
			return true
		}
	}
	if !yield(&s.Out, nil) {
		return false
	}
	s.drain()
	sel.Account.Add(s.account())
	return (&innerSessions{walk: s, sel: sel, wanted: true, yield: yield}).all(&s.Out, s.kids)
}

func (x *Reader) report(losses []loss.Loss) {
	for _, n := range losses {
		x.Note.Add(n)
	}
}

// walk is a session that the consumer reads.
type walk struct {
	*Chat
	note   loss.Sink // of the consumer; the goroutines of the feed have their own
	tally  session.Account
	ctx    context.Context
	feed   *feed
	walked bool
	over   bool // its last piece was taken
}

// session returns a session that the feed has begun, with its streams.
func (c *Chat) session(ctx context.Context, f *feed) *walk {
	w := &walk{Chat: c, note: f.x.Note, ctx: ctx, feed: f}
	if c.spine {
		c.agent.sink = w.note
	}
	w.Out.Messages = w.messages
	w.Out.Files = w.files
	return w
}

func (w *walk) messages(yield func(*session.Message, error) bool) {
	if w.walked {
		return
	}
	w.walked = true
	if w.spine && !w.states(yield) || !w.remembered(yield) {
		return
	}
	for !w.over {
		p, ok := w.next()
		if !ok {
			return
		}
		for _, m := range p.messages {
			if !yield(m, nil) {
				return
			}
		}
		if last, ok := p.step.(end); ok && last.err != nil {
			yield(nil, last.err)
		}
	}
}

// next returns the next piece of the session.
func (w *walk) next() (p piece, ok bool) {
	if p, ok = <-w.feed.out; ok {
		w.x.report(p.losses)
		_, w.over = p.step.(end)
		for _, m := range p.messages {
			w.x.markSeen(w.Entry, m)
		}
	}
	return p, ok
}

// drain takes the pieces that the consumer did not read.
func (w *walk) drain() {
	if w.spine && !w.walked && w.x.seen != nil {
		w.states(func(*session.Message, error) bool { return true })
	}
	for !w.over {
		if _, ok := w.next(); !ok {
			return
		}
	}
}

// states yields a conversation that only the agent's state contains; false if the
// stream ends with it.
func (w *walk) states(yield func(*session.Message, error) bool) bool {
	for m, err := range w.agent.Messages(w.ctx) {
		w.x.markSeen(w.Entry, m)
		w.complete(m)
		if !yield(m, err) || err != nil {
			return false
		}
	}
	return true
}

// account returns the account of a session that was read.
func (w *walk) account() session.Account {
	t := w.Chat.tally
	switch {
	case w.spine:
		w.agent.count(&t)
	case w.agent != nil:
		t.Add(w.filled)
	}
	if w.assembler != nil {
		t.Add(w.assembler.tally)
	}
	t.Add(w.tally)
	return t
}

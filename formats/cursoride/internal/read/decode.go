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
	seek    bool            // a session is wanted that no list names
	given   map[string]bool // subagents that lay in a session's state
	history bool            // abandoned turns, too
	seen    seenPrompts     // nil: no list of prompts is wanted
}

// New returns a reader of a store. note gets the losses; it can be nil.
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
		x.tell(p.notes)
		if !x.give(ctx, f, p, sel, yield) {
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

// give takes a piece that the feed hands on: a session that begins, which is
// given to the consumer, or the end of one. false: the consumer has had enough.
func (x *Reader) give(ctx context.Context, f *feed, p piece, sel session.Selection, yield func(*session.Session, error) bool) bool {
	switch {
	case p.chat.quiet:
		x.markUnwanted(ctx, f, p)
		return true
	case p.inner:
		w := &walk{Chat: p.chat, note: x.Note, ctx: ctx}
		return (&innerSessions{walk: w, sel: sel, yield: yield}).all(&p.chat.Out, p.chat.kids)
	case p.end && p.chat.Body == lists.Tombstone:
		sel.Account.Add(p.chat.tally)
		return p.err == nil || yield(nil, p.err)
	case p.end:
		return p.err == nil || yield(&p.chat.Out, p.err)
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
	sel.Account.Add(s.books())
	return (&innerSessions{walk: s, sel: sel, wanted: true, yield: yield}).all(&s.Out, s.kids)
}

// tell passes notes on.
func (x *Reader) tell(notes []loss.Loss) {
	for _, n := range notes {
		x.Note.Add(n)
	}
}

// walk is a session that is being walked.
type walk struct {
	*Chat
	note   loss.Sink // the consumer's: who works ahead has others
	tally  session.Account
	ctx    context.Context
	feed   *feed
	walked bool
	over   bool // there is nothing more of it
}

// session makes the streams of a session that the feed has begun.
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
		if p.err != nil {
			yield(nil, p.err)
			return
		}
	}
}

// next is the next piece of the session.
func (w *walk) next() (p piece, ok bool) {
	if p, ok = <-w.feed.out; ok {
		w.x.tell(p.notes)
		w.over = p.end
		w.feed.spent(p.bytes)
		for _, m := range p.messages {
			w.x.markSeen(w.Entry, m)
		}
	}
	return p, ok
}

// drain passes what the consumer did not walk.
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

// states gives the conversation that only the agent's own state has; false
// where that is the end of it.
func (w *walk) states(yield func(*session.Message, error) bool) bool {
	for m, err := range w.agent.Messages(w.ctx) {
		w.x.markSeen(w.Entry, m)
		if !yield(m, err) || err != nil {
			return false
		}
	}
	return true
}

// books are the accounts of a session that was walked.
func (w *walk) books() session.Account {
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

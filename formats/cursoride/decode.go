package cursoride

import (
	"context"
	"errors"
	"iter"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// decoder is Decode with what databases taught so far.
func decoder(known *sqlitefile.Known) func(context.Context, *formats.Location, formats.View, session.Selection) iter.Seq2[*session.Session, error] {
	return func(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
		return opened(ctx, l, v, known, func(p *place, yield func(*session.Session, error) bool) error {
			return decode(ctx, p, v, sel, yield)
		})
	}
}

// opened opens a store for walk and closes it afterwards. A consumer that has
// stopped is not told what was wrong with closing it.
func opened[T any](ctx context.Context, l *formats.Location, v formats.View, known *sqlitefile.Known, walk func(p *place, yield func(*T, error) bool) error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		more := true
		p, err := survey(ctx, l, v, known)
		if err == nil {
			err = walk(p, func(one *T, err error) bool {
				more = yield(one, err)
				return more
			})
			err = errors.Join(err, p.close())
		}
		if err != nil && more {
			yield(nil, err)
		}
	}
}

// decode gives one session after the other.
func decode(ctx context.Context, p *place, v formats.View, sel session.Selection, yield func(*session.Session, error) bool) error {
	x := newIndex(p, v.OnLoss)
	x.history = sel.History
	if err := x.read(ctx); err != nil {
		return err
	}
	if len(sel.IDs) == 0 && x.only == nil {
		t, err := x.strays(ctx, x.global)
		if err != nil {
			return err
		}
		sel.Account.Add(t)
	}
	sel.Account.Add(x.tally)
	for _, id := range sel.IDs {
		x.seek = x.seek || x.byID[id] == nil
	}
	if err := x.listen(ctx, sel); err != nil {
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
	for _, h := range x.typed {
		if h.rest == nil && len(sel.IDs) == 0 && x.only == nil {
			h.noteOthers(x.note)
		}
	}
	return ctx.Err()
}

// give takes a piece that the feed hands on: a session that begins, which is
// given to the consumer, or the end of one. false: the consumer has had enough.
func (x *index) give(ctx context.Context, f *feed, p piece, sel session.Selection, yield func(*session.Session, error) bool) bool {
	switch {
	case p.chat.quiet:
		x.overhear(ctx, f, p)
		return true
	case p.foster:
		w := &walk{chat: p.chat, note: x.note, ctx: ctx}
		return (&nursery{walk: w, sel: sel, yield: yield}).all(&p.chat.out, p.chat.kids)
	case p.end && p.chat.body == deletedC:
		sel.Account.Add(p.chat.tally)
		return p.err == nil || yield(nil, p.err)
	case p.end:
		return p.err == nil || yield(&p.chat.out, p.err)
	}
	s := p.chat.session(ctx, f)
	if s.body == inTyped {
		if s.typed = s.unsaid(); len(s.typed) == 0 && !s.asked.listed {
			s.drain()
			return true
		}
	}
	if !yield(&s.out, nil) {
		return false
	}
	s.drain()
	sel.Account.Add(s.books())
	return (&nursery{walk: s, sel: sel, wanted: true, yield: yield}).all(&s.out, s.kids)
}

// tell passes notes on.
func (x *index) tell(notes []loss.Loss) {
	for _, n := range notes {
		x.note(n)
	}
}

// walk is a session that is being walked.
type walk struct {
	*chat
	note   loss.Sink // the consumer's: who works ahead has others
	tally  session.Account
	ctx    context.Context
	feed   *feed
	walked bool
	over   bool // there is nothing more of it
}

// session makes the streams of a session that the feed has begun.
func (c *chat) session(ctx context.Context, f *feed) *walk {
	w := &walk{chat: c, note: f.x.note, ctx: ctx, feed: f}
	if c.spine {
		c.agent.sink = w.note
	}
	w.out.Messages = w.messages
	w.out.Files = w.files
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
			w.x.hear(w.entry, m)
		}
	}
	return p, ok
}

// drain passes what the consumer did not walk.
func (w *walk) drain() {
	if w.spine && !w.walked && w.x.heard != nil {
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
		w.x.hear(w.entry, m)
		if !yield(m, err) || err != nil {
			return false
		}
	}
	return true
}

// books are the accounts of a session that was walked.
func (w *walk) books() session.Account {
	t := w.chat.tally
	switch {
	case w.spine:
		w.agent.count(&t)
	case w.agent != nil:
		t.Add(w.filled)
	}
	if w.desk != nil {
		t.Add(w.desk.tally)
	}
	t.Add(w.tally)
	return t
}

package read

import (
	"context"
	"slices"
	"sync"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// A turn is read whole before it is handed on, because its record says what came at
// its end. A larger one is read twice: for its record, and then batch by batch.
const (
	maxTurn    = 4 << 20
	maxBubbles = 1024
	maxWaiting = 2 // pieces that wait between two goroutines
)

// piece is one step of a session, with what was found when it was read.
type piece struct {
	chat     *Chat
	losses   []loss.Loss
	messages []*session.Message // made of it
	step     step
}

// step is begin, *batch, end or inner.
type step interface{ step() }

type (
	begin struct{}            // the session begins
	end   struct{ err error } // it is complete, or cannot be read
	inner struct{}            // only the subagents in it are wanted
)

// batch holds the bubbles of a turn, or some of those of a large turn.
type batch struct {
	run     *run
	bubbles []*bubble
	turn    *session.Turn // where a turn begins: what is known of its end
	bytes   int64
}

func (begin) step()  {}
func (end) step()    {}
func (inner) step()  {}
func (*batch) step() {}

// feed works ahead of the consumer, which writes sessions and reads them again: one
// goroutine reads the database, one makes messages of what it read.
type feed struct {
	x    *Reader
	read chan piece
	out  chan piece
	stop context.CancelFunc
	done sync.WaitGroup

	begun  map[*lists.Entry]bool // true: read; false: waits for its parent
	late   []*lists.Entry        // children whose parents do not name them
	last   bool                  // those come now
	mute   bool                  // losses are not reported
	losses []loss.Loss           // since the last piece
}

func (x *Reader) feed(ctx context.Context, sel session.Selection) *feed {
	ctx, stop := context.WithCancel(ctx)
	f := &feed{x: x, read: make(chan piece, maxWaiting), out: make(chan piece, maxWaiting), stop: stop, begun: map[*lists.Entry]bool{}}
	f.done.Go(func() {
		defer close(f.read)
		f.all(ctx, sel)
	})
	f.done.Go(func() {
		defer close(f.out)
		for p := range f.read {
			p.assemble()
			if !send(ctx, f.out, p) {
				return
			}
		}
	})
	return f
}

// all reads every session that is wanted.
func (f *feed) all(ctx context.Context, sel session.Selection) {
	var typed []*lists.Entry
	for e := range f.x.Order() {
		if e.Body == lists.InPrompts {
			typed = append(typed, e)
		} else if !f.family(ctx, e, sel) {
			return
		}
	}
	f.last = true
	if len(f.late) > 0 {
		f.findParents(ctx, sel)
	}
	for len(f.late) > 0 {
		e := f.late[0]
		f.late = f.late[1:]
		if !f.family(ctx, e, sel) {
			return
		}
	}
	for _, e := range typed { // after all sessions that may contain their prompts
		if !f.family(ctx, e, sel) {
			return
		}
	}
}

func send(ctx context.Context, to chan piece, p piece) bool {
	select {
	case to <- p:
		return true
	case <-ctx.Done():
		return false
	}
}

// send hands on a step of a session; false if the consumer has stopped.
func (f *feed) send(ctx context.Context, c *Chat, next step) bool {
	p := piece{chat: c, losses: f.losses, step: next}
	f.losses = nil
	return send(ctx, f.read, p)
}

// note keeps a loss for the next piece.
func (f *feed) note(n loss.Loss) {
	if !f.mute {
		f.losses = append(f.losses, n)
	}
}

// assemble makes messages of the bubbles in a piece.
func (p *piece) assemble() {
	c := p.chat
	if _, ok := p.step.(begin); ok {
		c.assembler = &assembler{chat: c, past: c.past}
	}
	d := c.assembler
	if d == nil {
		return // it cannot be read, is deleted, or only its subagents are wanted
	}
	d.sink = func(n loss.Loss) { p.losses = append(p.losses, n) }
	d.give = func(m *session.Message) { p.messages = append(p.messages, m) }
	switch next := p.step.(type) {
	case *batch:
		d.batch(next)
	case end:
		d.flush()
		d.branch = ""
		if next.err == nil {
			next.err = d.err
		}
		if next.err == nil {
			next.err = d.leftovers()
		}
		p.step = next
	}
}

// batch makes messages of bubbles.
func (d *assembler) batch(b *batch) {
	if r := b.run; r.name != "" && r != d.run {
		d.flush()
		b.turn = d.enter(r, b.turn)
	}
	if b.turn != nil {
		d.flush() // it belongs to the turn before
		d.turn = b.turn
	}
	for _, bub := range b.bubbles {
		d.chat.count(bub.row)
		d.take(bub)
	}
	b.bubbles = nil
}

// family reads a session and those it started. Often only the record of a session
// names its parent or children, so the order is found on the way. It returns false if
// the consumer has stopped.
func (f *feed) family(ctx context.Context, e *lists.Entry, sel session.Selection) bool {
	for list := []*lists.Entry{e}; len(list) > 0; {
		e := list[len(list)-1]
		list = list[:len(list)-1]
		if f.begun[e] || !f.x.Maybe(e) {
			continue
		}
		if !sel.Includes(e.ID) {
			if f.x.seek && !f.searchChildren(ctx, e) || f.x.seen != nil && !f.scanOnly(ctx, e) {
				return false
			}
			continue
		}
		had := len(f.losses)
		c, err := f.x.Prepare(ctx, e, f.note)
		of := f.x.ByID[e.Parent.Session]
		if _, waited := f.begun[e]; err == nil && of != nil && of != e && e.Body != lists.Tombstone && !f.begun[of] && !waited && sel.Includes(of.ID) {
			f.begun[e] = false
			f.losses = f.losses[:had]
			list = append(list, e, of)
			continue
		}
		if err == nil && of == nil && !f.last && (e.BestOf || e.Subagent) && e.Body != lists.Tombstone {
			f.late = append(f.late, e)
			f.losses = f.losses[:had]
			continue
		}
		f.begun[e] = true
		if !f.session(ctx, e, c, err) {
			return false
		}
		if c == nil {
			continue
		}
		kids := f.childrenOf(e, c)
		slices.Reverse(kids)
		list = append(list, kids...)
	}
	return true
}

// childrenOf returns the sessions that one started, and makes them name it as their
// parent.
func (f *feed) childrenOf(e *lists.Entry, c *Chat) (out []*lists.Entry) {
	for _, link := range c.Out.Children {
		if kid := f.x.ByID[link.Session]; kid != nil && kid != e {
			if kid.Parent.Session == "" {
				kid.Parent.Session = e.ID
			}
			out = append(out, kid)
		}
	}
	return out
}

// findParents reads the heads of sessions that are not wanted, because one of them
// may be the parent of a session that does not name it.
func (f *feed) findParents(ctx context.Context, sel session.Selection) {
	for e := range f.x.Order() {
		if sel.Includes(e.ID) || e.Body == lists.InPrompts || !f.x.Maybe(e) {
			continue
		}
		if c, err := f.x.Prepare(ctx, e, func(loss.Loss) {}); err == nil && c != nil {
			f.childrenOf(e, c)
		}
	}
}

// session reads one session; false if the consumer has stopped.
func (f *feed) session(ctx context.Context, e *lists.Entry, c *Chat, err error) bool {
	switch {
	case err != nil && ctx.Err() != nil:
		return false
	case err != nil:
		c = &Chat{Entry: e, x: f.x}
		c.Out.ID, c.Out.Agent, c.Out.Title = e.ID, session.CursorIDE, e.Title
		return f.send(ctx, c, end{err})
	case !f.x.Wanted(e):
		return true // its record names another workspace
	case e.Body == lists.Tombstone:
		return f.send(ctx, c, end{})
	case !f.send(ctx, c, begin{}):
		return false
	}
	err = f.turns(ctx, c, &run{headers: c.headers})
	for i := 0; i < len(c.runs) && err == nil; i++ {
		err = f.turns(ctx, c, c.runs[i])
	}
	if c.agent != nil && !c.spine {
		c.agent.stop()
		c.agent.count(&c.filled)
	}
	if ctx.Err() != nil {
		return false
	}
	return f.send(ctx, c, end{err})
}

func (b *batch) add(bub *bubble) {
	b.bubbles = append(b.bubbles, bub)
	b.bytes += int64(len(bub.body)) + 2048
}

// close ends the work and waits for it.
func (f *feed) close() {
	f.stop()
	f.done.Wait()
}
